"""Peers read one pack each against a token for it; nothing else is served."""

from __future__ import annotations

import base64
import json
import os
import socket
import time
import uuid

import httpx
import pytest

from atom_agent.messages import PackName
from atom_agent.peers import PeerServer
from atom_agent.turns import Turns
from tests.agent.wire import PROJECT, pack_of, peer_token

DATA = os.urandom(50_000)
PACK = pack_of(DATA)


@pytest.fixture
def url(peer: PeerServer) -> str:
    peer.packs.fill(PACK, lambda: [DATA])
    return f"http://127.0.0.1:{peer.server_port}"


def read(url: str, token: str, pack: PackName = PACK, ranged: str = "") -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} | ({"Range": ranged} if ranged else {})
    return httpx.get(f"{url}/packs/{pack.project}/{pack.digest}", headers=headers)


def test_a_whole_pack_and_a_part_of_it(url: str) -> None:
    assert read(url, peer_token(PACK)).content == DATA
    part = read(url, peer_token(PACK), ranged="bytes=100-199")
    assert (part.status_code, part.content) == (206, DATA[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(DATA)}"
    assert read(url, peer_token(PACK), ranged="bytes=49000-90000").content == DATA[49000:]
    assert read(url, peer_token(PACK), ranged="bytes=50000-50001").status_code == 416
    assert read(url, peer_token(PACK), ranged="bytes=5-1,7-9").status_code == 416


def test_tokens_that_are_not_for_this_pack_now_are_refused(url: str) -> None:
    other = PackName(str(uuid.uuid4()), PACK.digest)
    text, _, signature = peer_token(PACK).partition(".")
    claims = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    swapped = json.dumps({**claims, "plan": "another plan"}).encode()
    bad = [
        "x.y",
        "é.é",
        text,
        f"{text}.",
        f"{base64.urlsafe_b64encode(swapped).decode().rstrip('=')}.{signature}",
        peer_token(PACK, plan=""),
        peer_token(PACK, lasts_s=-1),
        peer_token(PACK, key=bytes(32)),
        peer_token(other),
        peer_token(pack_of(b"another pack")),
    ]
    for token in bad:
        headers = {b"Authorization": f"Bearer {token}".encode()}
        answer = httpx.get(f"{url}/packs/{PROJECT}/{PACK.digest}", headers=headers)
        assert answer.status_code == 401, token
    assert httpx.get(f"{url}/packs/{PROJECT}/{PACK.digest}").status_code == 401


def test_before_the_first_join_no_token_is_accepted(url: str, peer: PeerServer) -> None:
    peer.key = None
    assert read(url, peer_token(PACK)).status_code == 401
    assert read(url, peer_token(PACK, key=b"")).status_code == 401


def test_nothing_else_is_served(url: str) -> None:
    assert httpx.get(f"{url}/healthz").status_code == 200
    for path in ["/", "/packs/", f"/packs/{PROJECT}/", f"/packs/{PROJECT}/../../etc/passwd"]:
        assert httpx.get(url + path).status_code == 404
    assert httpx.post(f"{url}/healthz").status_code == 501
    missing = pack_of(b"not here")
    assert read(url, peer_token(missing), missing).status_code == 404


def test_a_loop_that_turns_no_more_is_no_health(url: str, peer: PeerServer) -> None:
    peer.turns = Turns(patience_s=0)
    peer.turns.turn("report", pause_s=600)
    assert httpx.get(f"{url}/healthz").status_code == 200
    peer.turns.turn("work")
    time.sleep(0.01)
    assert peer.turns.late() == ["work"]
    assert httpx.get(f"{url}/healthz").status_code == 503
    peer.turns.turn("work", pause_s=600)
    assert httpx.get(f"{url}/healthz").status_code == 200


def test_readers_are_bounded_and_health_is_still_answered(url: str, peer: PeerServer) -> None:
    for _ in range(2):
        assert peer.readers.acquire(blocking=False)
    assert read(url, peer_token(PACK)).status_code == 503
    assert httpx.get(f"{url}/healthz").status_code == 200
    peer.readers.release()
    assert read(url, peer_token(PACK)).status_code == 200


def test_connections_are_bounded(url: str, peer: PeerServer) -> None:
    idle = [socket.create_connection(("127.0.0.1", peer.server_port)) for _ in range(50)]
    try:
        assert httpx.get(f"{url}/healthz").status_code == 503
    finally:
        for connection in idle:
            connection.close()
