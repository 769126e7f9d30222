"""The logs of all ranks as one: each line once, in the order of each rank, whatever the cuts."""

from __future__ import annotations

import random

import pytest
from rest_framework.test import APIClient

from atom.jobs import states
from atom.jobs.logs.actions import logs
from atom.jobs.logs.actions.merged_logs import MergedLines, read_merged, tails
from atom.jobs.models import Attempt, Rank
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db

RANKS = 3


@pytest.fixture
def attempt() -> Attempt:
    found = make_attempt(make_run(make_project("vision"), nodes=RANKS))
    Rank.objects.bulk_create(Rank(attempt=found, number=number) for number in range(1, RANKS))
    return found


class Writer:
    """A rank whose two streams interleave, also in the middle of lines."""

    def __init__(self, attempt: Attempt, rank: int, seed: int) -> None:
        self.attempt, self.rank = attempt, rank
        self.chance = random.Random(f"{rank}/{seed}")
        self.offset, self.count = 0, 0
        # The line that is begun, by its stream.
        self.open = {1: b"", 2: b""}
        self.lines: list[str] = []

    def write(self, now_ns: int) -> None:
        fd = self.chance.choice((1, 2))
        self.count += 1
        text = f"{self.rank}/{fd}/{self.count}".encode() * self.chance.randrange(1, 4)
        ends = self.chance.random() < 0.6
        payload = text + (b"\n" if ends else b"")
        self.open[fd] += text
        if ends:
            self.lines.append(self.open[fd].decode())
            self.open[fd] = b""
        body = frames.encode([Frame(fd, self.offset, now_ns, int(ends), payload)])
        self.offset = logs.append(self.attempt, self.offset, body, self.rank).next

    def end(self) -> None:
        self.lines += [text.decode() for _, text in sorted(self.open.items()) if text]
        logs.finish(self.attempt, self.offset, self.rank)


@pytest.mark.parametrize("seed", range(5))
def test_each_line_comes_once_whatever_is_read_at_a_time(attempt: Attempt, seed: int) -> None:
    chance = random.Random(seed)
    writers = [Writer(attempt, rank, seed) for rank in range(RANKS)]
    read: dict[int, list[str]] = {rank: [] for rank in range(RANKS)}
    found = MergedLines([], {}, False)
    for moment in range(240):
        chance.choice(writers).write(moment)
        if chance.random() < 0.2:
            found = _read(attempt, found, read, chance.choice((1, 30, 10_000)))
        if moment == 120:
            logs.flush(attempt.pk)
    for writer in writers:
        writer.end()
    for _ in range(200):
        found = _read(attempt, found, read, chance.choice((64, 400)))
        if found.eof:
            break
    assert found.eof
    for writer in writers:
        assert sorted(read[writer.rank]) == sorted(writer.lines)
        begun = writer.lines[:-2]
        assert [line for line in read[writer.rank] if line in begun] == begun


def _read(
    attempt: Attempt, found: MergedLines, read: dict[int, list[str]], limit: int
) -> MergedLines:
    now = read_merged(attempt, found.next, limit, open_bytes=4096)
    times = [one.line.ts_ns for one in now.lines]
    assert times == sorted(times)
    for one in now.lines:
        read[one.rank].append(one.line.text)
    return now


def test_a_reader_may_begin_near_the_end(attempt: Attempt) -> None:
    body = frames.encode(Frame(1, 0, 5 + one, 1, f"line {one}\n".encode()) for one in range(100))
    logs.append(attempt, 0, body, 1)
    found = read_merged(attempt, tails(attempt, 15), 1000)
    assert [one.line.text for one in found.lines][-1] == "line 99"
    assert len(found.lines) == 2
    assert not found.eof


def test_an_attempt_that_is_over_ends_though_a_rank_never_came_up(attempt: Attempt) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(state=states.FAILED)
    attempt.refresh_from_db()
    assert read_merged(attempt, {}, 1000).eof


@pytest.mark.parametrize("after", ["x", "1:2", "0:-1:0", "0:1:2,", "9" * 30_000])
def test_a_position_that_no_answer_gave_is_refused(attempt: Attempt, after: str) -> None:
    api = APIClient()
    api.force_authenticate(make_member(attempt.run.project, "viewer"))
    address = f"/api/v1/runs/{attempt.run_id}/logs/merged/"
    assert api.get(address).json()["lines"] == []
    answer = api.get(address, {"after": after})
    assert answer.status_code == 400
    assert "after" in answer.json()["errors"]
    stranger = APIClient()
    stranger.force_authenticate(make_member(make_project("other"), "admin"))
    assert stranger.get(address).status_code == 404
