"""A pack comes from a peer or the origin whole and verified, or not at all."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from atom_agent.errors import FetchError, Reason
from atom_agent.fetching import Fetcher
from atom_agent.messages import Fetch, PackName, Removal, Source
from atom_agent.outbox import Outbox
from atom_agent.pacing import RateLimits
from atom_agent.packs import NodePacks
from atom_agent.peers import PeerServer
from atom_agent.sources import RANGE_BYTES, Sources
from tests.agent.wire import (
    PROJECT,
    answering,
    fetch_of,
    origin_of,
    pack_of,
    peer_token,
    wait_until,
)

DATA = os.urandom(100_000)


def result_of(packs: NodePacks, sources: Sources, *fetches: Fetch) -> Outbox:
    outbox = Outbox()
    fetcher = Fetcher(packs, sources, outbox, 4, lambda: None)
    for fetch in fetches:
        assert fetcher.start(fetch)
    wait_until(lambda: len(outbox.snapshot()) == len(fetches))
    fetcher.stop(5)
    return outbox


def reason_of(packs: NodePacks, sources: Sources, fetch: Fetch) -> str:
    (failure,) = result_of(packs, sources, fetch).snapshot().failed
    assert not packs.path(fetch.pack).exists()
    folder = packs.folder / PROJECT / "incoming"
    assert not folder.exists() or not list(folder.iterdir())
    return str(failure["reason"])


def test_a_pack_comes_from_the_origin_by_ranges(packs: NodePacks, sources: Sources) -> None:
    data = os.urandom(RANGE_BYTES + 12345)
    with origin_of(data) as origin:
        outbox = result_of(packs, sources, fetch_of(data, origin.source(data)))
    assert packs.path(pack_of(data)).read_bytes() == data
    assert origin.sent_bytes == len(data)
    assert [entry["bytes"] for entry in outbox.snapshot().done] == [len(data)]
    assert packs.inventory() == {PROJECT: [pack_of(data).digest]}


def test_a_broken_connection_goes_on_where_it_ended(packs: NodePacks, sources: Sources) -> None:
    with origin_of(DATA) as origin:
        origin.breaks_left = 5
        result_of(packs, sources, fetch_of(DATA, origin.source(DATA)))
    assert packs.path(pack_of(DATA)).read_bytes() == DATA
    assert origin.sent_bytes == len(DATA)


def test_a_pack_comes_from_a_peer(packs: NodePacks, sources: Sources, peer: PeerServer) -> None:
    pack = pack_of(DATA)
    peer.packs.fill(pack, lambda: [DATA])
    url = f"http://127.0.0.1:{peer.server_port}/packs/{PROJECT}/{pack.digest}"
    result_of(packs, sources, fetch_of(DATA, Source("peer", url, peer_token(pack))))
    assert packs.path(pack).read_bytes() == DATA


def test_a_peer_without_the_pack_or_with_another_token_fails(
    packs: NodePacks, sources: Sources, peer: PeerServer
) -> None:
    pack = pack_of(DATA)
    url = f"http://127.0.0.1:{peer.server_port}/packs/{PROJECT}/{pack.digest}"
    source = Source("peer", url, peer_token(pack))
    assert reason_of(packs, sources, fetch_of(DATA, source)) == "missing"
    assert reason_of(packs, sources, fetch_of(DATA, Source("peer", url, "x.y"))) == "refused"


def test_a_pack_that_is_here_is_done_without_a_byte(packs: NodePacks, sources: Sources) -> None:
    packs.fill(pack_of(DATA), lambda: [DATA])
    with origin_of(DATA) as origin:
        outbox = result_of(packs, sources, fetch_of(DATA, origin.source(DATA)))
    assert origin.sent_bytes == 0
    assert outbox.snapshot().done[0]["bytes"] == 0


def test_an_origin_that_lacks_the_pack_is_told(packs: NodePacks, sources: Sources) -> None:
    with origin_of() as origin:
        assert reason_of(packs, sources, fetch_of(DATA, origin.source(DATA))) == "missing"
    source = Source("origin", "http://127.0.0.1:9/nothing-listens")
    assert reason_of(packs, sources, fetch_of(DATA, source)) == "origin"


def head(count: int = len(DATA), size: int = len(DATA)) -> bytes:
    return (
        f"HTTP/1.1 206 Partial Content\r\nContent-Length: {count}\r\n"
        f"Content-Range: bytes 0-{count - 1}/{size}\r\n\r\n"
    ).encode()


def endless(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(bytes(65536))


def silent(connection: socket.socket) -> None:
    connection.sendall(head() + DATA[:1000])
    connection.recv(1)


def silent_at_once(connection: socket.socket) -> None:
    connection.recv(1)


HOSTILE: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "wrong bytes": (lambda it: it.sendall(head() + bytes(len(DATA))), "digest"),
    "an endless body": (endless, "digest"),
    "a smaller size": (lambda it: it.sendall(head(500, 500) + DATA[:500]), "digest"),
    "a larger size": (lambda it: it.sendall(head(len(DATA), 1 << 40) + DATA), "digest"),
    "silence": (silent, "stalled"),
    "silence at once": (silent_at_once, "stalled"),
    "a redirect": (
        lambda it: it.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n"),
        "refused",
    ),
    "no HTTP": (lambda it: it.sendall(b"\0" * 100), "refused"),
    "too many readers": (lambda it: it.sendall(b"HTTP/1.1 503 Busy\r\n\r\n"), "refused"),
    "an encoding": (
        lambda it: it.sendall(
            head().replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n") + DATA
        ),
        "digest",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_peer_that_lies_is_refused_by_its_reason(
    packs: NodePacks, sources: Sources, kind: str
) -> None:
    answer, reason = HOSTILE[kind]
    with answering(answer) as url:
        source = Source("peer", f"{url}/packs/{PROJECT}/{pack_of(DATA).digest}", "token")
        assert reason_of(packs, sources, fetch_of(DATA, source)) == reason


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.1:1/x", "http://localhost:1/x", "http://127.0.0.1/x", "file:///etc/passwd"],
)
def test_a_peer_is_an_address_and_a_port(packs: NodePacks, sources: Sources, url: str) -> None:
    assert reason_of(packs, sources, fetch_of(DATA, Source("peer", url, "token"))) == "refused"


def test_the_limit_of_the_node_holds_for_fetches_at_once(
    packs: NodePacks, sources: Sources
) -> None:
    packs.limit_bytes = 150_000
    packs.reserve("another", 100_000)
    with origin_of(DATA) as origin:
        assert reason_of(packs, sources, fetch_of(DATA, origin.source(DATA))) == "disk_full"
        packs.free("another")
        result_of(packs, sources, fetch_of(DATA, origin.source(DATA)))
    assert packs.path(pack_of(DATA)).exists()


def test_a_cancelled_fetch_leaves_nothing_and_reports_nothing(
    packs: NodePacks, sources: Sources
) -> None:
    outbox = Outbox()
    fetcher = Fetcher(packs, sources, outbox, 1, lambda: None)
    with origin_of(DATA) as origin:
        fetch = fetch_of(DATA, origin.source(DATA), rate=1)
        assert fetcher.start(fetch)
        assert not fetcher.start(fetch_of(DATA, origin.source(DATA)))
        wait_until(lambda: fetcher.progress().get(fetch.id))
        fetcher.cancel(fetch.id)
        wait_until(lambda: fetcher.room == 1)
    assert len(outbox.snapshot()) == 0
    assert packs.inventory() == {PROJECT: []}


def test_fetches_of_a_plan_share_its_rate() -> None:
    rates = RateLimits()
    assert rates.delay_s("a", 1000, None) == 0
    first = rates.delay_s("a", 1000, 100)
    assert 9.9 < first <= 10
    assert 19 < rates.delay_s("a", 1000, 100) <= 20
    assert rates.delay_s("b", 1000, 100) <= 10


def test_a_full_disk_is_told_and_the_next_fetch_works(tmp_path: Path, sources: Sources) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs root and the right to mount a small file system")
    try:
        packs = NodePacks(folder)
        large = os.urandom(2 << 20)
        with origin_of(large, DATA) as origin:
            assert reason_of(packs, sources, fetch_of(large, origin.source(large))) == "disk_full"
            result_of(packs, sources, fetch_of(DATA, origin.source(DATA)))
            assert packs.path(pack_of(DATA)).read_bytes() == DATA
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
            other = fetch_of(large, origin.source(large))
            assert reason_of(packs, sources, other) == "read_only"
        state = packs.state()
        assert state.is_read_only
        assert "Read-only" in state.problem
        assert state.cache_bytes == len(DATA)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_pack_is_removed_after_a_check_only_if_it_is_wrong(packs: NodePacks) -> None:
    pack = pack_of(DATA)
    packs.fill(pack, lambda: [DATA])
    assert not packs.carry_out(Removal(pack, verify=True))
    packs.path(pack).chmod(0o644)
    packs.path(pack).write_bytes(b"damaged")
    assert packs.carry_out(Removal(pack, verify=True))
    assert not packs.path(pack).exists()
    assert packs.carry_out(Removal(pack))


def test_a_name_of_a_pack_is_no_path() -> None:
    for project, digest in [("../etc", "0" * 64), (PROJECT, "../" + "0" * 61), (PROJECT, "A" * 64)]:
        with pytest.raises(ValueError, match=r"UUID"):
            PackName(project, digest)


def test_a_digest_that_differs_is_a_failure(packs: NodePacks) -> None:
    with pytest.raises(FetchError) as caught:
        packs.fill(pack_of(DATA), lambda: [b"other bytes"])
    assert caught.value.reason == Reason.DIGEST
