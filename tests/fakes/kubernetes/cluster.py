"""The stand-in as a whole: a cluster with its server, users, faults and controllers."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

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

    def _add_controllers(self) -> None:
        """Add the controllers that every cluster has."""
        parts = self.machinery, self.deletion
        self.jobs = Jobs(*parts)
        self.controllers += [Namespaces(*parts), Collector(*parts), self.jobs, Budgets(*parts)]

    def start(self) -> Cluster:
        """Serve."""
        for controller in self.controllers:
            controller.start()
        self.server.start()
        return self

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

    def create(self, key: str, body: Json, namespace: str = "") -> Json:
        """Store an object, such as `create("nodes.", {...})`, and return it."""
        return self.machinery.create(self.machinery.kind(key), namespace, body)


def _base64(file: str) -> str:
    return base64.b64encode(Path(file).read_bytes()).decode()
