"""Operations on a dataset's page: running ones, and ends of the last days."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from rest_framework.test import APIClient

from atom.datasets.models import CommitRequest, Dataset, DismissedOperation
from tests.datasets.forks import carried_out, clash, pending_merge, push_forked
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, png
from tests.factories.accounts import make_member


def shown_operations(pusher: Pusher) -> list[dict[str, Any]]:
    return list(pusher.get("operations/")["results"])


def push_one_merge() -> Pusher:
    pusher = push_forked()
    pusher.push({"a.png": png(1)}, branch="fix")
    dataset = Dataset.objects.get()
    pending_merge(dataset, "fix", pusher.user, state="building", stage="reading")
    return pusher


@pytest.fixture
def merging(committing_db: None) -> Pusher:
    return made_once(push_one_merge)


def test_what_runs_is_told_to_everybody_until_it_was_cancelled(merging: Pusher) -> None:
    (running,) = shown_operations(merging)

    assert (running["kind"], running["source"], running["branch"]) == ("merge", "fix", "main")
    assert (running["state"], running["stage"], running["cancellable"]) == (
        "building",
        "reading",
        True,
    )
    assert running["created_by"]["username"] == merging.user.username
    merging.post(f"commits/{running['id']}/cancel/", None)
    assert shown_operations(merging) == []


def test_what_failed_says_why_and_what_next_for_a_week(forked: Pusher) -> None:
    clash(forked)
    carried_out(forked, "merges", source="fix", branch="main")

    (failed,) = shown_operations(forked)

    assert (failed["state"], failed["conflicts_total"]) == ("conflict", 2)
    assert failed["error"]["code"] == "merge_conflict"
    assert failed["error"]["action"]
    assert "conflicts" not in failed
    rows = CommitRequest.objects.filter(pk=failed["id"])
    rows.update(updated_at=Now() - timedelta(days=6))
    assert len(shown_operations(forked)) == 1
    rows.update(updated_at=Now() - timedelta(days=8))
    assert shown_operations(forked) == []


def test_what_made_a_version_leads_to_it_for_a_moment(forked: Pusher) -> None:
    carried_out(forked, "splits", test="2", seed=3, redraw=True)
    copy = {"op": "copy", "paths": ["0"], "to": "again/", "source": "v1"}
    carried_out(forked, "edits", edits=[copy])

    edited, split = shown_operations(forked)

    assert (edited["kind"], edited["source"], edited["version"]["ref"]) == ("edit", "v1", "v3")
    assert (split["kind"], split["source"], split["version"]["ref"]) == ("split", "", "v2")
    CommitRequest.objects.update(updated_at=Now() - timedelta(minutes=11))
    assert shown_operations(forked) == []


def other_member(pusher: Pusher, role: str) -> Pusher:
    return replace(pusher, user=make_member(pusher.project, role), client=APIClient())


def test_what_is_over_is_dismissed_for_one_person_in_every_browser(forked: Pusher) -> None:
    clash(forked)
    carried_out(forked, "merges", source="fix", branch="main")
    viewer = other_member(forked, "viewer")
    (failed,) = shown_operations(viewer)

    for _ in range(2):
        answer = viewer.client.post(f"{viewer.base}operations/{failed['id']}/dismiss/")
        assert answer.status_code == 204

    assert shown_operations(viewer) == []
    assert [row["id"] for row in shown_operations(forked)] == [failed["id"]]


def test_all_that_are_over_are_dismissed_at_once_and_what_runs_is_told(merging: Pusher) -> None:
    carried_out(merging, "splits", test="2", seed=3, redraw=True)
    carried_out(merging, "splits", test="2", seed=4, redraw=True)
    running = next(row["id"] for row in shown_operations(merging) if row["state"] == "building")
    assert len(shown_operations(merging)) == 3

    for _ in range(2):
        assert merging.client.post(f"{merging.base}operations/dismiss/").status_code == 204

    assert [row["id"] for row in shown_operations(merging)] == [running]
    CommitRequest.objects.filter(pk=running).update(state="failed", error_code="internal")
    assert [row["id"] for row in shown_operations(merging)] == [running]


def test_what_runs_may_be_dismissed_before_it_is_over(merging: Pusher) -> None:
    (running,) = shown_operations(merging)
    merging.client.post(f"{merging.base}operations/{running['id']}/dismiss/")
    assert len(shown_operations(merging)) == 1
    CommitRequest.objects.filter(pk=running["id"]).update(state="failed", error_code="internal")
    assert shown_operations(merging) == []


def test_only_operations_of_the_dataset_are_dismissed(forked: Pusher) -> None:
    pushed = CommitRequest.objects.filter(operation="push", changes_upload__isnull=False).first()
    assert pushed is not None
    answer = forked.client.post(f"{forked.base}operations/{pushed.pk}/dismiss/")
    assert answer.status_code == 404
    assert not DismissedOperation.objects.exists()


def test_the_list_costs_the_same_whatever_its_length(
    merging: Pusher, django_assert_num_queries: Any
) -> None:
    def cost() -> int:
        with django_assert_num_queries(999, exact=False) as queries:
            shown_operations(merging)
        return len(queries)

    shown_operations(merging)
    of_one = cost()
    for _ in range(4):
        pending_merge(Dataset.objects.get(), "fix", merging.user)
    assert len(shown_operations(merging)) == 5
    assert cost() == of_one
