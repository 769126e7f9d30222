"""The program `atom-agent` as a process, against a server that speaks the protocol."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from atom_agent.errors import SettingError
from atom_agent.settings import settings_of
from tests.agent.wire import (
    PROJECT,
    ControlServer,
    agent_env,
    fetch_of,
    origin_of,
    pack_of,
    wait_until,
)

DATA = os.urandom(1 << 20)


@contextmanager
def running(env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "atom_agent.main", "run"]
    process = subprocess.Popen(command, env={**env, "PYTHONPATH": os.pathsep.join(sys.path)})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_killed_agent_leaves_no_half_pack_and_fetches_anew(
    tmp_path: Path, control: ControlServer
) -> None:
    env = agent_env(tmp_path, control)
    project = tmp_path / "cache" / PROJECT
    with origin_of(DATA) as origin:
        control.order(fetch_of(DATA, origin.source(DATA), rate=10_000))
        with running(env) as process:
            wait_until(lambda: list(project.glob("incoming/*")))
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert list(project.glob("incoming/*"))
        assert not list(project.glob("packs/*"))
        order = fetch_of(DATA, origin.source(DATA))
        control.order(order)
        with running(env) as process:
            wait_until(lambda: control.results("done"))
            control.is_away = True
            wait_until(lambda: not list(project.glob("incoming/*")))
            control.is_away, control.send_packs = False, True
            wait_until(lambda: (control.reports[-1]["packs"] or {}).get(PROJECT))
            process.terminate()
            assert process.wait(15) == 0
    assert control.results("done")[0]["fetch"] == order.id
    assert (project / "packs" / f"{pack_of(DATA).digest}.tar").read_bytes() == DATA
    assert len(control.joins) == 2


def test_a_refused_token_and_recorded_cards(tmp_path: Path, control: ControlServer) -> None:
    event = {"gpu": "GPU-1", "xid": 79, "at": "2026-01-01T00:00:00+00:00"}
    cards = tmp_path / "cards"
    cards.write_text(json.dumps({"gpus": [{"uuid": "GPU-1"}], "xid_events": [event]}))
    with running(agent_env(tmp_path, control, ATOM_AGENT_CARDS_FILE=str(cards))):
        wait_until(lambda: len(control.reports) >= 2)
        control.token = "another"
        wait_until(lambda: len(control.joins) >= 2)
    assert control.reports[0]["xid_events"] == [event]
    assert control.reports[1]["xid_events"] == []
    assert control.reports[1]["gpus"] == [{"uuid": "GPU-1"}]


def test_the_lower_limit_of_node_and_server_counts(tmp_path: Path, control: ControlServer) -> None:
    control.limit_bytes = 5000
    env = agent_env(tmp_path, control, ATOM_AGENT_CACHE_LIMIT="2000")

    def limits() -> list[int | None]:
        return [report["disk"]["limit_bytes"] for report in list(control.reports)]

    with running(env):
        wait_until(lambda: 2000 in limits())
        control.limit_bytes = 1000
        wait_until(lambda: 1000 in limits())
        control.limit_bytes = None
        wait_until(lambda: limits()[-1] == 2000)


def test_a_wrong_setting_is_named(tmp_path: Path, control: ControlServer) -> None:
    env = agent_env(tmp_path, control)
    for name, value in [
        ("ATOM_API_URL", ""),
        ("ATOM_AGENT_CLUSTER", "west"),
        ("ATOM_AGENT_POD_IP", "name"),
        ("ATOM_AGENT_PORT", "0"),
        ("ATOM_AGENT_CACHE", "relative"),
        ("ATOM_AGENT_CACHE_LIMIT", "2GB"),
    ]:
        with pytest.raises(SettingError, match=name):
            settings_of({**env, name: value})
