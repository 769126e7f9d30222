"""The stand-in as a whole: a cluster with its server, users, faults and controllers."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from .access import ADMIN, Access
from .certificates import write_certificate
from .controllers.budgets import Budgets
from .controllers.collector import Collector
from .controllers.jobs import Jobs
from .controllers.namespaces import Namespaces
from .faults import Faults
from .handlers import Handlers
from .logs import Logs
from .machinery import Machinery
from .nodes import Nodes
from .server import Application, Server
from .store import Store

Json = dict[str, Any]

ADMIN_TOKEN = "token-of-admin"
DEFINITIONS = Path(__file__).parents[3].parent / "shared" / "crds"


class Cluster:
    """One cluster; use it as a context manager or call `start` and `stop`."""

    def __init__(
        self,
        *,
        clock: Callable[[], datetime] | None = None,
        tls: bool = False,
        controllers: bool = True,
        definitions: bool = False,
        kubelet: bool = False,
        port: int = 0,
    ) -> None:
        self.store = Store(clock)
        self.machinery = Machinery(self.store)
        self.faults = Faults()
        self.access = Access(self.store)
        self.access.add_token(ADMIN_TOKEN, ADMIN)
        self.logs = Logs(self.store.clock)
        self.handlers = Handlers(self.machinery, self.access, self.logs)
        self.deletion, self.pods = self.handlers.deletion, self.handlers.pods
        self.nodes = Nodes(self.machinery, self.deletion)
        self.application = Application(self.handlers, self.faults)
        self._folder = tempfile.TemporaryDirectory() if tls else None
        self._certificate = write_certificate(Path(self._folder.name)) if self._folder else None
        self.server = Server(self.application, certificate=self._certificate, port=port)
        self.url = self.server.url
        self.controllers: list[Any] = []
        if definitions:
            self.machinery.load_definitions(DEFINITIONS)
        for name in ("default", "kube-system"):
            body = {"metadata": {"name": name}}
            self.machinery.create(self.machinery.kind("namespaces."), "", body)
        if controllers:
            self._add_controllers()
        if kubelet:
            self._add_kubelet()

    def _add_controllers(self) -> None:
        """Add the controllers that every cluster has."""
        parts = self.machinery, self.deletion
        self.jobs = Jobs(*parts)
        self.namespaces = Namespaces(*parts)
        self.controllers += [self.namespaces, Collector(*parts), self.jobs, Budgets(*parts)]

    def _add_kubelet(self) -> None:
        """Add a scheduler and the kubelets of all nodes."""
        # The kubelet is built on the cluster, so only a cluster that has one imports it.
        from tests.fakes.kubelet.kubelet import add_kubelet

        self.kubelet = add_kubelet(self)

    def start(self) -> Cluster:
        """Serve."""
        for controller in self.controllers:
            controller.start()
        self.server.start()
        return self

    def start_by_hand(self) -> Cluster:
        """Let `step` do what the controllers do; nothing is served, and no thread begins."""
        for controller in self.controllers:
            controller.uses_store_clock = True
            controller.listen()
        return self

    def step(self) -> int:
        """Let the controllers do all that is due by the clock; return how many objects they saw."""
        count = 0
        while worked := sum(controller.step() for controller in self.controllers):
            count += worked
        return count

    def stop(self) -> None:
        """Stop serving and all controllers."""
        self.faults.end_watches()
        self.server.stop()
        for controller in reversed(self.controllers):
            controller.stop()
        if self._folder:
            self._folder.cleanup()

    def __enter__(self) -> Cluster:
        return self.start()

    def __exit__(
        self,
        type_: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    # --- for clients ---

    def kubeconfig(self, token: str = ADMIN_TOKEN) -> str:
        """Return a kubeconfig for a token, as YAML."""
        cluster: Json = {"server": self.url}
        if self._certificate:
            cluster["certificate-authority-data"] = _base64(self._certificate[0])
        return yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "stand-in", "cluster": cluster}],
                "users": [{"name": "user", "user": {"token": token}}],
                "contexts": [
                    {"name": "stand-in", "context": {"cluster": "stand-in", "user": "user"}}
                ],
                "current-context": "stand-in",
            }
        )

    def renew_certificate(self, since: timedelta, until: timedelta) -> None:
        """Show clients another certificate of the same authority, with dates from now."""
        assert self._folder is not None
        assert self._certificate is not None
        key = load_pem_private_key(Path(self._certificate[1]).read_bytes(), None)
        assert isinstance(key, EllipticCurvePrivateKey)
        folder = Path(self._folder.name)
        made = write_certificate(folder, since=since, until=until, authority=key, stem="renewed")
        self.server.reload_certificate(made)

    def swap(self) -> None:
        """Become another cluster at the same address, with the same users and none of the runs."""
        for kind in ("jobs.batch", "pods.", "services.", "leases.coordination.k8s.io"):
            for body in self.store.objects(kind):
                metadata = body["metadata"]
                self.store.remove(kind, (metadata["namespace"], metadata["name"]))
        self.store.remove("namespaces.", ("", "kube-system"))
        self.create("namespaces.", {"metadata": {"name": "kube-system"}})

    def create(self, key: str, body: Json, namespace: str = "") -> Json:
        """Store an object, such as `create("nodes.", {...})`, and return it."""
        return self.machinery.create(self.machinery.kind(key), namespace, body)


def _base64(file: str) -> str:
    return base64.b64encode(Path(file).read_bytes()).decode()
