"""A project's socket tells its members that something changed, and nobody else anything."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser

from atom.accounts.routing import websocket_urlpatterns
from atom.core import live
from atom.core.consumers import CLOSE_NOT_FOUND
from tests.factories.accounts import make_member, make_project
from tests.websockets import WebSocketClient

pytestmark = pytest.mark.django_db(transaction=True)


def client_of(slug: str, user: Any) -> WebSocketClient:
    routes = URLRouter(websocket_urlpatterns)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await routes({**scope, "user": user}, receive, send)

    return WebSocketClient(application, f"/ws/projects/{slug}/")


async def test_a_member_hears_of_this_project_and_of_no_other() -> None:
    project, other = [await sync_to_async(make_project)() for _ in range(2)]
    socket = client_of(project.slug, await sync_to_async(make_member)(project, "viewer"))
    assert await socket.connect() is None
    assert await socket.receive_json() == {"type": "hello"}
    for told in (other, project):
        event = {"type": "writer", "id": str(told.pk)}
        await sync_to_async(live.publish_now)(f"project.{told.pk}", event)
    assert await socket.receive_json() == {"type": "writer", "id": str(project.pk)}
    await socket.close()


@pytest.mark.parametrize("who", ["stranger", "nobody", "left"])
async def test_others_are_closed_as_if_there_were_no_project(who: str) -> None:
    project = await sync_to_async(make_project)()
    user: Any = AnonymousUser()
    if who != "nobody":
        home = project if who == "left" else await sync_to_async(make_project)()
        user = await sync_to_async(make_member)(home, "admin")
        user.is_active = who != "left"
    for slug in (project.slug, "no-such-project"):
        socket = client_of(slug, user)
        assert await socket.connect() is None
        with pytest.raises(ConnectionError, match=str(CLOSE_NOT_FOUND)):
            await socket.receive_json()
