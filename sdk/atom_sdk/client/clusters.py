"""Clusters from Python: what is registered, and the registration of more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from atom_sdk.client.transport.http import Http, download

Row = dict[str, Any]
# A method of `Clusters` is named `list`.
Rows = list[Row]


class Clusters:
    """`Client().clusters`; all but `list` and `get` is for administrators of the installation."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> list[Row]:
        """Return the clusters that the caller's projects may use, with their nodes."""
        return [*self._http.pages("clusters/")]

    def get(self, name: str) -> Row:
        """Return one cluster; findings, address and projects only for administrators."""
        found: Row = self._http.get(_path(name))
        return found

    def unknown_jobs(self, name: str) -> Rows:
        """Return Jobs that Atom made there and that belong to no run, with what deletes each."""
        return [*self._http.pages(f"{_path(name)}unknown-jobs/")]

    def dry_run(self, **credentials: Any) -> Row:
        """Check a cluster before it is registered; nothing is kept.

        Give `kubeconfig` (the text of the file) with its `context`, or in_cluster=True; also
        `namespace`. The answer has `passed`, `findings` and `facts`.
        """
        found: Row = self._http.post("clusters/check/", credentials)
        return found

    def register(self, name: str, **options: Any) -> Row:
        """Register a cluster that can be reached; its `state` says whether a check failed.

        Options: those of `dry_run`, and projects (slugs; without them all), prices, stores.
        """
        found: Row = self._http.post("clusters/", {"name": name, **options})
        return found

    def check(self, name: str) -> Row:
        """Ask a cluster again; one that does not answer becomes `unreachable`."""
        return self._act(name, "check")

    def try_pod(self, name: str) -> Row:
        """Have a pod tried there; its finding `pod_reaches_atom` says how it goes.

        Its evidence has `under_way` while the pod is there.
        """
        return self._act(name, "pod-check")

    def change(self, name: str, **options: Any) -> Row:
        """Change options of `register`; a new kubeconfig is checked first."""
        found: Row = self._http.request("PATCH", _path(name), json=options)
        return found

    def profile(self, name: str) -> Row:
        """Return how pods fit a cluster; its `rdma` says whether RDMA is on, and why."""
        found: Row = self._http.get(f"{_path(name)}profile/")
        return found

    def set_profile(self, name: str, **settings: Any) -> Row:
        """Replace a profile; settings that are left out are as in a cluster without one.

        Settings: priority_class, tolerations, rdma_resource, rdma_count, nccl (values by name),
        memlock_bytes (None: unlimited), image_repository, image_credentials (a Docker
        configuration; None: as before).
        """
        found: Row = self._http.request("PUT", f"{_path(name)}profile/", json=settings)
        return found

    def quotas(self, name: str) -> Row:
        """Return `every_project` (None: no limit), `projects` and `used`, as the caller sees."""
        found: Row = self._http.get(f"{_path(name)}quotas/")
        return found

    def set_quotas(
        self, name: str, *, every_project: Row | None = None, projects: Sequence[Row] = ()
    ) -> Row:
        """Replace all quotas: cpus, memory_bytes, pods, accelerators; a project's row names it."""
        body = {"every_project": every_project, "projects": [*projects]}
        found: Row = self._http.request("PUT", f"{_path(name)}quotas/", json=body)
        return found

    def queues(self, name: str) -> Row:
        """Return `every_project` (None: no queue), `projects` and the state of `kueue`."""
        found: Row = self._http.get(f"{_path(name)}queues/")
        return found

    def set_queues(
        self, name: str, *, every_project: Row | None = None, projects: Sequence[Row] = ()
    ) -> Row:
        """Replace all queues: cluster_queue, local_queue, uncounted; a project's row names it."""
        body = {"every_project": every_project, "projects": [*projects]}
        found: Row = self._http.request("PUT", f"{_path(name)}queues/", json=body)
        return found

    def agents(self, name: str) -> Rows:
        """Return the node agents of a cluster, as they last reported."""
        rows: Rows = self._http.get(f"{_path(name)}agents/")
        return rows

    def cache(self, name: str) -> Row:
        """Return how the caches of a cluster's nodes behave."""
        row: Row = self._http.get(f"{_path(name)}cache/")
        return row

    def set_cache(self, name: str, *, limit_bytes: int | None, replace_after_s: int) -> Row:
        """Set how large the cache of each node may grow (None: as its disk allows).

        After `replace_after_s` of silence another node takes a node's part in a plan.
        """
        body = {"limit_bytes": limit_bytes, "replace_after_s": replace_after_s}
        row: Row = self._http.request("PUT", f"{_path(name)}cache/", json=body)
        return row

    def coverage(self, name: str, project: str | None = None) -> Row:
        """Return how much of each version is on each node, of one project or of all visible."""
        params = {"project": project} if project else {}
        row: Row = self._http.request("GET", f"{_path(name)}coverage/", params=params)
        return row

    def agent_manifest(self, name: str, volumes: bool = False) -> str:
        """Return the YAML that installs the node agent in a cluster.

        `volumes`: with the driver that shows versions to pods; its containers are privileged.
        """
        query = {"volumes": "true"} if volumes else {}
        return b"".join(download(self._http, f"{_path(name)}agent-manifest/", query)).decode()

    def drain(self, name: str) -> Row:
        """Keep new runs off a cluster; runs that are there go on."""
        return self._act(name, "drain")

    def resume(self, name: str) -> Row:
        """Let a cluster take runs again, once a check passes."""
        return self._act(name, "resume")

    def remove(self, name: str) -> None:
        """Forget a cluster and its kubeconfig; refused while runs are there."""
        self._http.delete(_path(name))

    def _act(self, name: str, action: str) -> Row:
        found: Row = self._http.post(f"{_path(name)}{action}/")
        return found


def _path(name: str) -> str:
    return f"clusters/{quote(name, safe='')}/"
