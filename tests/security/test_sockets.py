"""Every socket, asked by everybody who may not listen, and by browsers that say nonsense."""

from __future__ import annotations

import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser

from atom.accounts.actions.members import remove_member
from atom.accounts.actions.service_accounts import create_service_account
from atom.accounts.models import Project, User
from atom.core.consumers import CLOSE_MALFORMED, CLOSE_NOT_FOUND
from atom.web.composition import modules_of_apps
from tests.factories.accounts import make_member, make_project
from tests.factories.everything import one_of_everything
from tests.websockets import WebSocketClient

pytestmark = pytest.mark.django_db(transaction=True)

ROUTES: list[Any] = [
    pattern for module in modules_of_apps("routing") for pattern in module.websocket_urlpatterns
]
# A person's own, which has no other door than the session.
OWN = {"ws/notifications/"}


def _socket(path: str, user: Any) -> WebSocketClient:
    routes = URLRouter(ROUTES)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await routes({**scope, "user": user}, receive, send)

    return WebSocketClient(application, f"/{path}")


async def _close_code(socket: WebSocketClient) -> int:
    """Return how a socket ends that is opened, or was."""
    try:
        while True:
            await socket.receive_json()
    except ConnectionError as closed:
        return int(str(closed).rpartition(" ")[2])


def _paths(values: dict[str, Any]) -> list[str]:
    # The address of a project names it by its slug, as workflows are.
    known = {**values, "slug": values["project"]}
    return [
        re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(known[found[1]]), str(route.pattern))
        for route in ROUTES
    ]


async def _opened(path: str, user: Any) -> tuple[WebSocketClient, int | None]:
    socket = _socket(path, user)
    return socket, await socket.connect()


def _world() -> tuple[Project, User, list[str], dict[str, Any]]:
    project, other = make_project("vision"), make_project("other")
    owner = make_member(project, "admin", "owner")
    gone = make_member(project, "viewer", "gone")
    gone.is_active = False
    strangers = {
        "nobody": AnonymousUser(),
        "a member of another project": make_member(other, "admin", "stranger"),
        "a program of another project": create_service_account(other, "robot", "admin", owner),
        "an account that was switched off": gone,
    }
    return project, owner, _paths(one_of_everything(project, owner, "thing")), strangers


async def test_a_socket_is_for_whoever_sees_the_thing_and_as_long_as_they_do() -> None:
    project, _, paths, strangers = await sync_to_async(_world)()
    let_in = []
    for path in paths:
        for who, user in strangers.items():
            if path in OWN and who != "nobody":
                continue
            socket, code = await _opened(path, user)
            if (await _close_code(socket) if code is None else code) != CLOSE_NOT_FOUND:
                let_in.append((path, who))
    assert let_in == []
    leaving = await sync_to_async(make_member)(project, "viewer", "leaving")
    sockets = [(await _opened(path, leaving))[0] for path in paths if path not in OWN]
    await sync_to_async(_remove)(project, leaving)
    assert {await _close_code(socket) for socket in sockets} == {CLOSE_NOT_FOUND}


def _remove(project: Project, user: User) -> None:
    remove_member(user, project, User.objects.get(username="owner"))


async def test_what_is_no_message_ends_the_socket_and_nothing_else() -> None:
    _, owner, paths, _ = await sync_to_async(_world)()
    texts: list[dict[str, Any]] = [{"text": text} for text in ("", "[" * 5_000, "\ud83d")]
    for message in (*texts, {"bytes": b"\0\xff"}):
        for path in paths:
            socket, _ = await _opened(path, owner)
            await socket._communicator.send_input({"type": "websocket.receive", **message})
            assert await _close_code(socket) == CLOSE_MALFORMED


async def test_what_no_log_begins_at_is_ignored() -> None:
    _, owner, paths, _ = await sync_to_async(_world)()
    (path,) = (path for path in paths if path.startswith("ws/runs/"))
    for query in ("log_from=1e999", "log_from=%ff", "log_from=\xff", "attempt=%00&log_from=0"):
        socket, code = await _opened(f"{path}?{query}", owner)
        assert code is None
        starts: tuple[Any, ...] = (float("inf"), "x", None, {}, [], 10**30)
        for start in starts:
            await socket.send_json({"type": "subscribe_log", "from": start})
        await socket.send_json({"type": ["subscribe_log"]})
        await socket.close()
