"""Namespaces: what each new one holds, and how one that is deleted is emptied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..machinery import Options
from ..store import Event
from .base import Controller, Key

Json = dict[str, Any]

_DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)


class Namespaces(Controller):
    """Fills and empties namespaces."""

    name = "namespace-controller"
    patience_seconds = 5.0
    authority = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"

    def subscriptions(self) -> list[tuple[str, Callable[[Event], None]]]:
        """Listen to namespaces, and to pods that keep one from ending."""
        return [("namespaces.", self._namespace), ("pods.", self._pod)]

    def listen(self) -> None:
        """Fill the namespaces that exist."""
        super().listen()
        for namespace in self.store.objects("namespaces."):
            self.sync((namespace["metadata"]["name"],))

    def _namespace(self, event: Event) -> None:
        # A real one waits as well: until all API servers have seen the deletion.
        is_deleted = event.after is not None and event.after.obj["metadata"].get(
            "deletionTimestamp"
        )
        self.enqueue(event.place[1], after=self.patience_seconds if is_deleted else 0)

    def _pod(self, event: Event) -> None:
        if event.type == "DELETED":
            self.enqueue(event.place[0])

    def sync(self, key: Key) -> None:
        """Fill a new namespace, empty one that is deleted."""
        name = key[0]
        namespace = self.store.get("namespaces.", "", name)
        if namespace is None:
            return
        if namespace["metadata"].get("deletionTimestamp"):
            self._empty(namespace)
            return
        if self.store.get("serviceaccounts.", name, "default") is None:
            body: Json = {"metadata": {"name": "default"}}
            self.machinery.create(self.machinery.kind("serviceaccounts."), name, body)
        if self.store.get("configmaps.", name, "kube-root-ca.crt") is None:
            annotations = {"kubernetes.io/description": _DESCRIPTION}
            body = {
                "metadata": {"name": "kube-root-ca.crt", "annotations": annotations},
                "data": {"ca.crt": self.authority},
            }
            options = Options(manager="kube-controller-manager")
            self.machinery.create(self.machinery.kind("configmaps."), name, body, options)

    def _empty(self, namespace: Json) -> None:
        name, left = namespace["metadata"]["name"], False
        for kind in self.store.kinds():
            resource = self.machinery.kind(kind)
            if not resource.namespaced:
                continue
            body = {"propagationPolicy": "Background"}
            self.deletion.delete_collection(resource, name, None, body)
            left = left or bool(self.store.entries(kind, name))
        if left:
            self.enqueue(name, after=0.2)
            return

        def finalize(old: Json) -> Json:
            # An empty list: one that is left out gets its default again.
            return old | {"spec": old["spec"] | {"finalizers": []}}

        self.machinery.replace(self.machinery.kind("namespaces."), ("", name), finalize)
