"""LabelX from Python: the same calls that the portal makes."""

from __future__ import annotations

import builtins
import uuid
from collections.abc import Iterator
from typing import Any

from atom_sdk.client.transport.http import Http


class LabelX:
    """Label tasks of one project."""

    def __init__(self, http: Http, project: str) -> None:
        self._http = http
        self._project = project

    def list(self) -> Iterator[dict[str, Any]]:
        """Yield the label tasks."""
        return self._http.pages(f"projects/{self._project}/labelx/tasks/")

    def create(self, **body: Any) -> dict[str, Any]:
        """Create a task: name, dataset, labels, filter, batch_size, audit_percent, guideline."""
        task: dict[str, Any] = self._http.post(f"projects/{self._project}/labelx/tasks/", body)
        return task

    def get(self, task: str) -> dict[str, Any]:
        """Return one task with its progress."""
        found: dict[str, Any] = self._http.get(f"labelx/tasks/{task}/")
        return found

    def act(self, task: str, action: str, **body: Any) -> Any:
        """Call `start`, `pause` or `publish`."""
        return self._http.post(f"labelx/tasks/{task}/{action}/", body)

    def stats(self, task: str) -> builtins.list[dict[str, Any]]:
        """Return what each person did: submitted, returned, accepted and stale items."""
        rows: builtins.list[dict[str, Any]] = self._http.get(f"labelx/tasks/{task}/stats/")[
            "results"
        ]
        return rows

    def items(
        self, task: str, *, state: str = "", skipped: bool = False, held: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Yield the items of a task in its order, or those of one state.

        `skipped` keeps those that somebody skipped, `held` those that somebody has now. Each item
        has `holders`: `slot`, `role`, `state`, `name`, `username`, `until` and `seen_at`. `until`
        is None for work that waits for its correction.
        """
        flags = {name: "true" for name, on in (("skipped", skipped), ("held", held)) if on}
        chosen = {"state": state} if state else {}
        return self._http.pages(f"labelx/tasks/{task}/items/", **chosen, **flags)

    def free(self, slot: str) -> None:
        """Take an item from its holder and open it to everybody; `slot` stands in `holders`.

        The holder's draft stays with them. Raises ApiError of the code `nothing_held`.
        """
        self._http.post(f"labelx/slots/{slot}/free/")

    def lease(self, task: str, n: int) -> builtins.list[dict[str, Any]]:
        """Lease up to `n` items; an empty answer means that nothing is open for you."""
        answer = self._http.request("POST", f"labelx/tasks/{task}/lease/", params={"n": n}, json={})
        slots: builtins.list[dict[str, Any]] = answer["lease"]
        return slots

    def my_work(self, task: str) -> builtins.list[dict[str, Any]]:
        """Return what you hold: leased items and returned ones with the auditor's comment."""
        answer = self._http.get(f"labelx/tasks/{task}/my-work/")
        slots: builtins.list[dict[str, Any]] = answer["results"]
        return slots

    def submit(self, task: str, submissions: builtins.list[dict[str, Any]]) -> Any:
        """Submit several slots; the answer says for each whether it was taken."""
        body = {"submissions": submissions}
        return self._http.post(f"labelx/tasks/{task}/submit-batch/", body)["results"]

    def audit_lease(self, task: str, n: int) -> builtins.list[dict[str, Any]]:
        """Lease up to `n` submitted items of other people for audit."""
        answer = self._http.request(
            "POST", f"labelx/tasks/{task}/audit-lease/", params={"n": n}, json={}
        )
        slots: builtins.list[dict[str, Any]] = answer["lease"]
        return slots

    def audit(self, decisions: builtins.list[dict[str, Any]]) -> Any:
        """Accept or return audited items."""
        return self._http.post("labelx/audits/", {"decisions": decisions})["results"]

    def templates(self) -> builtins.list[dict[str, Any]]:
        """Return the ontologies to start with: `create(template=key, …)` takes one."""
        rows: builtins.list[dict[str, Any]] = self._http.get("labelx/templates/")["results"]
        return rows

    def version_classes(self, reference: str) -> dict[str, Any]:
        """Return the classes of the objects of `dataset@version`, to start a task with.

        `labels` and `schema` are as `create` takes them. `counts` names each class with its
        `objects`; `pictures` were read; `complete` is False where the version has more.
        """
        path = f"projects/{self._project}/labelx/version-classes/"
        classes: dict[str, Any] = self._http.get(path, dataset=reference)
        return classes

    def draft(self, slot: dict[str, Any], seq: int, document: dict[str, Any]) -> dict[str, Any]:
        """Keep unsent work on a leased slot; an older `seq` than the kept one changes nothing."""
        body = {"seq": seq, "document": document}
        kept: dict[str, Any] = self._http.put(f"labelx/slots/{slot['id']}/draft/", body)
        return kept

    def submit_document(
        self, slot: dict[str, Any], document: dict[str, Any], *, key: str = "", active_ms: int = 0
    ) -> dict[str, Any]:
        """Submit a document for a leased slot; returns the stored revision.

        Sending it again with the same key answers the same. A document with mistakes raises
        ApiError of the code `invalid_annotation`; its `errors` name each by its pointer.
        """
        body = {
            "lease_no": slot["lease_no"],
            "idempotency_key": key or str(uuid.uuid4()),
            "document": document,
            "digest": slot["digest"],
            "active_ms": active_ms,
        }
        revision: dict[str, Any] = self._http.post(f"labelx/slots/{slot['id']}/submit/", body)
        return revision

    def revisions(self, item: str) -> builtins.list[dict[str, Any]]:
        """Return every answer for an item, the newest first, with verdicts and corrections."""
        rows: builtins.list[dict[str, Any]] = self._http.get(f"labelx/items/{item}/revisions/")[
            "results"
        ]
        return rows

    def issues(self, item: str) -> builtins.list[dict[str, Any]]:
        """Return the issues of an item with their comments, the oldest first."""
        rows: builtins.list[dict[str, Any]] = self._http.get(f"labelx/items/{item}/issues/")[
            "results"
        ]
        return rows

    def move_ontology(self, task: str, ontology_version: str) -> dict[str, Any]:
        """Have a task go on with a newer version of its ontology."""
        body = {"ontology_version": ontology_version}
        moved: dict[str, Any] = self._http.post(f"labelx/tasks/{task}/ontology/", body)
        return moved

    def add_guideline_picture(self, data: bytes) -> dict[str, Any]:
        """Send a PNG, JPEG, WebP or GIF of at most 10 MB; show it by `![text](picture:ID)`.

        The same bytes are one picture, however often they are sent. Raises ApiError.
        """
        picture: dict[str, Any] = self._http.request(
            "POST",
            f"projects/{self._project}/labelx/guideline-pictures/",
            content=data,
            headers={"Content-Type": "application/octet-stream"},
        )
        return picture

    def guideline_pictures(self) -> Iterator[dict[str, Any]]:
        """Yield the project's guideline pictures with their uses, newest first."""
        return self._http.pages(f"projects/{self._project}/labelx/guideline-pictures/")
