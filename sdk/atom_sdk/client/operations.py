"""The operations of git on versions, done on the server: no byte is downloaded.

References are written `digits@fix`; an operation changes a branch (`main` unless it says
otherwise) and returns the finished request: its `version`, and whether it was `unchanged`. Where
both sides changed, `on_conflict` (fail, ours, theirs) says whose side counts, and `resolutions`, a
list of {path, layer, field, take}, says so for single conflicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from atom_sdk.client.commits import cancel_commit, follow_operation
from atom_sdk.client.datasets import Datasets
from atom_sdk.client.progress import Progress
from atom_sdk.client.refs import parse_ref
from atom_sdk.client.transport.http import Http

Row = dict[str, Any]


class Operations:
    """Branches, tags, merges, reverts, picks and edits of one project's datasets.

    An operation that is awaited is cancelled by Ctrl-C (KeyboardInterrupt), which raises
    CommitCancelledError, unless its version is there already.
    """

    def __init__(self, http: Http, datasets: Datasets, progress: Progress | None = None) -> None:
        self._http = http
        self._datasets = datasets
        self._progress = progress

    def watched(self, progress: Progress) -> Operations:
        """Return the same, telling `progress` how far an operation is."""
        return Operations(self._http, self._datasets, progress)

    def cancel(self, dataset: str, request_id: str) -> Row:
        """Stop an operation before its branch moves; the branch is as it was.

        Raises ApiError (commit_over) when it is too late.
        """
        return cancel_commit(self._http, self._datasets.base(dataset), request_id)

    def branches(self, dataset: str) -> list[Row]:
        """Return the branches with their heads."""
        return list(self._http.pages(f"{self._datasets.base(dataset)}branches/"))

    def tags(self, dataset: str) -> list[Row]:
        """Return the tags with their versions."""
        return list(self._http.pages(f"{self._datasets.base(dataset)}tags/"))

    def create_branch(self, dataset: str, name: str, at: str = "main") -> Row:
        """Add a branch that begins at a version."""
        return self._post(dataset, "branches/", {"name": name, "at": at})

    def delete_branch(self, dataset: str, name: str, expected_head: str | None = None) -> Row:
        """Remove a branch; its versions stay. Returns what it was, to make it again.

        Raises ApiError (branch_moved) when it is not at `expected_head`, by default where it is
        now.
        """
        address = f"{self._datasets.base(dataset)}branches/{quote(name, safe='')}/"
        branch: Row = self._http.get(address)
        head = expected_head or branch["head"]["commit"]
        self._http.delete(f"{address}?expected_head={quote(head)}")
        return branch

    def create_tag(self, reference: str, name: str) -> Row:
        """Give a version a name that never moves."""
        return self._post(reference, "tags/", {"name": name, "at": parse_ref(reference).ref})

    def delete_tag(self, dataset: str, name: str) -> None:
        """Take a tag away; for administrators."""
        self._http.delete(f"{self._datasets.base(dataset)}tags/{quote(name, safe='')}/")

    def merge(self, source: str, into: str = "main", **options: Any) -> Row:
        """Merge a version into a branch. Raises MergeConflictError, CommitFailedError."""
        return self._run(source, "merges/", self._merge(source, into, options))

    def preview_merge(self, source: str, into: str = "main", **options: Any) -> Row:
        """Return what a merge would do: counts and conflicts."""
        return self._post(source, "merges/preview/", self._merge(source, into, options))

    def revert(self, reference: str, onto: str = "main", **options: Any) -> Row:
        """Undo what a version did. Raises MergeConflictError, CommitFailedError."""
        body = {"version": parse_ref(reference).ref, "branch": onto, **options}
        return self._run(reference, "reverts/", body)

    def pick(
        self, reference: str, paths: Sequence[str] = (), onto: str = "main", **options: Any
    ) -> Row:
        """Make paths what they are in a version; with `changes_only`, repeat what it changed.

        Raises MergeConflictError, CommitFailedError.
        """
        body = {"source": parse_ref(reference).ref, "paths": list(paths), "branch": onto}
        return self._run(reference, "picks/", {**body, **options})

    def edit(self, reference: str, edits: Sequence[Mapping[str, Any]], **options: Any) -> Row:
        """Remove, move, copy files on a branch (`digits@main`), or set what is known of them.

        Each edit is {op, paths, where, view, to, attributes, source, value}; all are one version.
        Raises CommitFailedError.
        """
        body = {"branch": parse_ref(reference).ref, "edits": [dict(edit) for edit in edits]}
        return self._run(reference, "edits/", {**body, **options})

    def _merge(self, source: str, into: str, options: Mapping[str, Any]) -> Row:
        return {"source": parse_ref(source).ref, "branch": into, **options}

    def _post(self, reference: str, address: str, body: Row) -> Row:
        answer: Row = self._http.post(f"{self._datasets.base(reference)}{address}", body)
        return answer

    def _run(self, reference: str, address: str, body: Row) -> Row:
        return self.follow(reference, self._post(reference, address, body))

    def follow(self, reference: str, request: Row) -> Row:
        """Return a request that was asked for at its end.

        Raises MergeConflictError, CommitFailedError.
        """
        base = self._datasets.base(reference)
        return follow_operation(self._http, base, request, self._progress)
