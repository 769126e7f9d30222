"""A client that is told to wait waits, within bounds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from atom_sdk.client.config import Config
from atom_sdk.client.errors import ApiError, NotAtomError
from atom_sdk.client.runs import Runs
from atom_sdk.client.transport.http import Http
from tests.sdk.answering import Answer, answering

RUN = "01a20e24-ad1c-718d-8b9f-1f506b3f7c94"
RUNNING, SUCCEEDED = Answer(200, '{"state": "running"}'), Answer(200, '{"state": "succeeded"}')
# Its own server is away, says a proxy; so often that each request gives up.
AWAY = [Answer(502, "<html>Bad gateway</html>", {"Retry-After": "0"})] * 12


@contextmanager
def busy_server(waits: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Answers 429 with these Retry-After headers, one after the other, then 200."""
    left, seen = list(waits), []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            status, body = (429, b'{"code": "too_many_requests"}') if left else (200, b'{"ok": 1}')
            self.send_response(status)
            if left:
                self.send_header("Retry-After", left.pop(0))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()


def test_a_limited_request_is_sent_again_more_often_than_a_failed_one() -> None:
    with busy_server(["0"] * 6) as (url, seen):
        http = Http(Config(url=url, token="", project=""))
        assert http.get("projects/") == {"ok": 1}
        http.close()
    assert len(seen) == 7


@pytest.mark.parametrize("wait", ["61", "99999999999"])
def test_nobody_waits_longer_than_a_minute(wait: str) -> None:
    with busy_server([wait]) as (url, seen):
        http = Http(Config(url=url, token="", project=""))
        with pytest.raises(ApiError) as refused:
            http.get("projects/")
        http.close()
    assert refused.value.code == "too_many_requests"
    assert len(seen) == 1


def http_to(url: str) -> Http:
    return Http(Config(url=url, token="", project=""))


def test_waiting_for_a_run_outlives_a_server_that_is_away() -> None:
    with answering([RUNNING, *AWAY, SUCCEEDED]) as url:
        assert Runs(http_to(url), "demo").wait(RUN)["state"] == "succeeded"


def test_a_time_to_wait_counts_while_the_server_is_away() -> None:
    with answering([RUNNING, *AWAY]) as url, pytest.raises(TimeoutError, match="still running"):
        Runs(http_to(url), "demo").wait(RUN, timeout_s=0.1)


def test_a_server_that_never_answered_is_not_waited_for() -> None:
    with answering(AWAY) as url, pytest.raises(ApiError) as refused:
        Runs(http_to(url), "demo").wait(RUN)
    assert refused.value.status == 502


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, "<html>Sign in</html>"),
        Answer(302, "", {"Location": "https://sign-in.example/?state=secret"}),
    ],
)
def test_what_is_not_atom_is_told_in_words(answer: Answer) -> None:
    with answering([answer]) as url, pytest.raises(NotAtomError) as refused:
        http_to(url).get("projects/")
    assert "127.0.0.1" in str(refused.value)
    assert "secret" not in str(refused.value)
