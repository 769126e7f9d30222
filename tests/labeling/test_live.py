"""The task's socket tells that counts changed, to members only."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser

from atom.core.consumers import CLOSE_NOT_FOUND
from atom.labeling.actions import leases
from atom.labeling.models import LabelTask
from atom.labeling.routing import websocket_urlpatterns
from tests.factories.accounts import make_member, make_project
from tests.factories.labeling import make_task

pytestmark = pytest.mark.django_db(transaction=True)


def connect(task: LabelTask, user: Any) -> Any:
    # asgiref's helper carries no types.
    communicator: Any = ApplicationCommunicator
    path = f"/ws/labelx/tasks/{task.pk}/"
    scope = {"type": "websocket", "path": path, "headers": [], "subprotocols": [], "user": user}
    return communicator(URLRouter(websocket_urlpatterns), scope)


async def test_a_member_hears_that_work_was_leased() -> None:
    task = await sync_to_async(make_task)(2)
    viewer, labeler = [
        await sync_to_async(make_member)(task.project, role) for role in ("viewer", "labeler")
    ]
    socket = connect(task, viewer)
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(5))["type"] == "websocket.accept"
    assert await socket.receive_nothing(0.2)
    await sync_to_async(leases.lease_labels)(task, labeler, 1)
    said = json.loads((await socket.receive_output(5))["text"])
    assert said == {"type": "progress", "id": str(task.pk)}
    await socket.send_input({"type": "websocket.disconnect", "code": 1000})
    await socket.wait(5)


@pytest.mark.parametrize("who", ["stranger", "nobody"])
async def test_others_are_closed_as_if_there_were_no_task(who: str) -> None:
    task = await sync_to_async(make_task)(1)
    stranger = await sync_to_async(make_member)(await sync_to_async(make_project)(), "admin")
    socket = connect(task, stranger if who == "stranger" else AnonymousUser())
    await socket.send_input({"type": "websocket.connect"})
    assert (await socket.receive_output(5))["type"] == "websocket.accept"
    closed = await socket.receive_output(5)
    assert (closed["type"], closed["code"]) == ("websocket.close", CLOSE_NOT_FOUND)
    await socket.send_input({"type": "websocket.disconnect", "code": CLOSE_NOT_FOUND})
    await socket.wait(5)
