"""What a dataset's page tells of operations: those that run, and how they ended lately."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from atom.datasets.models import CommitRequest, Dataset
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, png
from tests.datasets.test_operations import (
    carried_out,
    clash,
    forked,
    pending_merge,
    push_forked,
)

__all__ = ["forked"]


def told(pusher: Pusher) -> list[dict[str, Any]]:
    return list(pusher.get("operations/")["results"])


def push_one_merge() -> Pusher:
    pusher = push_forked()
    pusher.push({"a.png": png(1)}, branch="fix")
    dataset = Dataset.objects.get()
    pending_merge(dataset, "fix", pusher.user, state="building", stage="reading")
    return pusher


@pytest.fixture
def merging(transactional_db: None) -> Pusher:
    return made_once(push_one_merge)


def test_what_runs_is_told_to_everybody_until_it_was_cancelled(merging: Pusher) -> None:
    (running,) = told(merging)

    assert (running["kind"], running["source"], running["branch"]) == ("merge", "fix", "main")
    assert (running["state"], running["stage"], running["cancellable"]) == (
        "building",
        "reading",
        True,
    )
    assert running["created_by"]["username"] == merging.user.username
    merging.post(f"commits/{running['id']}/cancel/", None)
    assert told(merging) == []


def test_what_failed_says_why_and_what_next_for_a_week(forked: Pusher) -> None:
    clash(forked)
    carried_out(forked, "merges", source="fix", branch="main")

    (failed,) = told(forked)

    assert (failed["state"], failed["conflicts_total"]) == ("conflict", 2)
    assert failed["error"]["code"] == "merge_conflict"
    assert failed["error"]["action"]
    assert "conflicts" not in failed
    rows = CommitRequest.objects.filter(pk=failed["id"])
    rows.update(updated_at=Now() - timedelta(days=6))
    assert len(told(forked)) == 1
    rows.update(updated_at=Now() - timedelta(days=8))
    assert told(forked) == []


def test_what_made_a_version_leads_to_it_for_a_moment(forked: Pusher) -> None:
    carried_out(forked, "splits", test="2", seed=3, redraw=True)
    copy = {"op": "copy", "paths": ["0"], "to": "again/", "source": "v1"}
    carried_out(forked, "edits", edits=[copy])

    edited, split = told(forked)

    assert (edited["kind"], edited["source"], edited["version"]["ref"]) == ("edit", "v1", "v3")
    assert (split["kind"], split["source"], split["version"]["ref"]) == ("split", "", "v2")
    CommitRequest.objects.update(updated_at=Now() - timedelta(minutes=11))
    assert told(forked) == []


def test_the_list_costs_the_same_whatever_its_length(
    merging: Pusher, django_assert_num_queries: Any
) -> None:
    def cost() -> int:
        with django_assert_num_queries(999, exact=False) as queries:
            told(merging)
        return len(queries)

    told(merging)
    of_one = cost()
    for _ in range(4):
        pending_merge(Dataset.objects.get(), "fix", merging.user)
    assert len(told(merging)) == 5
    assert cost() == of_one
