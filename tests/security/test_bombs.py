"""Small inputs that would become large ones: refused in words, in little memory and time."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from typing import Any

import httpx
import pytest

from atom.asgi import application
from atom.jobs.artifacts.engines.previews.tensorboard import MAX_TAGS, read_events
from tests.architecture.test_access import api_routes, mlflow_routes
from tests.jobs.artifacts.test_file_previews import message, record, shown

REFUSED = {"image_too_large", "image_unreadable"}
# Decoded, each of them would be 3 GiB.
MOST_MIB = 400
# Nothing of these is large when opened: many small things, of which none is kept.
HARMLESS = {"chunks.png", "frames.gif", "circle.tif", "inner.tif"}


def test_pictures_that_pretend_are_refused_in_little_memory() -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.security.bombs"],
        capture_output=True,
        check=True,
        text=True,
        env={"PYTHONPATH": ".:sdk"},
    )
    said: dict[str, Any] = json.loads(ran.stdout)
    found: dict[str, Any] = said["found"]
    assert {name for name, thumbnail in found.items() if thumbnail not in REFUSED} == HARMLESS
    assert said["most_mib"] < MOST_MIB


def _events(count: int) -> bytes:
    value = message(2, 5, struct.pack("<f", 0.5))
    return b"".join(record(1, f"tag{number:06}", value) for number in range(count))


def _step(raw: bytes) -> bytes:
    """One scalar whose step is the number `raw`, as the format writes numbers."""
    value = message(1, 2, b"loss") + message(2, 5, struct.pack("<f", 0.5))
    summary = message(5, 2, message(1, 2, value))
    event = b"\x10" + raw + summary
    return struct.pack("<QI", len(event), 0) + event + b"\0\0\0\0"


def test_event_files_that_lie_are_cut() -> None:
    many = read_events(_events(MAX_TAGS + 5), whole=True)
    assert (len(many.scalars), many.truncated) == (MAX_TAGS, True)
    # A record that claims to be longer than the file is not read.
    lies = struct.pack("<QI", (1 << 64) - 1, 0) + _step(b"\1")
    assert read_events(lies, whole=True).scalars == {}
    inside = bytearray(_step(b"\1"))
    inside[15] = 0x7F
    assert read_events(bytes(inside), whole=True).truncated


@pytest.mark.django_db
@pytest.mark.parametrize("last", [b"\x01", b"\x03", b"\x7f"])
def test_a_step_that_no_number_holds_is_shown_all_the_same(last: bytes) -> None:
    """Ten bytes of a number hold 70 bits; 64 are meant."""
    found = shown("events.out.tfevents.9", _step(b"\xff" * 9 + last))
    (curve,) = found["curves"]
    assert curve["steps"] == [-1]


@pytest.fixture
async def server() -> Any:
    transport = httpx.ASGITransport(application)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def test_no_route_reads_a_body_that_says_to_be_too_large(server: httpx.AsyncClient) -> None:
    routes = [f"/api/v1/{route}" for route in api_routes()]
    routes += [f"/api/mlflow/{route}" for route, _ in mlflow_routes()]
    read = []
    for route in [*routes, "/admin/"]:
        path = re.sub(r"<[^>]+>", "1", route)
        headers = {"Content-Length": str(10 << 30), "Content-Type": "application/json"}
        answer = await server.post(path, content=b"{", headers=headers)
        if answer.status_code != 413:
            read.append((route, answer.status_code))
    assert read == []
