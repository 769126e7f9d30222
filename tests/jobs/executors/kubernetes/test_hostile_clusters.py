"""Clusters that break, lie or are another one: runs there stay as they are, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from atom.accounts.models import Project
from atom.clusters.errors import ClusterInUse
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterIsAnother
from atom.clusters.models import Cluster
from atom.clusters.registration.actions import registering
from atom.clusters.registration.actions.registering import ClusterOptions, Credentials
from atom.core import clock, crypto
from atom.jobs import reconcile, states
from atom.jobs.executors.kubernetes.engines import never_starts
from atom.jobs.executors.kubernetes.engines.manifests import namespace_objects
from atom.jobs.executors.kubernetes.orders import installation
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.executors.kubernetes.watching import JOBS, PODS
from atom.jobs.models import Attempt, Placement, Run
from atom_sdk.sentences import Sentence
from tests.clusters.api_server import Authority
from tests.factories.accounts import make_project, make_user
from tests.factories.jobs import make_run
from tests.fakes.kubernetes.answers import Answer, json_answer
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
OUT_OF_DATE = {
    "clusters.certificate_expired": (timedelta(days=-3), timedelta(days=-2)),
    "clusters.certificate_not_yet_valid": (timedelta(days=2), timedelta(days=3)),
}


@pytest.fixture
def run(project: Project, world: World) -> Run:
    return make_run(project, cluster=world.cluster, state=states.QUEUED, command=["true"])


@pytest.fixture
def placement(run: Run, world: World) -> Placement:
    return world.submit(run)


@pytest.fixture
def other(db: None, world: World) -> Iterator[World]:
    """Another registered cluster."""
    with StandIn(tls=True) as stand_in:
        stand_in.nodes.add("n1")
        yield World(stand_in, "west")


def checked(world: World) -> Cluster:
    """Return the cluster after a check."""
    world.cluster.refresh_from_db()
    return registering.check_now(world.cluster)


def assert_stands(run: Run, placement: Placement, world: World) -> None:
    """Check that nothing is concluded about a run from what its cluster answers."""
    rows = Placement.objects.filter(pk=placement.pk).values("observed", "ended_at", "removed_at")
    before = rows.get()
    with pytest.raises(registering._PROBLEMS):
        world.sync()
    assert reconcile.advance(run.pk) == states.SUBMITTED
    assert rows.get() == before
    assert run.attempts.count() == 1


# --- certificates ---


@pytest.mark.parametrize("code", OUT_OF_DATE)
def test_a_certificate_that_goes_out_of_date_fails_no_run_and_is_named_with_its_date(
    run: Run, placement: Placement, world: World, code: str
) -> None:
    world.stand_in.renew_certificate(*OUT_OF_DATE[code])
    cluster = checked(world)
    day = (clock.now() + timedelta(days=-2 if "expired" in code else 2)).date()
    assert cluster.state == "unreachable"
    assert isinstance(cluster.problem_detail, Sentence)
    assert cluster.problem_detail.code == code
    assert day.isoformat() in str(cluster.problem_detail)
    assert_stands(run, placement, world)
    assert world.join(placement, world.pod(placement)).json()["answer"] == "again"
    world.stand_in.renew_certificate(timedelta(days=-1), timedelta(days=1))
    assert checked(world).state == "ready"
    world.sync()
    assert world.join(placement, world.pod(placement)).json()["answer"] == "start"


def test_a_client_certificate_that_runs_out_fails_no_run(
    run: Run, placement: Placement, world: World
) -> None:
    pair = Authority().pair(after=timedelta(days=-2), before=timedelta(days=3))
    access = replace(
        registering._access_of(world.cluster),
        token="",
        certificate_pem=pair.certificate,
        key_pem=pair.key,
    )
    right = world.cluster.encrypted_kubeconfig
    Cluster.objects.update(encrypted_kubeconfig=crypto.encrypt(access.as_text()))
    cluster = checked(world)
    assert (cluster.state, cluster.problem_code) == ("unreachable", "cluster_refuses_credentials")
    assert (clock.now() - timedelta(days=2)).date().isoformat() in str(cluster.problem_detail)
    assert_stands(run, placement, world)
    Cluster.objects.update(encrypted_kubeconfig=right)
    assert checked(world).state == "ready"


# --- pods that claim to be others ---


def test_a_pod_of_another_cluster_is_refused(
    placement: Placement, project: Project, world: World, other: World
) -> None:
    there = other.submit(make_run(project, cluster=other.cluster, state=states.QUEUED))
    own, strange = world.pod(placement), other.pod(there)
    # Its own placement with the token of another cluster, and the other way round.
    assert world.join(placement, own, token=other.token(strange)).status_code == 401
    assert world.join(there, own, token=world.token(own)).status_code == 401
    assert world.join(there, strange, token=world.token(own)).status_code == 401
    assert world.join(placement, own).json()["answer"] == "start"


def test_a_pod_of_another_project_is_refused(placement: Placement, world: World) -> None:
    run = make_run(make_project("audio"), cluster=world.cluster, state=states.QUEUED)
    there = world.submit(run)
    pod = world.pod(there)
    assert world.join(placement, pod).status_code == 401
    same_names = {key: world.pod(placement)["metadata"][key] for key in ("name", "uid")}
    claim = {"pod": same_names["name"], "pod_uid": same_names["uid"], "token": world.token(pod)}
    assert world.join(placement, pod, **claim).status_code == 401


def test_a_pod_whose_attempt_is_over_does_not_become_the_next(
    run: Run, placement: Placement, world: World
) -> None:
    pod = world.pod(placement)
    assert world.join(placement, pod).json()["answer"] == "start"
    Placement.objects.filter(pk=placement.pk).update(ended_at=clock.now())
    Attempt.objects.filter(run=run).update(state=states.FAILED, finished_at=clock.now())
    Run.objects.filter(pk=run.pk).update(state=states.QUEUED)
    world.submit(run)
    assert world.join(placement, pod).json()["answer"] == "stop"


@pytest.mark.parametrize(
    "claim",
    [
        {"pod": "a" * (1 << 20)},
        {"pod": "a\0b"},
        {"pod_uid": "a" * (1 << 20)},
        {"rank": 1 << 70},
        {"rank": -1},
        {"token": "t" * 10_000},
    ],
)
def test_claims_of_another_form_are_refused_before_the_cluster_is_asked(
    placement: Placement, world: World, claim: Json
) -> None:
    world.stand_in.faults.refuse(100, code=500)
    assert world.join(placement, world.pod(placement), **claim).status_code in {400, 401}


# --- answers of another form ---

HTML = Answer(200, b"<!DOCTYPE html><html>Sign in</html>", "text/html")
NAME = {"kind": "Namespace", "metadata": None}
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


# --- webhooks ---

DENIED = 'admission webhook "policy.example.com" denied the request: no images of strangers'
FAILED = 'Internal error occurred: failed calling webhook "policy.example.com": timed out'


@pytest.mark.parametrize("code", [400, 403])
def test_a_webhook_that_refuses_ends_the_run_with_its_words(
    run: Run, world: World, code: int
) -> None:
    Run.objects.filter(pk=run.pk).update(max_retries=0)
    world.stand_in.faults.refuse(code=code, method="POST", path="/jobs$", message=DENIED)
    reconcile.advance(run.pk)
    attempt = run.attempts.get()
    world.submit_again(attempt)
    assert reconcile.advance(run.pk) == states.FAILED
    attempt.refresh_from_db()
    assert "no images of strangers" in str(attempt.failure_reason)


def test_a_webhook_that_fails_is_the_clusters_own_trouble(run: Run, world: World) -> None:
    world.stand_in.faults.refuse(2, code=500, method="POST", path="/jobs$", message=FAILED)
    for _ in range(2):
        placement = world.submit(run)
        assert (placement.job_uid, run.attempts.get().state) == ("", states.SUBMITTED)
    assert world.submit(run).job_uid
    assert run.attempts.count() == 1


# --- names that are taken ---


def test_a_job_of_our_name_that_is_not_ours_stays_where_it_is(run: Run, world: World) -> None:
    Run.objects.filter(pk=run.pk).update(max_retries=0)
    reconcile.advance(run.pk)
    attempt = run.attempts.get()
    placement = run.placements.get()
    world.stand_in.create("namespaces.", namespace_of(placement))
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}}
    body = {"metadata": {"name": placement.job_name}, "spec": spec}
    world.stand_in.create("jobs.batch", body, placement.namespace)
    world.submit_again(attempt)
    assert reconcile.advance(run.pk) == states.FAILED
    attempt.refresh_from_db()
    assert "is not Atom's" in str(attempt.failure_reason)
    Placement.objects.filter(pk=placement.pk).update(ended_at=clock.now())
    assert remove_ended() == 1
    assert world.stand_in.store.get("jobs.batch", placement.namespace, placement.job_name)


CONTAINER = {"name": "main", "image": "busybox"}


def namespace_of(placement: Placement) -> Json:
    """Return the namespace of the placement's project, as Atom makes it."""
    (space, *_) = namespace_objects(placement.namespace, placement.run.project.slug, installation())
    return dict(space)


