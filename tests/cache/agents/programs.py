"""Agents as processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from tests.cache.agents.world import AgentWorld, Json


class Program:
    """`atom-agent run` of a node, in one pod.

    A kubelet of the stand-in gives the pod an address: such a pod is made before and named here.
    """

    def __init__(
        self,
        world: AgentWorld,
        node: str,
        folder: Path,
        origin: str,
        pod: Json | None = None,
        **settings: str,
    ) -> None:
        pod = pod or world.pod(node)
        folder.mkdir()
        (folder / "token").write_text(world.token(pod))
        address = pod["status"]["podIP"]
        with socket.create_server((address, 0)) as listener:
            port = listener.getsockname()[1]
        self.node, self.cache = node, folder / "cache"
        self._env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(sys.path),
            "ATOM_API_URL": origin,
            "ATOM_AGENT_CLUSTER": str(world.cluster.pk),
            "ATOM_AGENT_NODE": node,
            "ATOM_AGENT_POD": pod["metadata"]["name"],
            "ATOM_AGENT_POD_UID": pod["metadata"]["uid"],
            "ATOM_AGENT_POD_IP": address,
            "ATOM_AGENT_PORT": str(port),
            "ATOM_AGENT_TOKEN_FILE": str(folder / "token"),
            "ATOM_AGENT_CACHE": str(self.cache),
            **settings,
        }
        self.start()

    def start(self) -> None:
        """Begin, again after a kill."""
        command = [sys.executable, "-m", "atom_agent.main", "run"]
        self.process = subprocess.Popen(command, env=self._env)

    def kill(self) -> None:
        """End it at once, as a node without power does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def packs(self) -> set[str]:
        """Return the digests of the packs that are whole on the disk."""
        return {path.stem for path in self.cache.glob("*/packs/*.tar")}
