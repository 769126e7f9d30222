"""Clusters that break, refuse or are another one: runs there stay as they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from atom.clusters.errors import ClusterInUse
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterIsAnother
from atom.clusters.kubernetes.pod_identity import installation
from atom.clusters.models import Cluster
from atom.clusters.registration.actions import registering
from atom.clusters.registration.actions.registering import ClusterOptions, Credentials
from atom.core import clock, crypto
from atom.jobs import reconcile, states
from atom.jobs.executors.kubernetes.engines import never_starts
from atom.jobs.executors.kubernetes.engines.manifests import namespace_objects
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.models import Placement, Run
from atom_sdk.sentences import Sentence
from tests.clusters.api_server import Authority
from tests.factories.accounts import make_user
from tests.fakes.kubernetes.answers import Answer, json_answer
from tests.jobs.executors.kubernetes.hostile import HTML, assert_stands, checked
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
OUT_OF_DATE = {
    "clusters.certificate_expired": (timedelta(days=-3), timedelta(days=-2)),
    "clusters.certificate_not_yet_valid": (timedelta(days=2), timedelta(days=3)),
}


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


# --- webhooks ---

DENIED = 'admission webhook "policy.example.com" denied the request: no images of strangers'
FAILED = 'Internal error occurred: failed calling webhook "policy.example.com": timed out'


@pytest.mark.parametrize("code", [400, 403])
def test_a_webhook_that_refuses_ends_the_run_with_its_words(
    run: Run, world: World, code: int
) -> None:
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
    [
        json_answer(200, {"kind": "Namespace", "metadata": None}),
        json_answer(200, {"metadata": {"uid": ["a"]}}),
        HTML,
    ],
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
