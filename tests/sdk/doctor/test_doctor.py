"""`atom doctor` where something is wrong: each check names it and the next step."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from atom_sdk import __version__
from atom_sdk.doctor import checks, machine
from atom_sdk.doctor.checks import Check
from atom_sdk.doctor.client import ClientDoctor

PROBLEM = "application/problem+json"
Answering = Callable[..., str]


@pytest.fixture
def answering() -> Iterator[Answering]:
    """Start a server that says one thing to all; return its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int, kind: str, body: Any = None, **headers: str) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response_only(status)
                for name, value in {"Content-Type": kind, **headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_: Any) -> None:
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., dict[str, Check]]:
    """Return the checks by name, of a client with this address and token."""

    def ask(url: str = "", token: str = "atom_abc_secret") -> dict[str, Check]:
        monkeypatch.setenv("ATOM_CONFIG", str(tmp_path / "none.json"))
        monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "cache"))
        for name, value in (("ATOM_URL", url), ("ATOM_TOKEN", token), ("ATOM_PROJECT", "")):
            monkeypatch.setenv(name, value)
        return {check.name: check for check in ClientDoctor().checks()}

    return ask


def test_without_a_configuration_the_machine_is_still_looked_at(look: Any) -> None:
    seen = look()
    assert (seen["configuration"].level, seen["configuration"].action) == (
        "error",
        "Run: atom login URL",
    )
    assert "server" not in seen
    assert {"python", "cache", "packages", "mounts", "gpus"} <= seen.keys()
    assert checks.exit_code(seen.values()) == 1


def test_an_address_that_does_not_answer_is_told_from_one_that_is_not_atom(
    look: Any, answering: Answering
) -> None:
    silent = look("http://127.0.0.1:1")["server"]
    assert (silent.level, "does not answer" in silent.detail) == ("error", True)
    other = look(answering(200, "text/html"))["server"]
    assert (other.level, "not as Atom does" in other.detail) == ("error", True)


def test_a_refused_token_is_named_and_the_server_is_well(look: Any, answering: Answering) -> None:
    seen = look(answering(401, PROBLEM, Date=formatdate(usegmt=True)))
    assert [seen[name].level for name in ("server", "token", "clock")] == ["ok", "error", "ok"]
    assert "atom login" in seen["token"].action


@pytest.mark.parametrize(("ahead_s", "level"), [(0, "ok"), (120, "warning"), (-3600, "error")])
def test_a_clock_that_is_wrong_is_told_by_how_much(
    look: Any, answering: Answering, ahead_s: int, level: str
) -> None:
    date = formatdate(time.time() - ahead_s, usegmt=True)
    assert look(answering(401, PROBLEM, Date=date))["clock"].level == level


@pytest.mark.parametrize(("server", "level"), [(__version__, "ok"), ("9.0.0", "warning")])
def test_another_version_of_the_server_is_a_warning(
    look: Any, answering: Answering, server: str, level: str
) -> None:
    assert look(answering(503, PROBLEM, Atom_Version=server))["version"].level == level


def test_a_folder_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (check,) = machine.folder("cache", tmp_path / "file", "ATOM_CACHE")
    assert (check.level, "ATOM_CACHE" in check.action) == ("error", True)


def test_a_check_that_breaks_hides_no_other(tmp_path: Path) -> None:
    def _broken() -> Iterator[Check]:
        raise RuntimeError("why")

    broken, python = checks.run_all([_broken, machine.python])
    assert (broken.level, "why" in broken.detail, python.name) == ("error", True, "python")
    assert checks.as_json([broken, python])["level"] == "error"
