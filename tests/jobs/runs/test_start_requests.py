"""When a run is to start relative to its data: requests, copies, own machines and the preview."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.cache.models import CacheRecord, NodeAgent
from atom.clusters.models import StoreRoute
from atom.core import clock
from atom.datasets.models import Version
from atom.jobs import reconcile, states
from atom.jobs.models import DataGate, Run
from tests.factories.jobs import make_run
from tests.jobs.asking import create
from tests.jobs.runs.test_placement_preview import (  # noqa: F401
    GB,
    ask,
    by_name,
    hold,
    make_cluster,
    version,
)

pytestmark = pytest.mark.django_db

SHARE = {"when": "share", "percent": 80}


def report(node: Any) -> None:
    """Let a node have an agent that reports."""
    now = clock.now()
    NodeAgent.objects.create(
        node=node, address="http://10.0.0.1:7480", pod="a", pod_uid="a", token_hash=node.name,
        token_expires_at=now + timedelta(hours=1), joined_at=now, reported_at=now,
    )  # fmt: skip


def asked(api: APIClient, **body: Any) -> Any:
    return create(api, command=["true"], datasets={"train": "digits@v1"}, **body)


def without_environment(answer: Any) -> Run:
    """Return the run of an answer; it waits for no build."""
    run = Run.objects.get(pk=answer.json()["id"])
    run.runtime = None
    run.save()
    return run


@pytest.mark.parametrize(
    ("start", "field"),
    [
        ({"when": "later"}, "start.when"),
        ({"when": "share"}, "start.percent"),
        ({"when": "share", "percent": 0}, "start.percent"),
        ({"when": "share", "percent": 100}, "start.percent"),
        ({"when": "now", "percent": 80}, "start.percent"),
        ({"percent": 80}, "start.when"),
        ("now", "start"),
    ],
)
def test_a_start_that_does_not_exist_is_refused_by_field(
    api: APIClient, start: Any, field: str
) -> None:
    answer = create(api, command=["true"], start=start)
    assert answer.status_code == 400
    assert any(name.startswith(field) for name in answer.json()["errors"])


def test_the_database_holds_percentages_of_shares_alone(project: Project) -> None:
    for fields in ({"start_when": "share"}, {"start_when": "now", "start_percent": 5}):
        with pytest.raises(IntegrityError), transaction.atomic():
            make_run(project, **fields)


def test_a_copy_keeps_the_start_or_gets_another(
    api: APIClient,
    version: Version,  # noqa: F811
) -> None:
    run = asked(api, start=SHARE).json()
    assert run["start"] == SHARE
    assert run["data_gate"] is None
    (data,) = run["datasets"]
    assert data["delivery"] == "stream"
    clone = f"/api/v1/runs/{run['id']}/clone/"
    assert api.post(clone, {}).json()["start"] == SHARE
    first = api.post(clone, {"start": {"when": "data_there"}}).json()
    assert (first["start"]["when"], first["datasets"][0]["delivery"]) == ("data_there", "packs")
    assert api.post(clone, {"start": None}).json()["start"] is None


@pytest.mark.parametrize(
    ("start", "delivery", "code"),
    [
        ({"when": "now"}, "mount", "jobs.start_needs_stream"),
        (SHARE, "packs", "jobs.start_needs_stream"),
        ({"when": "data_there"}, "stream", "jobs.start_of_stream"),
    ],
)
def test_own_machines_refuse_a_start_that_contradicts_the_delivery(
    api: APIClient,
    version: Version,  # noqa: F811
    start: Any,
    delivery: str,
    code: str,
) -> None:
    answer = asked(api, start=start, deliveries={"train": delivery})
    assert answer.status_code == 400
    assert [one["code"] for one in answer.json()["error_codes"]["start"]] == [code]


def test_own_machines_start_at_the_share_and_stream_the_rest(
    api: APIClient,
    version: Version,  # noqa: F811
) -> None:
    run = without_environment(asked(api, start={"when": "share", "percent": 50}))
    assert reconcile.advance(run.pk) == states.WARMING
    record = CacheRecord.objects.get()
    CacheRecord.objects.update(state="warming", bytes_total=100, bytes_present=49)
    assert reconcile.advance(run.pk) == states.WARMING
    CacheRecord.objects.filter(pk=record.pk).update(bytes_present=50)
    assert reconcile.advance(run.pk) == states.SUBMITTED
    assert not DataGate.objects.exists()


def test_own_machines_start_at_once(api: APIClient, version: Version) -> None:  # noqa: F811
    run = without_environment(asked(api, start={"when": "now"}))
    assert reconcile.advance(run.pk) == states.SUBMITTED


def test_the_preview_tells_the_start_for_each_way(
    api: APIClient,
    version: Version,  # noqa: F811
) -> None:
    cluster = make_cluster("a", "2")
    hold(cluster, version, 0.5)
    report(cluster.nodes.get())
    row = by_name(ask(api, inputs={"d": "digits@v1"}, start_percent=75))["a"]
    ways = {way["when"]: way for way in row["ways"]}
    assert [way["start"]["p50_s"] for way in row["ways"]] == [460, 260, 60]
    assert [way["percent"] for way in row["ways"]] == [None, 75, None]
    assert ways["data_there"]["note"]["params"] == {"percent": 50}
    assert (ways["share"]["data_s"], ways["share"]["note"]["code"]) == (200, "jobs.way_data_first")
    assert ways["now"]["note"]["code"] == "jobs.way_streams"
    assert [way["when"] for way in row["ways"] if way["is_default"]] == ["now"]


def test_the_preview_says_where_nothing_waits_for_data(
    api: APIClient,
    version: Version,  # noqa: F811
) -> None:
    make_cluster("a", "2")
    row = by_name(ask(api, inputs={"d": "digits@v1"}))["a"]
    assert {way["start"]["p50_s"] for way in row["ways"]} == {60}
    assert row["ways"][0]["note"]["code"] == "jobs.start_no_agents"
    assert by_name(ask(api))["a"]["ways"] == []


def test_an_unknown_bandwidth_leaves_the_start_unknown(
    api: APIClient,
    version: Version,  # noqa: F811
) -> None:
    cluster = make_cluster("a", "2")
    StoreRoute.objects.all().delete()
    report(cluster.nodes.get())
    row = by_name(ask(api, inputs={"d": "digits@v1"}))["a"]
    assert [way["start"]["known"] for way in row["ways"]] == [False, False, True]
    assert row["ways"][0]["note"]["code"] == "jobs.estimate_no_bandwidth"
