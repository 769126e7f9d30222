"""Characters stay whole in every view of a log, wherever their bytes were cut."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from atom.jobs.logs.actions import logs
from atom.jobs.logs.engines import log_text
from atom.jobs.logs.engines.log_lines import MAX_LINE_BYTES, Lines
from atom.jobs.models import Attempt
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame
from tests.factories.accounts import make_member
from tests.factories.jobs import make_attempt
from tests.jobs.share_requests import AT, look, make_maker, share
from tests.streams import bytes_of

TEXT = "日本語🙂ж\n"
BYTES = [bytes([byte]) for byte in TEXT.encode()]
# No UTF-8: a byte that begins nothing, and the beginning of a character that never ends.
BINARY = b"a\xff\x80b\xe6\n\xf0\x9f\x99"


def say(attempt: Attempt, *payloads: bytes, fd: int = 1) -> None:
    start = logs.length(logs.stream_of(attempt))
    body = frames.encode(Frame(fd, 0, 7, one.count(b"\n"), one) for one in payloads)
    logs.append(attempt, start, body)


def end(attempt: Attempt) -> None:
    logs.finish(attempt, logs.length(logs.stream_of(attempt)))


def reader_of(attempt: Attempt) -> APIClient:
    api = APIClient()
    api.force_authenticate(make_member(attempt.run.project))
    return api


def read(api: APIClient, attempt: Attempt, limit_bytes: int, **params: Any) -> dict[str, str]:
    """Return the text of each stream, read in pieces of so many bytes."""
    texts, offset = {"stdout": "", "stderr": ""}, 0
    while True:
        asked = {"from": offset, "limit_bytes": limit_bytes, **params}
        page = api.get(f"/api/v1/runs/{attempt.run_id}/logs/", asked).json()
        for row in page["frames"]:
            texts[row["stream"]] += row["text"]
        if page["next"] == offset:
            return texts
        offset = page["next"]


@pytest.mark.django_db
@pytest.mark.parametrize("limit_bytes", [1, 3, 7, 1 << 20])
def test_pages_of_any_size_hold_whole_characters(limit_bytes: int) -> None:
    attempt = make_attempt()
    say(attempt, *BYTES)
    logs.flush(attempt.pk)
    # The rest of a character is in another chunk, behind bytes of the other stream.
    say(attempt, "前".encode()[:1])
    logs.flush(attempt.pk)
    say(attempt, "ошибка\n".encode(), fd=2)
    say(attempt, "前".encode()[1:])
    api = reader_of(attempt)
    assert read(api, attempt, limit_bytes) == {"stdout": f"{TEXT}前", "stderr": "ошибка\n"}
    only = read(api, attempt, limit_bytes, stream="stdout")
    assert only == {"stdout": f"{TEXT}前", "stderr": ""}


@pytest.mark.django_db
def test_search_errors_and_the_shared_page_hold_whole_characters() -> None:
    attempt = make_attempt()
    say(attempt, *[bytes([byte]) for byte in "ValueError: 日本\n".encode()])
    api = reader_of(attempt)
    address = f"/api/v1/runs/{attempt.run_id}/logs/"
    (match,) = api.get(f"{address}search/", {"q": "日本"}).json()["matches"]
    assert (match["text"], match["spans"]) == ("ValueError: 日本", [[12, 14]])
    (error,) = api.get(f"{address}search/", {"errors": 1}).json()["matches"]
    assert error["text"] == "ValueError: 日本"
    (row,) = api.get(address, {"q": "日本"}).json()["frames"]
    assert row["text"] == "ValueError: 日本\n"
    token = share(attempt.run, make_maker(attempt.run.project), with_log=True)["token"]
    shared = look(token, f"{AT}log/?from=13&limit_bytes=2").json()["frames"]
    rest = look(token, f"{AT}log/?from=15").json()["frames"]
    assert "".join(one["text"] for one in [*shared, *rest]) == "日本\n"


@pytest.mark.django_db
def test_bytes_that_are_no_text_are_marked_in_views_and_downloaded_as_written() -> None:
    attempt = make_attempt()
    say(attempt, BINARY[:5])
    say(attempt, b"\xfe\n", fd=2)
    say(attempt, BINARY[5:])
    end(attempt)
    api = reader_of(attempt)
    texts = read(api, attempt, 1 << 20)
    assert texts == {"stdout": "a\ufffd\ufffdb\ufffd\n\ufffd", "stderr": "\ufffd\n"}
    address = f"/api/v1/runs/{attempt.run_id}/logs/raw/"
    for stream, data in (
        ("all", BINARY[:5] + b"\xfe\n" + BINARY[5:]),
        ("stdout", BINARY),
        ("stderr", b"\xfe\n"),
    ):
        answer: Any = api.get(address, {"stream": stream})
        assert bytes_of(answer) == data
    assert 'attempt-1-stderr.log"' in api.get(address, {"stream": "stderr"})["Content-Disposition"]


def test_a_line_that_is_cut_to_its_limit_ends_with_a_whole_character() -> None:
    data = b"x" + "日".encode() * MAX_LINE_BYTES + b"\n"
    (line,) = Lines().feed(Frame(1, 0, 0, 1, data))
    assert set(line.text) == {"x", "日"}


def cut_up(data: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


@given(st.text(max_size=30) | st.binary(max_size=30), st.lists(st.integers(0, 200), max_size=8))
def test_wherever_a_log_is_cut_its_text_is_that_of_the_whole(
    content: str | bytes, places: list[int]
) -> None:
    data = content.encode() if isinstance(content, str) else content
    offset, made = 0, []
    for piece in cut_up(data, places):
        made.append(Frame(1, offset, 0, 0, piece))
        offset += len(piece)
    texts = log_text.decode_all(made, log_text.NOTHING, final=True)
    assert "".join(texts) == data.decode("utf-8", "replace")
    # A reader that starts at any frame goes on where one of the frames before it stopped.
    begun = log_text.NOTHING
    for at, frame in enumerate(made):
        assert log_text.begun_after(made[:at]) == begun
        _, begun = log_text.decode(frame, begun)
