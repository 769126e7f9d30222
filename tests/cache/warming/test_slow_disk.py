"""A slow disk, and one that falls silent: what is stored on it waits, is whole, and is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from django.db import connection
from rest_framework.test import APIClient

from atom.cache.backends.local.paths import pack_store
from atom.cache.delivery.actions.views import view_for
from atom.cache.models import CacheRecord
from atom.cache.warming.actions.warming import request_warm
from atom.clusters.models import Node
from atom.core import faults, heartbeats, service_state
from atom.datasets.catalog.reads import packs_of
from atom_sdk.readers import LocalDataset
from tests.cache.slow_disk import SlowDisk, slow_disk
from tests.cache.warming.test_warming import version_of
from tests.datasets.pushing import Pusher, class_files
from tests.sdk.mount.conftest import why_not

pytestmark = pytest.mark.skipif(why_not("fuse") is not None, reason=str(why_not("fuse")))
DELAY_S = 0.02


@pytest.fixture
def disk(tmp_path: Path, settings: Any) -> Iterator[SlowDisk]:
    """ATOM_HOME is on it."""
    with slow_disk(tmp_path / "disk", tmp_path / "home", DELAY_S) as mounted:
        settings.ATOM_HOME = mounted.folder
        yield mounted


def warm_up(pusher: Pusher, node: Node) -> threading.Thread:
    """Begin to bring the version here."""

    def run() -> None:
        request_warm(version_of(pusher), node)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def whole_files(pusher: Pusher, node: Node) -> dict[str, bytes]:
    """All files as a job reads them, from a pack that is what it is called."""
    [pack] = packs_of(version_of(pusher))
    path = pack_store(pusher.project).path(bytes.fromhex(pack))
    assert blake3(path.read_bytes()).hexdigest() == pack
    view = view_for(version_of(pusher), node)
    dataset = LocalDataset(view.index_path, view.pack_dir)
    return {sample.path: bytes(sample.data) for sample in dataset}


@pytest.mark.django_db(transaction=True)
def test_a_slow_disk_warms_slowly_and_whole(disk: SlowDisk, pusher: Pusher, node: Node) -> None:
    warm_up(pusher, node).join()
    assert CacheRecord.objects.get().state == "warm"
    assert whole_files(pusher, node) == class_files()


@pytest.mark.django_db(transaction=True)
def test_a_disk_that_falls_silent_holds_a_warm_up_and_breaks_nothing(
    disk: SlowDisk, pusher: Pusher, node: Node
) -> None:
    pack_store(pusher.project)
    with disk.silent():
        thread = warm_up(pusher, node)
        thread.join(1.0)
        assert thread.is_alive()
    thread.join()
    assert CacheRecord.objects.get().state == "warm"
    assert whole_files(pusher, node) == class_files()


@pytest.mark.django_db
def test_a_silent_disk_is_told_until_it_answers(disk: SlowDisk, settings: Any) -> None:
    faults.forget()
    settings.ATOM_PROBE_WITHIN_S = 1.0
    heartbeats.give_sign(heartbeats.WORKER)
    heartbeats.give_sign(heartbeats.BEAT)

    def fault_codes() -> list[str]:
        service_state.kept.forget()
        return [one["code"] for one in APIClient().get("/api/v1/state/").json()["faults"]]

    assert fault_codes() == []
    with disk.silent():
        assert fault_codes() == ["disk_silent"]
    # The question that it held up is answered first.
    while fault_codes():
        time.sleep(0.1)
