"""Two commands of one run that live at once are seen; a killed one before the next is none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.jobs.live import wait_for
from tests.kills.presence import LAST_LINES, Presence

_COMMAND = """
import json, socket, sys
door = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
door.sendall(json.dumps(sys.argv[2:]).encode() + b"\\n0\\n1\\n")
print(door.makefile().readline().strip())
"""


@pytest.fixture
def presence() -> Iterator[Presence]:
    with Presence() as presence:
        yield presence


def begin(presence: Presence, run: str, attempt: str) -> subprocess.Popen[bytes]:
    """Start a command and wait until it has written two lines."""
    count = len(presence.lives_of(run))
    words = [sys.executable, "-S", "-c", _COMMAND, str(presence.port), run, attempt]
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    wait_for(lambda: [life.line for life in presence.lives_of(run)][count:] == [1])
    return process


def test_a_command_that_begins_after_a_killed_one_is_no_second_one(presence: Presence) -> None:
    for attempt in ("first", "second", "third"):
        process = begin(presence, "run", attempt)
        process.kill()
        process.communicate()
    assert presence.complaints == []
    assert [life.attempt for life in presence.lives_of("run")] == ["first", "second", "third"]
    wait_for(lambda: not presence.alive())


def test_two_commands_of_one_run_at_once_are_seen(presence: Presence) -> None:
    processes = [begin(presence, *words) for words in (("run", "1"), ("other", "2"), ("run", "3"))]
    (complaint,) = presence.complaints
    assert "attempt 3 began while a process of ['1'] lived" in complaint
    for process in processes:
        process.kill()
        process.communicate()


def test_a_command_of_one_attempt_that_begins_twice_is_seen(presence: Presence) -> None:
    for _ in range(2):
        process = begin(presence, "run", "first")
        process.kill()
        process.communicate()
    assert presence.complaints == ["run run: the command of attempt first began twice"]


def test_a_command_is_told_how_many_lines_it_writes_and_so_is_the_next_one(
    presence: Presence,
) -> None:
    process = begin(presence, "run", "first")
    assert presence.finish("run") == 2 + LAST_LINES
    assert process.communicate()[0] == f"{2 + LAST_LINES}\n".encode()
    process = begin(presence, "run", "second")
    assert process.communicate()[0] == f"{2 + LAST_LINES}\n".encode()
    assert presence.complaints == []
