"""A dataset with a branch, and operations on it over the API."""

from __future__ import annotations

from typing import Any

from atom.accounts.models import User
from atom.datasets.models import CommitRequest, Dataset
from tests.datasets.pushing import Pusher, class_files, delete_row, new_pusher, png

FILES = class_files()


def push_forked() -> Pusher:
    pusher = new_pusher()
    split = {"test": 3, "seed": 7}
    pusher.push(FILES, labels_from="folder", split=split, provenance={"labels_from": "folder"})
    pusher.post("branches/", {"name": "fix", "at": "main"})
    return pusher


def carried_out(pusher: Pusher, address: str, **body: Any) -> dict[str, Any]:
    """Ask for an operation; returns the request at its end."""
    return pusher.get(f"commits/{pusher.post(f'{address}/', body)['id']}/")


def published(pusher: Pusher, address: str, **body: Any) -> dict[str, Any]:
    """Ask for an operation that must succeed; returns its version."""
    request = carried_out(pusher, address, **body)
    assert request["state"] == "published", request["error"]
    return dict(request["version"])


def paths_of(pusher: Pusher, ref: str = "main") -> set[str]:
    """Return the paths of a version."""
    return {row["path"] for row in pusher.get(f"versions/{ref}/entries/", limit=200)["results"]}


def entry(pusher: Pusher, path: str, ref: str = "main") -> dict[str, Any]:
    """Return one entry of a version."""
    return pusher.get(f"versions/{ref}/entries/at/", path=path)


def clash(pusher: Pusher) -> None:
    """Change one file on both branches, and remove on one what the other changed."""
    pusher.push({"0/000.png": png(50), "0/001.png": png(51)})
    pusher.push({"0/000.png": png(60)}, branch="fix")
    pusher.commit([delete_row("0/001.png")], branch="fix")


def pending_merge(dataset: Dataset, source: str, user: User, **options: str) -> CommitRequest:
    """Return a request for a merge into main that no worker has touched."""
    branch = dataset.branches.select_related("head").get(name=source)
    assert branch.head is not None
    arguments = {"source": {"ref": source, "commit": branch.head.commit, "dataset": ""}}
    return CommitRequest.objects.create(
        dataset=dataset, branch="main", operation="merge", created_by=user,
        arguments={**arguments, "on_conflict": "fail"}, **options,
    )  # fmt: skip
