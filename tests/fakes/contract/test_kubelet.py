"""The recorded lives of pods under a real kubelet, against the stand-in's."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.fakes.kubelet.playground import Playground
from tests.fakes.kubelet.waiting import until, wait_for
from tests.fakes.kubernetes.cluster import ADMIN_TOKEN

from .not_compared import KUBELET
from .pod_stories import REGISTRY, Happening, PodStory, View, script
from .transcripts import FOLDER, load

Json = dict[str, Any]

pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="the transcripts stand outside of the repository"
)

_TIME = re.compile(r"^\d{4}-\d\d-\d\dT[\d:]+\.\d{9}Z", re.MULTILINE)

ENDS = "kubelet-success-and-failures"
WAITING = "kubelet-waiting"
LOGS = "kubelet-logs"
FROZEN = "kubelet-frozen-then-back"
SLOW = "kubelet-suspend-races-policy-slow-volume"
EVICTED = ("ev143", "ev0", "ev137")
JOB_OF_SLOW = "s143-0"
# How many statuses of pods and answers are compared.
ENDS_COMPARED, WAITING_COMPARED, LOGS_COMPARED = 67, 33, 10


@pytest.fixture(scope="module")
def place() -> Iterator[Playground]:
    with Playground() as place:
        place.cluster.nodes.add("localhost")
        yield place


def story_of(scenario: str) -> PodStory:
    return PodStory([line for line in load("kubelet") if line.scenario == scenario])


def make(place: Playground, story: PodStory, job: str, **changes: Any) -> None:
    """Make a recorded Job; its pauses are shorter today."""
    body = story.body(job)
    (container,) = body["spec"]["template"]["spec"]["containers"]
    text = changes.pop("text", container["command"][-1].replace("sleep 2", "sleep 0.2"))
    if container["command"][0] == "sh":
        body = script(body, text)
    for item in body["spec"]["template"]["spec"].get("initContainers") or ():
        item["command"] = [part.replace("sleep 2", "sleep 0.2") for part in item["command"]]
    place.cluster.create("jobs.batch", body, story.lines[0].scenario)


def pod_of(place: Playground, story: PodStory, job: str, word: str = "") -> Json:
    """Return the running pod of a Job once it has written a word."""
    pod = place.kubelet.wait_for("Running", f"{job}-", story.lines[0].scenario)
    wait_for(lambda: word in place.output(pod))
    return pod


def compare(story: PodStory, title: str) -> None:
    """Assert that a pod of today had the recorded statuses, in their order."""
    recorded = story.recorded[title]
    wait_for(lambda: len(story.today[title]) >= len(recorded), 15)
    for number, (was, now) in enumerate(zip(recorded, story.today[title], strict=False)):
        assert now == was, f"{title}: status {number}"


def compare_conditions(place: Playground, story: PodStory, job: str, recorded: list[View]) -> None:
    """Assert that a Job of today got the recorded conditions."""
    wait_for(lambda: len(story.conditions_of(place, job)) >= len(recorded), 15)
    assert story.conditions_of(place, job) == recorded


def compare_events(
    place: Playground, story: PodStory, title: str, recorded: list[Happening]
) -> None:
    """Assert that the Events about a pod of today have the recorded words."""
    wait_for(lambda: set(recorded) <= set(story.events_of(place, title)), 15)
    assert set(story.events_of(place, title)) == set(recorded)


def prepare(place: Playground, scenario: str) -> PodStory:
    place.cluster.create("namespaces.", {"metadata": {"name": scenario}})
    store = place.cluster.store
    until(
        store,
        lambda: store.get("serviceaccounts.", scenario, "default"),
        ("serviceaccounts.",),
    )
    return story_of(scenario)


def test_pods_end_as_under_a_real_kubelet(place: Playground) -> None:
    story = prepare(place, ENDS)
    jobs = ("ok", "bad", *EVICTED, "oom", "init", "initbad")
    with story.watch(place):
        for job in jobs:
            make(place, story, job, **({"text": "echo up; sleep 60"} if job == "oom" else {}))
        place.kubelet.oom(pod_of(place, story, "oom", "up"))
        for job in EVICTED:
            place.kubelet.evict(pod_of(place, story, job, "" if job == "ev137" else "up"))
        for job in jobs:
            compare(story, f"{job}/1")
    conditions, events = story.recorded_conditions(), story.recorded_events()
    for job in jobs:
        compare_conditions(place, story, job, conditions[job])
        compare_events(place, story, f"{job}/1", events[f"{job}/1"])
    assert sum(len(story.recorded[f"{job}/1"]) for job in jobs) == ENDS_COMPARED


def test_containers_wait_with_the_recorded_words(place: Playground) -> None:
    story = prepare(place, WAITING)
    for image in (f"{REGISTRY}/x:1", "nope:1"):
        place.kubelet.images.forbid(image)
    jobs = ("pull", "inv", "nev", "sec", "vol", "csi", "cmd", "root")
    with story.watch(place):
        for job in jobs:
            make(place, story, job)
        for job in jobs:
            compare(story, f"{job}/1")
    events = story.recorded_events()
    for job in jobs:
        title = f"{job}/1"
        compare_events(place, story, title, events[title])
    assert sum(len(story.recorded[f"{job}/1"]) for job in jobs) == WAITING_COMPARED
    for job in jobs:
        place.cluster.deletion.delete(
            place.cluster.machinery.kind("jobs.batch"), WAITING, job,
            {"propagationPolicy": "Background"},
        )  # fmt: skip


def test_logs_are_answered_as_recorded(place: Playground) -> None:
    story = prepare(place, LOGS)
    # The recorded script sleeps; today's waits for a signal, so that a read has its moment.
    text = (
        'trap "printf partial; exit 0" TERM; for i in 1 2 3 4 5; do echo line $i; done; '
        "echo err >&2; while :; do sleep 0.05; done"
    )
    make(place, story, "l", text=text)
    pod = pod_of(place, story, "l", "err")
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    compared = 0
    with httpx.Client(base_url=place.cluster.url, headers=headers, timeout=20) as client:
        for line in story.lines:
            if line.method != "GET" or line.note in KUBELET:
                continue
            if line.note.startswith("log: follow"):
                place.kubelet.worker_of(pod).processes["main"].signal(signal.SIGTERM)
            name = line.path.split("/")[6]
            path = line.path.replace(name, pod["metadata"]["name"]) if name != "none" else line.path
            answer = client.get(path, params=line.query)
            assert answer.status_code == line.status, line.note
            was = line.raw.get("response_text", "") or json.dumps(line.response)
            was = was if name == "none" else was.replace(name, "<pod>")
            assert _shape(answer, pod) == _TIME.sub("<time>", was), line.note
            compared += 1
    assert compared == LOGS_COMPARED


def _shape(answer: httpx.Response, pod: Json) -> str:
    name = pod["metadata"]["name"]
    if answer.headers["content-type"].startswith("application/json"):
        return json.dumps(answer.json(), sort_keys=True).replace(name, "<pod>")
    return _TIME.sub("<time>", answer.text).replace(name, "<pod>")


def test_a_frozen_kubelet_says_later_how_its_pods_ended(place: Playground) -> None:
    story = prepare(place, FROZEN)
    with story.watch(place):
        for job in ("two", "ours"):
            make(place, story, job)
        for job in ("two", "ours"):
            pod_of(place, story, job, "up")
        place.kubelet.lose_node("localhost")
        # The first pod of `two` is replaced while its node is gone.
        wait_for(lambda: "two/2" in story.pods, 15)
        place.kubelet.bring_back("localhost")
        for title in ("two/1", "ours/1"):
            compare(story, title)
    conditions = story.recorded_conditions()["ours"]
    compare_conditions(place, story, "ours", conditions)


def test_a_suspension_fails_a_job_whose_ended_pod_stays(place: Playground) -> None:
    story = prepare(place, SLOW)
    gate = place.kubelet.hold_removal()
    body = story.body_of_any()
    body["metadata"]["name"] = JOB_OF_SLOW
    text = 'trap "exit 143" TERM; echo up; while :; do sleep 0.05; done'
    with story.watch(place):
        place.cluster.create("jobs.batch", script(body, text), SLOW)
        pod_of(place, story, JOB_OF_SLOW, "up")
        place.cluster.nodes.suspend(SLOW, JOB_OF_SLOW)
        recorded = story.recorded_conditions()[JOB_OF_SLOW]
        wait_for(lambda: len(story.conditions_of(place, JOB_OF_SLOW)) == 2, 15)
        gate.set()
        place.until_gone(story.pods[f"{JOB_OF_SLOW}/1"])
        # It fails only once it is resumed, as recorded.
        assert story.conditions_of(place, JOB_OF_SLOW) == recorded[:2]
        place.cluster.nodes.suspend(SLOW, JOB_OF_SLOW, suspended=False)
        wait_for(lambda: len(story.conditions_of(place, JOB_OF_SLOW)) == len(recorded), 15)
    assert story.conditions_of(place, JOB_OF_SLOW) == recorded
    ends = [view for view in story.recorded[f"{JOB_OF_SLOW}/1"] if view[0] in ("Failed", "gone")]
    assert story.today[f"{JOB_OF_SLOW}/1"][-len(ends) :] == ends


def test_each_story_of_the_kubelet_is_compared_or_named() -> None:
    scenarios = {line.scenario for line in load("kubelet")}
    assert scenarios == {ENDS, WAITING, LOGS, FROZEN, SLOW} | (set(KUBELET) & scenarios)
