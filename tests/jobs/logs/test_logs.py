"""Logs: what is acknowledged is kept, once, in order, whatever dies."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.core.ids import uuid7
from atom.jobs.errors import BadLogFrames, LogGap
from atom.jobs.logs.actions import logs
from atom.jobs.logs.pipelines import log_stream
from atom.jobs.models import Attempt, LogChunk
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame
from tests.factories.accounts import make_member
from tests.factories.jobs import make_attempt, runner_headers
from tests.streams import bytes_of

pytestmark = pytest.mark.django_db


def body(*payloads: bytes, fd: int = 1, ts_ns: int = 5) -> bytes:
    return frames.encode(Frame(fd, 0, ts_ns, one.count(b"\n"), one) for one in payloads)


def whole(attempt: Attempt, start: int = 0, limit_bytes: int = 1 << 30) -> bytes:
    return b"".join(frame.payload for frame in logs.read(attempt, start, limit_bytes).frames)


def test_bytes_come_back_in_order() -> None:
    attempt = make_attempt()
    assert logs.append(attempt, 0, body(b"one\n", b"two\n")).next == 8
    assert logs.append(attempt, 8, body(b"three\n", fd=2)).next == 14
    assert whole(attempt) == b"one\ntwo\nthree\n"
    assert whole(attempt, 5) == b"wo\nthree\n"
    assert whole(attempt, 2, 4) == b"e\ntw"


def test_the_same_bytes_twice_count_once() -> None:
    attempt = make_attempt()
    for _ in range(3):
        assert logs.append(attempt, 0, body(b"one\n", b"two\n")).next == 8
    assert whole(attempt) == b"one\ntwo\n"


def test_an_overlap_is_cut_off() -> None:
    attempt = make_attempt()
    logs.append(attempt, 0, body(b"one\ntwo\n"))
    assert logs.append(attempt, 4, body(b"two\nthree\n")).next == 14
    assert whole(attempt) == b"one\ntwo\nthree\n"
    assert logs.read(attempt, 0, 100).lines == 3


def test_a_gap_is_refused_with_the_offset_that_is_expected() -> None:
    attempt = make_attempt()
    logs.append(attempt, 0, body(b"one\n"))
    with pytest.raises(LogGap) as refused:
        logs.append(attempt, 9, body(b"late\n"))
    assert refused.value.extra == {"next": 4}
    assert whole(attempt) == b"one\n"


def test_what_is_not_frames_is_refused() -> None:
    with pytest.raises(BadLogFrames):
        logs.append(make_attempt(), 0, b"plain text is no frame, whatever its length")


def test_a_flush_moves_everything_to_chunks_and_empties_the_stream() -> None:
    attempt = make_attempt()
    offset = 0
    for number in range(40):
        offset = logs.append(attempt, offset, body(b"%05d\n" % number * 10_000)).next
    assert logs.flush(attempt.pk) == 3
    assert log_stream.read(str(attempt.pk), 0) == []
    chunks = list(LogChunk.objects.order_by("seq"))
    assert [chunk.seq for chunk in chunks] == [0, 1, 2]
    assert [chunk.byte_start for chunk in chunks] == [0, *(c.byte_end for c in chunks[:-1])]
    assert chunks[-1].line_end == 400_000
    assert chunks[-1].byte_end == offset == 2_400_000
    assert whole(attempt, offset - 6) == b"00039\n"
    assert logs.append(attempt, offset, body(b"more\n")).next == offset + 5
    assert whole(attempt, offset - 6) == b"00039\nmore\n"
    assert log_stream.attempts_to_flush() == [attempt.pk]


def stop_after_reading(attempt: Attempt) -> None:
    logs.pending(logs.stream_of(attempt))


def stop_after_storing(attempt: Attempt) -> None:
    stream = logs.stream_of(attempt)
    logs.store_chunk(stream, logs.pending(stream))


def stop_before_trimming(attempt: Attempt) -> None:
    stream = logs.stream_of(attempt)
    entries = logs.pending(stream)
    logs.record_chunk(stream, entries, logs.store_chunk(stream, entries))


def stop_before_forgetting(attempt: Attempt) -> None:
    stop_before_trimming(attempt)
    log_stream.trim(str(attempt.pk), logs.stream_of(attempt).flushed_bytes)


@pytest.mark.parametrize(
    "die", [stop_after_reading, stop_after_storing, stop_before_trimming, stop_before_forgetting]
)
def test_a_flusher_may_die_anywhere(die: Callable[[Attempt], None]) -> None:
    attempt = make_attempt()
    said = [b"line %d\n" % number for number in range(100)]
    logs.append(attempt, 0, body(*said[:60]))
    die(attempt)
    assert whole(attempt) == b"".join(said[:60])
    logs.append(attempt, len(b"".join(said[:60])), body(*said[60:]))
    assert whole(attempt) == b"".join(said)
    logs.flush(attempt.pk)
    assert whole(attempt) == b"".join(said)
    assert log_stream.read(str(attempt.pk), 0) == []
    assert log_stream.attempts_to_flush() == []
    assert logs.read(attempt, 0, 1 << 20).lines == 100


def test_a_second_flusher_cannot_write_a_chunk_again() -> None:
    attempt = make_attempt()
    logs.append(attempt, 0, body(b"one\n"))
    stream = logs.stream_of(attempt)
    entries = logs.pending(stream)
    stored = logs.store_chunk(stream, entries)
    logs.record_chunk(stream, entries, stored)
    with pytest.raises(RuntimeError):
        logs.record_chunk(stream, entries, stored)


def test_a_log_that_valkey_lost_goes_on_from_the_chunks(redis_connection: Any) -> None:
    attempt = make_attempt()
    logs.append(attempt, 0, body(b"one\n"))
    logs.flush(attempt.pk)
    logs.append(attempt, 4, body(b"two\n"))
    redis_connection.flushdb()
    with pytest.raises(LogGap) as refused:
        logs.append(attempt, 8, body(b"three\n"))
    assert refused.value.extra == {"next": 4}
    logs.append(attempt, 4, body(b"two\n", b"three\n"))
    assert whole(attempt) == b"one\ntwo\nthree\n"


def test_the_end_is_noted_once_everything_is_there() -> None:
    attempt = make_attempt()
    logs.append(attempt, 0, body(b"one\n"))
    with pytest.raises(LogGap):
        logs.finish(attempt, 9)
    logs.finish(attempt, 4)
    assert logs.is_due(logs.stream_of(attempt))
    logs.flush(attempt.pk)
    found = logs.read(attempt, 0, 100)
    assert found.eof
    assert found.next == 4


# --- over HTTP


def post_logs(api: APIClient, attempt: Attempt, offset: int, data: bytes, **headers: str) -> Any:
    return api.post(
        "/api/v1/runner/logs/",
        data,
        content_type="application/octet-stream",
        headers={**runner_headers(attempt), "X-Atom-Offset": str(offset), **headers},
    )


def test_a_runner_sends_plain_and_deflated_frames() -> None:
    api, attempt = APIClient(), make_attempt()
    assert post_logs(api, attempt, 0, body(b"one\n")).json() == {"next": 4}
    packed = zlib.compress(body(b"two\n"))
    answer = post_logs(api, attempt, 4, packed, **{"Content-Encoding": "deflate"})
    assert answer.json() == {"next": 8}
    gap = post_logs(api, attempt, 20, body(b"late\n"))
    assert gap.status_code == 409
    assert (gap.json()["code"], gap.json()["next"]) == ("log_gap", 8)


def test_a_body_that_unpacks_to_too_much_is_refused() -> None:
    bomb = zlib.compress(b"\0" * (64 << 20))
    answer = post_logs(APIClient(), make_attempt(), 0, bomb, **{"Content-Encoding": "deflate"})
    assert answer.status_code == 413


def test_a_page_reads_by_offset_filters_by_stream_and_searches() -> None:
    attempt = make_attempt()
    logs.append(attempt, 0, body(b"Epoch 1\n"))
    logs.append(attempt, 8, body(b"warning: \x1b[33mslow\x1b[0m disk\n", fd=2))
    api = APIClient()
    api.force_authenticate(make_member(attempt.run.project))
    url = f"/api/v1/runs/{attempt.run_id}/logs/"
    answer = api.get(url).json()
    assert [frame["text"] for frame in answer["frames"]] == [
        "Epoch 1\n",
        "warning: \x1b[33mslow\x1b[0m disk\n",
    ]
    assert answer["next"] == answer["streams"][0]["bytes"]
    assert answer["streams"][0]["lines"] == 2
    only = api.get(url, {"stream": "stderr"}).json()
    assert [frame["byte_off"] for frame in only["frames"]] == [8]
    found = api.get(url, {"q": "SLOW disk"}).json()
    assert [frame["byte_off"] for frame in found["frames"]] == [8]
    assert api.get(url, {"from": "-5"}).json()["frames"][0]["text"] == "disk\n"
    raw: Any = api.get(f"{url}raw/")
    assert bytes_of(raw).startswith(b"Epoch 1\nwarning")


def test_a_run_without_an_attempt_has_an_empty_log() -> None:
    attempt = make_attempt()
    run = attempt.run
    attempt.delete()
    api = APIClient()
    api.force_authenticate(make_member(run.project))
    assert api.get(f"/api/v1/runs/{run.pk}/logs/").json()["frames"] == []
    assert api.get(f"/api/v1/runs/{run.pk}/logs/?attempt=3").status_code == 404


def test_streams_of_attempts_do_not_mix() -> None:
    one, other = make_attempt(), make_attempt()
    logs.append(one, 0, body(b"mine\n"))
    assert whole(other) == b""
    assert log_stream.next_offset(str(uuid7())) is None
