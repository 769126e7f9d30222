"""Answers of a form that no cluster gives: they say nothing about runs, and start no pod."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from atom.clusters.registration.actions import registering
from atom.jobs import reconcile, states
from atom.jobs.executors.kubernetes.watching import JOBS, PODS
from atom.jobs.models import Placement, Run
from tests.fakes.kubernetes.answers import Answer, json_answer
from tests.jobs.executors.kubernetes.hostile import HTML, assert_stands
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
WRONG: dict[str, Callable[[Json], Answer]] = {
    "html": lambda _: HTML,
    "html of a proxy": lambda _: Answer(502, b"<html>Bad gateway</html>", "text/html"),
    "login": lambda _: Answer(302, b"", "text/html", {"location": "https://sso.example/"}),
    "cut": lambda body: Answer(200, json.dumps(body).encode()[:-20]),
    "a list": lambda body: json_answer(200, [body]),
    "no items": lambda body: json_answer(200, {**body, "items": "none"}),
    "items of texts": lambda body: json_answer(200, {**body, "items": ["a"]}),
    "no metadata": lambda body: json_answer(200, {**body, "metadata": None}),
    "a version that is a number": lambda body: json_answer(
        200, {**body, "metadata": {"resourceVersion": 7}}
    ),
    "an object without metadata": lambda body: json_answer(200, changed(body, metadata=None)),
    "metadata that is a list": lambda body: json_answer(200, changed(body, metadata=[])),
    "labels that are a list": lambda body: json_answer(200, with_metadata(body, labels=["a"])),
    "a uid that is a number": lambda body: json_answer(200, with_metadata(body, uid=7)),
    "a name of 1 MB": lambda body: json_answer(200, with_metadata(body, name="a" * (1 << 20))),
    "a status that is a list": lambda body: json_answer(200, changed(body, status=[])),
    "a status that is a text": lambda body: json_answer(200, changed(body, status="Running")),
    "conditions that are texts": lambda body: json_answer(
        200, changed(body, status={"conditions": ["Failed"]})
    ),
    "conditions that are a map": lambda body: json_answer(
        200, changed(body, status={"conditions": {"type": "Failed"}})
    ),
}


def changed(body: Json, **parts: Any) -> Json:
    """Return a list whose objects have other parts."""
    return {**body, "items": [{**item, **parts} for item in body["items"]]}


def with_metadata(body: Json, **fields: Any) -> Json:
    """Return a list whose objects have other metadata."""
    items = [{**item, "metadata": {**item["metadata"], **fields}} for item in body["items"]]
    return {**body, "items": items}


@pytest.mark.parametrize("kind", WRONG)
def test_lists_of_another_form_say_nothing_about_runs(
    run: Run, placement: Placement, world: World, kind: str
) -> None:
    world.pod(placement)
    with registering.open_cluster(world.cluster) as api:
        right = {path: api.get(path, {"limit": 250}).body for path in (JOBS, PODS)}
    world.sync()
    for path in (JOBS, PODS):
        world.stand_in.faults.replace(WRONG[kind](right[path]), path=f"^{path}$")
        assert_stands(run, placement, world)
        world.stand_in.faults.stop()
    world.sync()


def test_texts_and_numbers_that_no_database_holds_are_cut(
    run: Run, placement: Placement, world: World
) -> None:
    pod = world.pod(placement)
    with registering.open_cluster(world.cluster) as api:
        pods = api.get(PODS, {"limit": 250}).body
    status = {
        "phase": "Pending",
        "message": "<script>\0\ud800" + "m" * (1 << 20),
        "conditions": [{"type": "Ready", "status": "\0", "observedGeneration": 10**400}] * 500,
        "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": 7}}}],
    }
    raw = json.dumps(changed(pods, status=status)).replace('"reason": 7', '"reason": NaN')
    world.stand_in.faults.replace(Answer(200, raw.encode()), path=f"^{PODS}$")
    world.sync()
    (seen,) = Placement.objects.get(pk=placement.pk).observed["pods"]
    assert seen["metadata"]["uid"] == pod["metadata"]["uid"]
    assert len(seen["status"]["message"]) < 5000
    assert "\0" not in str(seen)
    assert reconcile.advance(run.pk) == states.SUBMITTED


REVIEWS = "tokenreviews$"


@pytest.mark.parametrize(
    "answer",
    [
        HTML,
        Answer(201, b"{"),
        json_answer(201, []),
        json_answer(201, {"status": []}),
        json_answer(201, {"status": {"authenticated": "true", "user": "root"}}),
        json_answer(201, {"status": {"authenticated": True, "audiences": {"a": 1}, "user": []}}),
    ],
)
def test_a_review_of_another_form_lets_nobody_start(
    placement: Placement, world: World, answer: Answer
) -> None:
    pod = world.pod(placement)
    world.stand_in.faults.replace(answer, path=REVIEWS)
    refused = world.join(placement, pod)
    assert refused.status_code == 401 or refused.json()["answer"] == "again"
    assert world.join(placement, pod).json()["answer"] == "start"


@pytest.mark.parametrize(
    "pod",
    [
        {"metadata": None},
        {"metadata": {"uid": "UID", "ownerReferences": "all", "annotations": []}},
        {"metadata": {"uid": "UID", "ownerReferences": [{"controller": True, "uid": None}]}},
    ],
)
def test_a_pod_of_another_form_does_not_start(
    placement: Placement, world: World, pod: Json
) -> None:
    real = world.pod(placement)
    text = json.dumps(pod).replace("UID", real["metadata"]["uid"]).encode()
    world.stand_in.faults.replace(Answer(200, text), method="GET", path="/pods/")
    assert world.join(placement, real).status_code == 401


def test_a_pod_on_a_node_of_no_valid_name_starts_without_a_node(
    placement: Placement, world: World
) -> None:
    real = world.pod(placement)
    spec = {**real["spec"], "nodeName": "<script>\0" + "n" * (1 << 20)}
    world.stand_in.faults.replace(
        json_answer(200, {**real, "spec": spec}), method="GET", path="/pods/"
    )
    assert world.join(placement, real).json()["answer"] == "start"
    assert placement.attempts.get().node is None


@pytest.mark.parametrize("uid", [None, 7, "u" * (1 << 20)])
def test_a_job_without_a_proper_uid_is_asked_for_again(run: Run, world: World, uid: Any) -> None:
    body = {"kind": "Job", "metadata": {"name": "a", "uid": uid}}
    world.stand_in.faults.replace(json_answer(201, body), method="POST", path="/jobs$")
    placement = world.submit(run)
    assert (placement.job_uid, run.attempts.get().state) == ("", states.SUBMITTED)
    assert world.submit(run).job_uid
