"""The activity of a dataset: one list of versions and events, for everybody who may read it."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts import audit
from atom.accounts.models import AuditEvent
from atom.datasets.models import Dataset
from atom.datasets.retention.actions.retention import set_retention
from atom.datasets.retention.engines.retention import Policy
from tests.datasets.forks import push_forked
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_member, make_user


@pytest.fixture
def busy(committing_db: None) -> Pusher:
    """A dataset with a branch, a tag, a view, another split and a policy."""
    pusher = made_once(push_forked)
    pusher.post("tags/", {"name": "first", "at": "v1"})
    pusher.post("views/", {"name": "ones", "where": "label = '1'", "prefix": "", "splits": []})
    edit = {"op": "remove", "paths": ["0/000.png"]}
    pusher.post("edits/", {"branch": "main", "edits": [edit], "message": "One less"})
    dataset = Dataset.objects.get(name=pusher.name)
    set_retention(dataset, Policy("last", 5), pusher.user)
    return pusher


def verbs(pusher: Pusher, **params: Any) -> list[str]:
    return [line["verb"] for line in pusher.get("activity/", **params)["results"]]


EVERYTHING = [
    "dataset.retention_changed",
    "version.edit",
    "view.created",
    "tag.created",
    "branch.created",
    "version.push",
    "dataset.created",
]


def test_what_happened_is_told_newest_first_page_by_page(busy: Pusher) -> None:
    assert verbs(busy) == EVERYTHING

    found, page = [], busy.get("activity/", limit=2)
    while True:
        found += [line["verb"] for line in page["results"]]
        if page["next"] is None:
            break
        page = busy.get("activity/", limit=2, cursor=page["next"])
    assert found == EVERYTHING


def test_kinds_and_persons_are_chosen(busy: Pusher) -> None:
    assert verbs(busy, kind="versions,views") == ["version.edit", "view.created", "version.push"]
    assert verbs(busy, actor="nobody") == []
    assert verbs(busy, actor=busy.user.username, kind="keeping") == ["dataset.retention_changed"]
    made = busy.get("activity/", kind="versions")["results"][0]
    assert (made["version"]["ref"], made["version"]["message"]) == ("v2", "One less")
    wrong: tuple[dict[str, str], ...] = (
        {"kind": "gossip"}, {"cursor": "x"}, {"cursor": "WyJhIiwgImIiXQ"}, {"since": "1"},
    )  # fmt: skip
    for params in wrong:
        assert busy.client.get(f"{busy.base}activity/", params).status_code == 400


def test_readers_see_names_and_no_more_and_strangers_nothing(busy: Pusher) -> None:
    dataset = Dataset.objects.get(name=busy.name)
    data = {"name": "x", "token": "not for them"}
    audit.record(busy.user, "view.changed", dataset, dataset.project, dataset, **data)
    other = Dataset.objects.create(project=dataset.project, name="other")
    audit.record(busy.user, "view.changed", other, dataset.project, other, name="y")

    reader, stranger = make_member(busy.project), make_user()
    busy.client.force_authenticate(reader)
    line = busy.get("activity/", kind="views")["results"][0]
    assert line["data"] == {"name": "x"}
    busy.client.force_authenticate(stranger)
    assert busy.client.get(f"{busy.base}activity/").status_code == 404


def test_a_whole_export_is_told_once_an_hour(busy: Pusher) -> None:
    for _ in range(2):
        busy.get("archive/")
    assert verbs(busy, kind="moving") == ["dataset.exported"]
    assert AuditEvent.objects.filter(verb="dataset.exported").count() == 1


def test_a_page_costs_the_same_however_long_the_list_is(
    busy: Pusher, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        busy.get("activity/", limit=1)
    with django_assert_max_num_queries(12):
        busy.get("activity/")
