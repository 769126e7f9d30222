"""The file of a process's main loop: beat, workers and watchers touch it."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from atom.core import heartbeats
from atom.core.heartbeats import Signs
from atom.jobs.executors.kubernetes.watchers import Watchers


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "alive"
    monkeypatch.setenv("ATOM_ALIVE_FILE", str(path))
    return path


def test_workers_and_beat_touch_it_with_their_signs_and_not_oftener(file: Path) -> None:
    signs = Signs(heartbeats.WORKER)
    signs()
    os.utime(file, (0, 0))
    signs()
    assert file.stat().st_mtime == 0
    Signs(heartbeats.BEAT)()
    assert file.stat().st_mtime > 0


@pytest.mark.django_db
def test_watchers_touch_it_with_each_turn(file: Path) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    is_over = threading.Event()

    def end_after_a_turn() -> None:
        # Before the first turn, the signal would end this process.
        while not file.exists() and not is_over.wait(0.01):
            pass
        if not is_over.is_set():
            os.kill(os.getpid(), signal.SIGTERM)

    ending = threading.Thread(target=end_after_a_turn)
    ending.start()
    try:
        Watchers().run()
    finally:
        is_over.set()
        ending.join()
        for number, handler in before.items():
            signal.signal(number, handler)
    assert file.exists()


def test_a_process_that_nobody_probes_touches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ATOM_ALIVE_FILE", raising=False)
    monkeypatch.chdir(tmp_path)
    Signs(heartbeats.WORKER)()
    assert list(tmp_path.iterdir()) == []
