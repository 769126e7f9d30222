"""Operations tell how far they are, and can be cancelled until their branch moves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_django.live_server_helper import LiveServer

from atom.accounts.actions import create_token
from atom.accounts.models import AuditEvent
from atom.datasets.commit_runner import run_commit
from atom.datasets.commits.actions import commit_progress
from atom.datasets.commits.actions.commit_progress import (
    CommitWatch,
    begin_move,
    cancel_commit,
    give_up_move,
)
from atom.datasets.commits.engines.progress_tracker import ProgressTracker
from atom.datasets.errors import CommitCancelled, CommitOver
from atom.datasets.models import Branch, CommitRequest, Dataset, Version, Writer
from atom.datasets.operations.actions.operations import carry_out
from atom.datasets.operations.engines.operation_stages import stages_of
from atom.datasets.operations.engines.operations import EditArguments, EditStepArguments
from atom_sdk.cli.context import EXIT_INTERRUPTED, exit_code_of
from atom_sdk.client import Client
from atom_sdk.client.errors import CommitCancelledError
from atom_sdk.manifests.progress import Stage
from tests.datasets.forks import carried_out, pending_merge, push_forked
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, png
from tests.factories.accounts import make_member
from tests.tiers import examples

STAGES: tuple[Stage, ...] = ("comparing", "comparing", "labels", "writing")


def push_two_branches() -> Pusher:
    """Version 1 on both branches, and a file more on `fix`."""
    pusher = push_forked()
    pusher.push({"a.png": png(1)}, branch="fix")
    return pusher


@pytest.fixture
def forked(committing_db: None) -> Pusher:
    return made_once(push_two_branches)


def requested_merge(pusher: Pusher, **fields: Any) -> CommitRequest:
    """Return a request for a merge of `fix` into `main`, in the state that is given."""
    dataset = Dataset.objects.select_related("project").get()
    return pending_merge(dataset, "fix", pusher.user, **fields)


def shown_request(pusher: Pusher, request: CommitRequest) -> dict[str, Any]:
    """Return a request as the API shows it."""
    return pusher.get(f"commits/{request.pk}/")


def test_a_cancelled_merge_leaves_no_version_and_nothing_locked(forked: Pusher) -> None:
    request, head = requested_merge(forked), forked.head()

    for _ in range(2):
        said = forked.post(f"commits/{request.pk}/cancel/", None)
        assert (said["state"], said["cancellable"]) == ("cancelled", False)
        assert said["error"]["code"] == "commit_cancelled"
        assert said["error"]["detail"] == f"{forked.user.username} cancelled it."

    assert run_commit(request.pk).state == "cancelled"
    assert (forked.head(), Version.objects.filter(number=2).count()) == (head, 0)
    event = AuditEvent.objects.get(verb="commit.cancelled")
    assert (event.actor, event.data["operation"]) == (forked.user, "merge")
    # The same again, and a push, go on from where the branch was.
    assert carried_out(forked, "merges", source="fix", branch="main")["version"]["ref"] == "v2"


def test_a_worker_stops_when_its_request_is_cancelled(forked: Pusher) -> None:
    request = requested_merge(forked, state="building")
    assert shown_request(forked, request)["cancellable"]
    watch = CommitWatch(request, STAGES)
    watch.begin("comparing", 40)
    assert (
        shown_request(forked, request)["stage"],
        shown_request(forked, request)["rows_total"],
    ) == (
        "comparing",
        40,
    )

    cancel_commit(CommitRequest.objects.get(pk=request.pk), forked.user)

    with pytest.raises(CommitCancelled):
        CommitWatch(request, STAGES).begin("labels", 3)
    with pytest.raises(CommitCancelled):
        carry_out(request)
    with pytest.raises(CommitCancelled):
        begin_move(request)
    assert shown_request(forked, request)["stage"] == "comparing"


def test_it_is_too_late_once_the_branch_moves(forked: Pusher) -> None:
    request = requested_merge(forked, state="building")
    begin_move(request)
    address = f"{forked.base}commits/{request.pk}/cancel/"

    answer = forked.client.post(address)
    assert (answer.status_code, answer.json()["code"]) == (409, "commit_over")
    assert answer.json()["detail"] == "Its version is being put on the branch."
    assert not shown_request(forked, request)["cancellable"]
    # The branch was elsewhere: what is built anew may be cancelled.
    give_up_move(request)
    assert shown_request(forked, request)["cancellable"]
    begin_move(request)

    assert run_commit(request.pk).state == "published"
    assert forked.client.post(address).json()["detail"] == "It is published already."


@pytest.mark.django_db(transaction=True)
def test_of_a_worker_and_one_who_cancels_one_wins(forked: Pusher) -> None:
    request = requested_merge(forked)
    start = threading.Barrier(2)

    def work() -> None:
        start.wait()
        run_commit(request.pk)
        connections.close_all()

    worker = threading.Thread(target=work)
    worker.start()
    start.wait()
    try:
        cancel_commit(CommitRequest.objects.get(pk=request.pk), forked.user)
    except CommitOver:
        expected = ("published", "v2")
    else:
        expected = ("cancelled", "v1")
    worker.join()

    assert (
        shown_request(forked, request)["state"],
        forked.get("versions/main/")["ref"],
    ) == expected


def test_a_split_is_cancelled_as_a_merge_is(forked: Pusher) -> None:
    dataset = Dataset.objects.get()
    head = forked.head() or ""
    request = CommitRequest.objects.create(
        dataset=dataset, branch="main", split={"test": 2}, expected_head=head
    )

    forked.post(f"commits/{request.pk}/cancel/", None)

    assert run_commit(request.pk).state == "cancelled"
    assert forked.get("versions/main/")["ref"] == "v1"


def test_what_a_writer_commits_is_not_cancelled(forked: Pusher) -> None:
    dataset = Dataset.objects.get()
    writer = Writer.objects.create(dataset=dataset, target="main", staging="staging.a")
    request = CommitRequest.objects.create(
        dataset=dataset, branch="main", operation="write", writer=writer
    )

    answer = forked.client.post(f"{forked.base}commits/{request.pk}/cancel/")

    assert (answer.status_code, answer.json()["code"]) == (409, "commit_not_cancellable")
    assert not shown_request(forked, request)["cancellable"]
    for wrong in ({"pk": request.pk}, {"pk": requested_merge(forked, committing=True).pk}):
        with pytest.raises(IntegrityError), transaction.atomic():
            CommitRequest.objects.filter(**wrong).update(state="cancelled")


def test_who_may_only_look_cancels_nothing(forked: Pusher) -> None:
    request = requested_merge(forked)
    viewer = make_member(forked.project, "viewer")

    answer = Pusher(forked.project, viewer).client.post(
        f"{forked.base}commits/{request.pk}/cancel/"
    )

    assert answer.status_code == 403
    assert shown_request(forked, request)["state"] == "pending"


class Interrupting:
    """Shows progress to somebody who presses Ctrl-C at the first sight of it."""

    def __init__(self, before: Callable[[], object], after: Callable[[], object]) -> None:
        self.shown: list[tuple[str, int]] = []
        self._before, self._after = before, after

    def start(self, step: str, total: int, unit: str) -> None:
        self.shown.append((step, total))
        if len(self.shown) == 1:
            self._before()
            raise KeyboardInterrupt

    def advance(self, step: str, amount: int) -> None:
        self._after()

    def note(self, text: str) -> None:
        """Nothing is noted."""


def follow(
    live: LiveServer, pusher: Pusher, request: CommitRequest, progress: Interrupting
) -> dict[str, Any]:
    """Follow a request by the SDK, as the researcher of the project."""
    secret = create_token(pusher.user, "tests", ["write"]).secret
    with Client(live.url, secret, pusher.project.slug) as client:
        operations = client.operations.watched(progress)
        return operations.follow(pusher.name, shown_request(pusher, request))


def test_ctrl_c_cancels_on_the_server(forked: Pusher, live_server: LiveServer) -> None:
    request = requested_merge(forked, state="building")
    CommitWatch(request, STAGES).begin("comparing", 40)
    progress = Interrupting(lambda: None, lambda: None)

    with pytest.raises(CommitCancelledError, match="cancelled it") as caught:
        follow(live_server, forked, request, progress)

    assert exit_code_of(caught.value) == EXIT_INTERRUPTED
    assert progress.shown == [("comparing", 40)]
    assert shown_request(forked, request)["state"] == "cancelled"


def test_ctrl_c_that_is_too_late_gives_the_version(forked: Pusher, live_server: LiveServer) -> None:
    request = requested_merge(forked, state="building")
    CommitWatch(request, STAGES).begin("comparing", 40)
    # The worker goes on to the end as soon as somebody looks again.
    progress = Interrupting(lambda: begin_move(request), lambda: run_commit(request.pk))

    done = follow(live_server, forked, request, progress)

    assert (done["state"], done["version"]["ref"]) == ("published", "v2")


def test_a_merge_that_ends_has_told_its_stages(
    forked: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every row is told: else the stage that is told last depends on the machine.
    monkeypatch.setattr(commit_progress, "NOTE_EVERY_S", 0.0)
    done = carried_out(forked, "merges", source="fix", branch="main")

    assert (done["state"], done["progress"], done["cancellable"]) == ("published", 1.0, False)
    assert done["stage"] == "writing"
    assert Branch.objects.get(name="main").head is not None


def test_an_edit_has_the_stages_of_its_steps() -> None:
    steps = (EditStepArguments("remove", ("a",)), EditStepArguments("set", ("b",)))

    assert stages_of(EditArguments(steps)) == (
        *("reading", "writing", "labels"),
        *("reading", "writing"),
    )


@settings(max_examples=examples(20))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["comparing", "labels", "reading", "writing"]),
            st.lists(st.integers(0, 5), max_size=3),
        ),
        max_size=6,
    )
)
def test_the_share_that_is_done_never_goes_back(work: list[tuple[Stage, list[int]]]) -> None:
    count = ProgressTracker(STAGES)
    shares = [count.ratio]
    for stage, rows in work:
        count.begin(stage, sum(rows))
        for each in rows:
            count.advance(each)
            shares.append(count.ratio)
        assert (count.stage, count.rows_done, count.rows_total) == (stage, sum(rows), sum(rows))
    assert shares == sorted(shares)
    assert 0 <= min(shares) <= max(shares) <= 1


def test_the_share_follows_the_rows_of_each_stage() -> None:
    count = ProgressTracker(STAGES)
    count.begin("comparing", 4)
    count.advance(2)
    assert count.ratio == 0.125
    count.begin("comparing", 10)
    assert count.ratio == 0.25
    count.begin("writing", 2)
    count.advance(2)
    assert count.ratio == 1
