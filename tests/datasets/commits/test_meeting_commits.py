"""Merges, reverts, edits and pushes that meet at a branch: all come in, or one says why not.

Both have built their version on the same head when they come to the branch's lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection, connections

from atom.datasets.commit_runner import run_commit
from atom.datasets.commits.actions.branches import head_commit
from atom.datasets.integrity.actions.rebuild import compare_catalogue
from atom.datasets.models import Branch, CommitRequest, Dataset
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, new_pusher, png, prepared_commit

KEPT, TAKEN_BACK, THEIRS = "kept.png", "taken-back.png", "theirs.png"
Ask = Callable[[Pusher], CommitRequest]


@pytest.fixture
def forked(transactional_db: None) -> Pusher:
    """On main a version that can be taken back; on `fix` a file that main does not have."""
    return made_once(push_forked)


def push_forked() -> Pusher:
    pusher = new_pusher()
    pusher.push({KEPT: png(1)})
    pusher.post("branches/", {"name": "fix", "at": "main"})
    pusher.push({TAKEN_BACK: png(2)})
    pusher.push({THEIRS: png(3)}, branch="fix")
    return pusher


def operation(name: str, arguments: dict[str, Any], source: str = "", branch: str = "main") -> Ask:
    """Return what asks for an operation that no worker has touched."""

    def ask(pusher: Pusher) -> CommitRequest:
        dataset = Dataset.objects.get()
        said = dict(arguments)
        if source:
            commit = pusher.get(f"versions/{source}/")["commit"]
            said["source"] = {"ref": source, "commit": commit, "dataset": ""}
        return CommitRequest.objects.create(
            dataset=dataset, branch=branch, operation=name, arguments=said, created_by=pusher.user
        )

    return ask


def pinned(ask: Ask) -> Ask:
    """Return what asks the same for the head that it sees, and no other."""

    def ask_pinned(pusher: Pusher) -> CommitRequest:
        request = ask(pusher)
        request.expected_head = pusher.head() or ""
        request.save()
        return request

    return ask_pinned


MERGE = operation("merge", {"on_conflict": "fail"}, "fix")
MERGE_BACK = operation("merge", {"on_conflict": "fail"}, "main", branch="fix")
REVERT = operation("revert", {"on_conflict": "fail"}, "v2")
EDIT = operation(
    "edit",
    {
        "edits": [
            {
                "op": "move", "paths": [KEPT], "where": "", "to": "moved.png",
                "attributes": {}, "source": None,
            }
        ]
    },
)  # fmt: skip


def push(pusher: Pusher) -> CommitRequest:
    """Return a push that no worker has touched."""
    return prepared_commit(pusher, {"pushed.png": png(4)})


def carried_out_together(requests: list[CommitRequest]) -> None:
    """Have each carried out by a worker of its own; all wait for each other at the branch."""
    barrier = threading.Barrier(len(requests))

    def work(request: CommitRequest) -> None:
        has_met = False

        def meet(execute: Any, sql: str, *rest: Any) -> Any:
            nonlocal has_met
            if not has_met and "datasets_branch" in sql and "FOR UPDATE" in sql:
                has_met = True
                # A worker that never comes to the branch must not be waited for.
                with suppress(threading.BrokenBarrierError):
                    barrier.wait(timeout=5)
            return execute(sql, *rest)

        try:
            with connection.execute_wrapper(meet):
                run_commit(request.pk)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=[request]) for request in requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not barrier.broken, "they did not meet"


def paths(pusher: Pusher, ref: str = "main") -> set[str]:
    """Return the paths of a version."""
    return {row["path"] for row in pusher.get(f"versions/{ref}/entries/")["results"]}


def history_is_whole(branch: str = "main") -> None:
    """Check that every version but the first was built on the one before it."""
    found = Branch.objects.select_related("head", "dataset__project").get(name=branch)
    versions = {version.commit: version for version in found.dataset.versions.all()}
    line, at = [], versions.get(head_commit(found))
    while at is not None:
        line.append(at)
        at = versions.get(at.parents[0]) if at.parents else None
    if branch == "main":
        numbered = [version.number for version in line]
        assert numbered == list(range(len(line), 0, -1))
        assert found.dataset.versions.exclude(number=None).count() == len(line)


@pytest.mark.parametrize(
    ("asked", "states", "left", "versions"),
    [
        # One merges, the other finds everything there.
        ([MERGE, MERGE], ["published", "published"], {KEPT, TAKEN_BACK, THEIRS}, 3),
        ([MERGE, REVERT], ["published", "published"], {KEPT, THEIRS}, 4),
        ([REVERT, REVERT], ["published", "published"], {KEPT}, 3),
        ([MERGE, REVERT, EDIT], ["published"] * 3, {"moved.png", THEIRS}, 5),
        # Two heads cannot both be the one that was named.
        ([pinned(MERGE), pinned(MERGE)], ["conflict", "published"],
         {KEPT, TAKEN_BACK, THEIRS}, 3),
    ],
    ids=["merge-merge", "merge-revert", "revert-revert", "three", "pinned"],
)  # fmt: skip
def test_what_meets_at_a_branch_comes_in_or_says_why_not(
    forked: Pusher, asked: list[Ask], states: list[str], left: set[str], versions: int
) -> None:
    requests = [ask(forked) for ask in asked]

    carried_out_together(requests)

    ends = [forked.get(f"commits/{request.pk}/") for request in requests]
    assert sorted(end["state"] for end in ends) == states
    assert paths(forked) == left
    assert Dataset.objects.get().versions.exclude(number=None).count() == versions
    for end in ends:
        if end["state"] == "conflict":
            error = end["error"]
            assert (error["code"], error["head"]) == ("head_moved", forked.head())
            assert error["action"]
    history_is_whole()


def test_of_a_push_and_a_merge_that_meet_the_push_may_have_to_be_made_again(
    forked: Pusher,
) -> None:
    pushing, merging = push(forked), MERGE(forked)

    carried_out_together([pushing, merging])

    pushed, merged = (forked.get(f"commits/{request.pk}/") for request in (pushing, merging))
    assert merged["state"] == "published"
    assert THEIRS in paths(forked)
    if pushed["state"] == "conflict":
        # Only who pushes knows whether the files still fit: nothing is lost, they push again.
        assert (pushed["error"]["code"], pushed["error"]["head"]) == ("head_moved", forked.head())
        forked.push({"pushed.png": png(4)})
    assert paths(forked) == {KEPT, TAKEN_BACK, THEIRS, "pushed.png"}
    history_is_whole()
    assert compare_catalogue(forked.project).is_equal


def test_branches_that_are_merged_into_each_other_do_not_wait_for_ever(forked: Pusher) -> None:
    there, back = MERGE(forked), MERGE_BACK(forked)

    carried_out_together([there, back])

    assert {forked.get(f"commits/{each.pk}/")["state"] for each in (there, back)} == {"published"}
    assert paths(forked) == paths(forked, "fix") == {KEPT, TAKEN_BACK, THEIRS}
    history_is_whole()
    history_is_whole("fix")


def test_what_a_merge_conflicts_with_meanwhile_is_named(forked: Pusher) -> None:
    forked.push({KEPT: png(9)}, branch="fix")
    merge, edit = MERGE(forked), EDIT(forked)

    carried_out_together([merge, edit])

    ends = [forked.get(f"commits/{request.pk}/") for request in (merge, edit)]
    if ends[0]["state"] == "conflict":
        assert ends[0]["error"]["code"] == "merge_conflict"
        assert ends[0]["error"]["head"] == forked.head()
        assert [clash["path"] for clash in ends[0]["conflicts"]] == [KEPT]
    assert ends[1]["state"] == "published"
    history_is_whole()
