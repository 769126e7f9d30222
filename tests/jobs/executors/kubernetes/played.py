"""A pod whose containers are processes of this machine, in folders in place of its volumes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from atom.jobs.executors.kubernetes.engines import names
from tests.jobs.executors.kubernetes.world import World

Json = dict[str, Any]


class PlayedPod:
    """Runs the containers of one pod as its kubelet would, and says so to the cluster."""

    def __init__(self, world: World, pod: Json, folder: Path) -> None:
        self.world, self.pod, self.folder = world, pod, folder
        for name in ("layer", "work", "token", "env", "tmp"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "token" / "token").write_text(world.token(pod))
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Run the init container to its end and start the main one."""
        world, metadata = self.world, self.pod["metadata"]
        world.stand_in.pods.bind(metadata["namespace"], metadata["name"], "n1")
        (init,) = self.pod["spec"]["initContainers"]
        subprocess.run(
            self._command(init), env=self._environment(init) | {"ATOM_BOOTSTRAP_S": "5"}, check=True
        )
        (main,) = self.pod["spec"]["containers"]
        self.process = subprocess.Popen(
            self._command(main), env=self._environment(main), cwd=self.folder / "work"
        )
        self._say("Running", {"running": {}})

    def wait(self) -> int:
        """Wait for the main container's end and say how it ended; return its exit code."""
        assert self.process is not None
        code = self.process.wait(30)
        phase = "Succeeded" if code == 0 else "Failed"
        reason = "Completed" if code == 0 else "Error"
        self._say(phase, {"terminated": {"exitCode": code, "reason": reason}})
        return code

    def _say(self, phase: str, state: Json) -> None:
        metadata = self.pod["metadata"]
        stored = self.world.stand_in.store.get("pods.", metadata["namespace"], metadata["name"])
        if stored is None:
            return
        status = {
            **stored["status"],
            "phase": phase,
            "containerStatuses": [{"name": names.MAIN, "state": state}],
        }
        machinery = self.world.stand_in.machinery
        place = (metadata["namespace"], metadata["name"])
        machinery.update_status(machinery.kind("pods."), *place, status)

    def _command(self, container: Json) -> list[str]:
        _, *arguments = container["command"]
        return [sys.executable, *(self._here(one) for one in arguments)]

    def _environment(self, container: Json) -> dict[str, str]:
        made = {"PATH": os.environ["PATH"]}
        for one in container["env"]:
            value = one.get("value")
            if value is None:
                value = self._field(one["valueFrom"]["fieldRef"]["fieldPath"])
            made[one["name"]] = self._here(value)
        return made

    def _field(self, path: str) -> str:
        metadata = self.pod["metadata"]
        if path.endswith("']"):
            group, _, key = path.removeprefix("metadata.").removesuffix("']").partition("['")
            return str(metadata[group][key])
        return str(metadata[path.removeprefix("metadata.")])

    def _here(self, text: str) -> str:
        """Return text with the paths of volumes replaced by those of this machine."""
        for path, name in (
            (names.LAYER_DIR, "layer"),
            (names.WORK_DIR, "work"),
            (names.ENVIRONMENT_DIR, "env"),
            (names.TOKEN_DIR, "token"),
        ):
            text = text.replace(path, str(self.folder / name))
        return text
