"""Parts of real agents on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from atom_agent.packs import NodePacks
from atom_agent.peers import PeerServer
from atom_agent.sources import Sources
from tests.agent.wire import KEY, ControlServer, control_server


@pytest.fixture
def packs(tmp_path: Path) -> NodePacks:
    return NodePacks(tmp_path / "cache")


@pytest.fixture
def sources() -> Iterator[Sources]:
    reader = Sources(stall_s=0.5)
    yield reader
    reader.close()


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[PeerServer]:
    with PeerServer(NodePacks(tmp_path / "peer"), "127.0.0.1", 0, 2) as server:
        server.key = KEY
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def control() -> Iterator[ControlServer]:
    with control_server() as server:
        yield server
