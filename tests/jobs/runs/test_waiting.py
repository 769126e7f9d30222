"""`…/wait/`: told by live events, for who may see the thing, with nothing held meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.db import connections

from atom.accounts import actions
from atom.accounts.authentication import find_token
from atom.accounts.models import User
from atom.asgi import django_application
from atom.core import redis, waiting
from atom.datasets.commits.actions.commit_progress import cancel_commit
from atom.datasets.models import CommitRequest
from atom.jobs import events, states
from atom.jobs.models import Run
from atom.web.long_poll import LongPoll
from tests.factories.accounts import make_member, make_user
from tests.factories.datasets import make_dataset
from tests.factories.jobs import make_run

pytestmark = pytest.mark.django_db(transaction=True)
_Communicator: Any = ApplicationCommunicator
# Nothing here may depend on how long it is: what is lost is looked at again only after this.
NEVER_S = 1000.0


@pytest.fixture(autouse=True)
async def _connection_of_the_tests_own_thread() -> AsyncIterator[None]:
    """Close what `sync_to_async` of a test itself left open."""
    yield
    await sync_to_async(connections.close_all)()


class Waiting:
    """One request to the web process that is waited for."""

    def __init__(self, path: str, token: str) -> None:
        path, _, query = path.partition("?")
        self._looks = 0
        application = LongPoll(cast(Any, self._look), relook_s=NEVER_S)
        headers = [(b"host", b"testserver"), (b"authorization", f"Bearer {token}".encode())]
        self.http = _Communicator(
            application,
            {
                "type": "http",
                "method": "GET",
                "path": path,
                "raw_path": path.encode(),
                "query_string": query.encode(),
                "headers": headers,
            },
        )

    async def begin(self) -> None:
        await self.http.send_input({"type": "http.request", "body": b"", "more_body": False})

    async def until_listening(self) -> None:
        """Return once it has looked again since it listens: from now on only events wake it."""
        while self._looks < 2:
            await asyncio.sleep(0.01)

    async def answer(self) -> tuple[int, Any]:
        start = await self.http.receive_output(timeout=20)
        body = b""
        while True:
            part = await self.http.receive_output(timeout=20)
            body += part["body"]
            if not part.get("more_body"):
                return start["status"], json.loads(body)

    async def _look(self, scope: Any, receive: Any, send: Any) -> None:
        await cast(Any, django_application)(scope, receive, send)
        self._looks += 1


async def ask(path: str, token: str) -> tuple[int, Any]:
    waiting = Waiting(path, token)
    await waiting.begin()
    return await waiting.answer()


def token_of(user: User) -> str:
    return actions.create_token(user, "ci", ["read"]).secret


@sync_to_async
def make() -> tuple[Run, str]:
    run = make_run()
    return run, token_of(make_member(run.project))


@sync_to_async
def move(run: Run, *through: str) -> None:
    for state in through:
        run.refresh_from_db()
        events.move(run, state)


async def place_of(token: str) -> str:
    found = await sync_to_async(_token)(token)
    return f"waiters:{found}"


def _token(text: str) -> str:
    found = find_token(text)
    assert found is not None
    return str(found.pk)


async def test_the_answer_comes_when_the_run_has_ended() -> None:
    run, token = await make()
    waiting_for = Waiting(f"/api/v1/runs/{run.pk}/wait/?timeout_s=300", token)
    await waiting_for.begin()
    await waiting_for.until_listening()
    # A state that is not the last one ends no wait.
    await move(run, states.PLACING)
    await sync_to_async(events.announce)(run)
    assert await waiting_for.http.receive_nothing(timeout=0.2)
    await move(run, states.FINALIZING, states.SUCCEEDED)
    status, body = await waiting_for.answer()
    assert (status, body["state"], body["id"]) == (200, "succeeded", str(run.pk))
    assert not redis.client().zcard(await place_of(token))


async def test_what_is_over_and_what_is_asked_for_no_time_is_answered_at_once() -> None:
    run, token = await make()
    path = f"/api/v1/runs/{run.pk}/wait/"
    assert (await ask(f"{path}?timeout_s=0", token))[1]["state"] == states.QUEUED
    assert (await ask(f"{path}?timeout_s=1", token))[1]["state"] == states.QUEUED
    await move(run, states.CANCELLED)
    assert (await ask(path, token))[1]["state"] == states.CANCELLED


async def test_an_end_that_nobody_was_told_of_is_seen_when_looking_again() -> None:
    run, token = await make()
    path = f"/api/v1/runs/{run.pk}/wait/?timeout_s=1"
    waiting_for = Waiting(path, token)
    await waiting_for.begin()
    await waiting_for.until_listening()
    await Run.objects.filter(pk=run.pk).aupdate(state=states.FAILED)
    assert (await waiting_for.answer())[1]["state"] == states.FAILED


async def test_strangers_wrong_parameters_and_revoked_tokens() -> None:
    run, token = await make()
    path = f"/api/v1/runs/{run.pk}/wait/"
    stranger = await sync_to_async(lambda: token_of(make_user()))()
    assert (await ask(path, stranger))[0] == 404
    assert (await ask(path, "atom_x_y"))[0] == 401
    for wrong in ("301", "-1", "x", "²", "9" * 400):
        status, body = await ask(f"{path}?timeout_s={wrong}", token)
        assert (status, list(body["errors"])) == (400, ["timeout_s"]), wrong
    assert (await ask(f"{path}?timeout=1", token))[0] == 400
    waiting_for = Waiting(path, token)
    await waiting_for.begin()
    await waiting_for.until_listening()
    await sync_to_async(_revoke)(token)
    await move(run, states.PLACING)
    assert (await waiting_for.answer())[0] == 401


def _revoke(text: str) -> None:
    found = find_token(text)
    assert found is not None
    actions.revoke_token(found, found.user)


async def test_one_token_waits_for_so_many_things_at_a_time() -> None:
    run, token = await make()
    who = (await place_of(token)).removeprefix("waiters:")
    for number in range(waiting.MAX_WAITERS):
        waiting.enter(who, str(number))
    path = f"/api/v1/runs/{run.pk}/wait/?timeout_s=1"
    status, body = await ask(path, token)
    assert (status, body["code"]) == (429, "too_many_waits")
    # Another token of the same person has places of its own; what is over needs none.
    user = await User.objects.aget(api_tokens__pk=who)
    assert (await ask(path, await sync_to_async(token_of)(user)))[0] == 200
    await move(run, states.CANCELLED)
    assert (await ask(path, token))[0] == 200


async def test_a_client_that_goes_gives_its_place_back() -> None:
    run, token = await make()
    waiting_for = Waiting(f"/api/v1/runs/{run.pk}/wait/", token)
    await waiting_for.begin()
    await waiting_for.until_listening()
    await waiting_for.http.send_input({"type": "http.disconnect"})
    await waiting_for.http.wait(20)
    assert not redis.client().zcard(await place_of(token))


async def test_commits_of_datasets_are_waited_for_alike() -> None:
    @sync_to_async
    def begin() -> tuple[str, str, CommitRequest, User]:
        dataset = make_dataset()
        user = make_member(dataset.project, "researcher")
        commit = CommitRequest.objects.create(dataset=dataset, branch="main", operation="merge")
        base = f"/api/v1/projects/{dataset.project.slug}/datasets/{dataset.name}/commits"
        return f"{base}/{commit.pk}/wait/?timeout_s=300", token_of(user), commit, user

    path, token, commit, user = await begin()
    waiting_for = Waiting(path, token)
    await waiting_for.begin()
    await waiting_for.until_listening()
    await sync_to_async(cancel_commit)(commit, user)
    status, body = await waiting_for.answer()
    assert (status, body["state"]) == (200, "cancelled")
    assert (await ask(path, token))[1]["state"] == "cancelled"