def test_a_namespace_of_the_name_that_is_not_ours_is_left_alone(run: Run, world: World) -> None:
    Run.objects.filter(pk=run.pk).update(max_retries=0)
    reconcile.advance(run.pk)
    attempt = run.attempts.get()
    place = run.placements.get().namespace
    world.stand_in.create("namespaces.", {"metadata": {"name": place}})
    world.submit_again(attempt)
    assert reconcile.advance(run.pk) == states.FAILED
    attempt.refresh_from_db()
    assert "not this project's" in str(attempt.failure_reason)
    assert not world.stand_in.store.objects("networkpolicies.networking.k8s.io", place)


# --- images ---


def test_an_image_that_nobody_can_pull_ends_the_run_after_its_time(
    run: Run, placement: Placement, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    Run.objects.filter(pk=run.pk).update(max_retries=0)
    metadata = world.pod(placement)["metadata"]
    said = 'Back-off pulling image "registry.example/none:1": not found'
    waiting = {"reason": "ImagePullBackOff", "message": said}
    machinery = world.stand_in.machinery
    stored = world.stand_in.store.get("pods.", metadata["namespace"], metadata["name"])
    assert stored is not None
    since = clock.now() - timedelta(minutes=5)
    status = {
        **stored["status"],
        "startTime": since.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "initContainerStatuses": [{"name": "runner", "state": {"waiting": waiting}}],
    }
    place = (metadata["namespace"], metadata["name"])
    machinery.update_status(machinery.kind("pods."), *place, status)
    world.sync()
    assert reconcile.advance(run.pk) == states.SUBMITTED
    monkeypatch.setattr(never_starts, "IMAGE_PULL_AFTER", timedelta(minutes=4))
    assert reconcile.advance(run.pk) == states.FAILED
    assert run.attempts.get().failure_class == "IMAGE_PULL"
    assert world.join(placement, stored).json()["answer"] == "stop"
    assert remove_ended() == 1


# --- another cluster ---


def test_a_cluster_that_takes_the_place_of_another_says_nothing_about_its_runs(
    run: Run, placement: Placement, world: World
) -> None:
    world.sync()
    pod = world.pod(placement)
    world.stand_in.swap()
    cluster = checked(world)
    assert (cluster.state, cluster.problem_code) == ("unreachable", "cluster_is_another")
    assert_stands(run, placement, world)
    assert world.join(placement, pod).json()["answer"] == "again"
    Placement.objects.filter(pk=placement.pk).update(ended_at=clock.now())
    assert remove_ended() == 0
    with pytest.raises(ClusterInUse):
        registering.remove(cluster, make_user("boss", is_superuser=True))


def test_a_swap_while_the_list_is_read_concludes_nothing(
    run: Run, placement: Placement, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.sync()
    world.stand_in.swap()
    # A connection from before the swap is not asked again which cluster it leads to.
    seen: list[str] = []

    def once(known: str, now: str) -> None:
        seen.append(now)
        if len(seen) > 1 and known != now:
            raise ClusterIsAnother

    monkeypatch.setattr(registering, "check_identity", once)
    assert_stands(run, placement, world)
    assert len(seen) == 2


def test_the_rebuilt_cluster_is_taken_once_no_run_is_open(
    run: Run, placement: Placement, world: World
) -> None:
    world.stand_in.swap()
    actor = make_user("boss", is_superuser=True)
    credentials = Credentials(kubeconfig=world.stand_in.kubeconfig())
    with pytest.raises(ClusterIsAnother):
        registering.change(world.cluster, credentials, ClusterOptions(), actor)
    Placement.objects.filter(pk=placement.pk).update(ended_at=clock.now())
    cluster = registering.change(world.cluster, credentials, ClusterOptions(), actor)
    assert cluster.state == "ready"
    assert checked(world).problem_code == ""
    placement.refresh_from_db()
    assert placement.removed_at is not None


@pytest.mark.parametrize(
    "answer",
    [json_answer(200, NAME), json_answer(200, {"metadata": {"uid": ["a"]}}), HTML],
)
def test_a_cluster_of_an_unreadable_identity_concludes_nothing(
    run: Run, placement: Placement, world: World, answer: Answer
) -> None:
    world.stand_in.faults.replace(answer, 100, path="/namespaces/kube-system$")
    assert checked(world).state == "unreachable"
    with pytest.raises(ClusterAnswerWrong):
        registering.open_cluster(world.cluster)
    assert_stands(run, placement, world)


def test_a_cluster_that_hides_its_identity_from_then_on_concludes_nothing(
    run: Run, placement: Placement, world: World
) -> None:
    forbidden = {"code": 403, "message": "namespaces is forbidden"}
    world.stand_in.faults.refuse(100, path="/namespaces/kube-system$", **forbidden)  # type: ignore[arg-type]
    assert checked(world).problem_code == "cluster_is_another"
    assert_stands(run, placement, world)
