"""Finding lines of a log: over HTTP, in chunks and in what has only just arrived."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.jobs.logs.actions import log_search, logs
from atom.jobs.logs.engines import log_errors
from atom.jobs.logs.engines.log_search import Query, Search
from atom.jobs.models import Attempt, Rank
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame
from tests.factories.accounts import make_member, make_user
from tests.factories.jobs import make_attempt
from tests.streams import bytes_of

pytestmark = pytest.mark.django_db


def say(attempt: Attempt, *payloads: bytes, fd: int = 1, rank: int = 0) -> None:
    start = logs.length(logs.stream_of(attempt, rank))
    body = frames.encode(Frame(fd, 0, 7, one.count(b"\n"), one) for one in payloads)
    logs.append(attempt, start, body, rank)


def asking(attempt: Attempt) -> APIClient:
    api = APIClient()
    api.force_authenticate(make_member(attempt.run.project))
    return api


def search(attempt: Attempt, api: APIClient | None = None, **params: Any) -> dict[str, Any]:
    answer = (api or asking(attempt)).get(f"/api/v1/runs/{attempt.run_id}/logs/search/", params)
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def lines(found: dict[str, Any]) -> list[int]:
    return [one["line"] for one in found["matches"]]


def test_lines_are_found_in_chunks_and_in_the_live_tail_with_their_neighbours() -> None:
    attempt = make_attempt()
    say(attempt, b"one\ntwo\nthree \x1b[31mRed\x1b[0m fox\n")
    logs.flush(attempt.pk)
    say(attempt, b"four\nfive red f", fd=2)
    found = search(attempt, q="RED F", context=1)
    assert lines(found) == [3, 5]
    first, last = found["matches"]
    assert (first["text"], first["spans"], first["byte_off"]) == ("three Red fox", [[6, 11]], 8)
    assert [one["text"] for one in first["before"]] == ["two"]
    assert [one["text"] for one in first["after"]] == ["four"]
    assert (last["stream"], last["text"]) == ("stderr", "five red f")
    assert found["complete"]


def test_what_has_been_searched_is_not_searched_again() -> None:
    attempt = make_attempt()
    api = asking(attempt)
    say(attempt, b"loss 1\nother\n")
    found = search(attempt, api, q="loss")
    say(attempt, b"loss 2\n")
    later = search(attempt, api, q="loss", cursor=found["next"])
    assert (lines(found), lines(later)) == ([1], [3])


def test_an_unfinished_line_is_found_again_once_it_is_finished() -> None:
    attempt = make_attempt()
    api = asking(attempt)
    say(attempt, b"begin\nloss 1")
    found = search(attempt, api, q="loss")
    say(attempt, b" and 2\n")
    later = search(attempt, api, q="loss", cursor=found["next"])
    assert [one["text"] for one in found["matches"]] == ["loss 1"]
    assert [(one["line"], one["text"]) for one in later["matches"]] == [(2, "loss 1 and 2")]


def test_pages_of_matches_join_without_a_double_or_a_hole() -> None:
    attempt = make_attempt()
    api = asking(attempt)
    for block in range(6):
        say(
            attempt,
            b"".join(b"hit %d\nmiss\n" % number for number in range(block * 5, block * 5 + 5)),
        )
    seen: list[int] = []
    cursor = ""
    for _ in range(20):
        found = search(attempt, api, q="hit", limit=4, cursor=cursor)
        seen += lines(found)
        cursor = found["next"]
        if found["complete"]:
            break
    assert seen == list(range(1, 60, 2))


def test_streams_that_interleave_within_lines_are_numbered_as_the_page_numbers_them() -> None:
    attempt = make_attempt()
    say(attempt, b"out begins ")
    say(attempt, b"err 1\nerr 2\n", fd=2)
    say(attempt, b"out ends\n")
    found = search(attempt, q="out", stream="stdout")
    assert [(one["line"], one["text"]) for one in found["matches"]] == [(3, "out begins out ends")]


def test_only_the_last_redraw_of_a_progress_bar_counts() -> None:
    attempt = make_attempt()
    say(attempt, b" 10%\r 50%\r", b" 99%\rdone\r\n")
    assert lines(search(attempt, q="50%")) == []
    assert lines(search(attempt, q="done")) == [1]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"q": "Loss"}, [1, 2, 3]),
        ({"q": "Loss", "case": 1}, [1]),
        ({"q": "loss=(nan|inf)", "regex": 1}, [2]),
        ({"q": "^loss.*$", "regex": 1, "case": 1}, [2, 3]),
        ({"q": r"\Aloss=1\.5\z", "regex": 1}, [3]),
        ({"q": "loss=1.5"}, [3]),
        ({"q": "loss=1?5"}, []),
    ],
)
def test_case_and_regular_expressions(params: dict[str, Any], expected: list[int]) -> None:
    attempt = make_attempt()
    say(attempt, b"Loss\nloss=nan\nloss=1.5\n")
    assert lines(search(attempt, **params)) == expected


def test_a_pattern_that_takes_others_forever_takes_linear_time() -> None:
    attempt = make_attempt()
    say(attempt, b"a" * 50_000 + b"!\n")
    assert lines(search(attempt, q="(a+)+$", regex=1)) == []


@pytest.mark.parametrize(
    "params",
    [
        {}, {"q": "a(", "regex": 1}, {"q": "(x{900}){900}", "regex": 1}, {"q": "a" * 501},
        {"q": "a", "errors": 1}, {"q": "a", "context": 99}, {"q": "a", "limit": -1},
        {"q": "a", "cursor": "soon"}, {"q": "a", "case": "yes"}, {"q": "a", "stream": "stdin"},
        {"q": "a", "colour": 1},
    ],
)  # fmt: skip
def test_what_cannot_be_searched_is_refused_by_its_field(params: dict[str, Any]) -> None:
    attempt = make_attempt()
    answer = asking(attempt).get(f"/api/v1/runs/{attempt.run_id}/logs/search/", params)
    assert answer.status_code == 400
    assert answer.json()["errors"]


def test_a_stranger_learns_nothing() -> None:
    attempt = make_attempt()
    api = APIClient()
    api.force_authenticate(make_user())
    url = f"/api/v1/runs/{attempt.run_id}/logs/search/?q=a"
    assert api.get(url).status_code == 404


def test_a_traceback_is_one_finding_with_its_exception() -> None:
    attempt = make_attempt()
    say(attempt, b"epoch 1 error: 0.31\n")
    say(
        attempt,
        b"Traceback (most recent call last):\n"
        b'  File "train.py", line 3, in <module>\n    step()\n'
        b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n",
        fd=2,
    )
    say(attempt, b"[rank1]: NCCL WARN Timeout\n")
    found = search(attempt, errors=1)
    told = [(one["line"], one["kind"], one["summary"][:21]) for one in found["matches"]]
    assert told == [(2, "out_of_memory", "torch.OutOfMemoryErro"), (6, "network", "")]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("ValueError: bad", "exception"),
        ("[rank0]: KeyError: 'x'", "exception"),
        ("RuntimeError: CUDA error: device-side assert triggered", "gpu"),
        ("2026-01-01 [ERROR] no space left", "error"),
        ("error: no such file", "error"),
        ("Segmentation fault (core dumped)", "crash"),
        ("val/error: 0.31", ""),
        ("error: 0.31", ""),
        ("0 errors, all fine", ""),
        ("ErrorRate=3", ""),
    ],
)
def test_which_lines_report_an_error(line: str, kind: str) -> None:
    assert log_errors.kind_of(line) == kind
    assert bool(log_errors.ANY.search(line)) == bool(kind)


def test_only_the_lines_that_match_are_downloaded() -> None:
    attempt = make_attempt()
    say(attempt, b"loss \x1b[1m1\x1b[0m\nother\nloss 2")
    api = asking(attempt)
    answer: Any = api.get(f"/api/v1/runs/{attempt.run_id}/logs/raw/", {"q": "loss"})
    assert bytes_of(answer) == b"loss 1\nloss 2\n"
    assert "-matches.log" in answer["Content-Disposition"]
    assert api.get(f"/api/v1/runs/{attempt.run_id}/logs/raw/?q=(&regex=1").status_code == 400


def test_a_run_without_an_attempt_has_nothing_to_find() -> None:
    attempt = make_attempt()
    run = attempt.run
    attempt.delete()
    api = APIClient()
    api.force_authenticate(make_member(run.project))
    answer = api.get(f"/api/v1/runs/{run.pk}/logs/search/?errors=1").json()
    assert (answer["matches"], answer["complete"]) == ([], True)


def test_a_search_stops_at_its_bytes_and_says_where_to_go_on(monkeypatch: Any) -> None:
    attempt = make_attempt()
    say(attempt, *[b"%03d hit\n" % number for number in range(40)])
    monkeypatch.setattr(log_search, "SEARCHED_BYTES", 100)
    api, cursor, seen, asked = asking(attempt), "", [], 0
    while True:
        found = search(attempt, api, q="hit", cursor=cursor)
        seen += lines(found)
        cursor, asked = found["next"], asked + 1
        if found["complete"]:
            break
    assert seen == list(range(1, 41))
    assert asked > 1


def test_a_line_that_never_ends_does_not_hold_a_search_back() -> None:
    looking = Search(Query("later"))
    looking.feed(Frame(2, 0, 1, 0, b"waiting ..."))
    offset = 11
    for _ in range(12):
        payload = b"x" * (1 << 20) + b"\n"
        looking.feed(Frame(1, offset, 1, 1, payload))
        offset += len(payload)
    assert looking.resume_at().offset > 0


def test_a_rank_is_searched_and_downloaded_by_its_number() -> None:
    attempt = make_attempt()
    Rank.objects.create(attempt=attempt, number=1, node=attempt.node)
    say(attempt, b"loss 1\n")
    say(attempt, b"start\nloss 2\n", rank=1)
    api = asking(attempt)
    assert lines(search(attempt, api, q="loss")) == [1]
    assert lines(search(attempt, api, q="loss", rank=1)) == [2]
    raw = f"/api/v1/runs/{attempt.run_id}/logs/raw/"
    whole = api.get(raw, {"rank": 1})
    assert bytes_of(whole) == b"start\nloss 2\n"
    assert "-rank-1.log" in whole["Content-Disposition"]
    assert bytes_of(api.get(raw, {"rank": "1", "q": "loss"})) == b"loss 2\n"
    assert api.get(raw, {"rank": 2}).json()["detail_code"] == "jobs.rank_unknown"
