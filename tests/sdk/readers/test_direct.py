"""Reading without maps, for data that exceeds memory."""

from __future__ import annotations

import errno
import mmap
import os
import pickle
from pathlib import Path

import pytest

from atom_sdk import errors
from atom_sdk.readers import LocalDataset, local
from atom_sdk.readers.descriptors import Mode
from atom_sdk.readers.memory_limit import _cgroup_bytes, available_bytes
from tests.sdk.readers.conftest import Node


def _open(node: Node, mode: local.ReadMode) -> LocalDataset:
    return LocalDataset(node.index, node.store.packs, mode=mode)


@pytest.mark.filterwarnings("ignore:The file system of the packs refuses")
@pytest.mark.parametrize("mode", ["pread", "direct"])
def test_every_mode_reads_the_same(node: Node, mode: Mode) -> None:
    dataset = _open(node, mode)
    assert {sample.path: bytes(sample.data) for sample in dataset} == node.files
    rows = [5, 5, 299, 0, -1, 17]
    for look_ahead in (0, 1, 64):
        read = [bytes(sample.data) for sample in dataset.read_many(rows, look_ahead)]
        assert read == [bytes(node.open()[row].data) for row in rows]
    assert pickle.loads(pickle.dumps(dataset)).mode == mode
    assert dataset[10].data.readonly
    with pytest.raises(IndexError):
        list(dataset.read_many([300]))


@pytest.mark.filterwarnings("ignore:The file system of the packs refuses")
@pytest.mark.parametrize("mode", ["pread", "direct"])
def test_damage_and_loss_are_found_in_every_mode(node: Node, mode: Mode) -> None:
    dataset = _open(node, mode)
    first, second = (dataset.index.packs[int(dataset.index.pack_ids[row])] for row in (0, -1))
    target = node.store.path(second)
    target.chmod(0o644)
    os.truncate(target, int(dataset.index.offsets[-1]) + 1)
    with pytest.raises(errors.SampleDigestMismatchError):
        dataset[-1]
    node.store.remove(first)
    with pytest.raises(errors.PackMissingError) as caught:
        list(dataset.read_many([0]))
    assert caught.value.path == dataset.index.path_of(0)


def test_a_file_system_without_direct_reads_is_read_otherwise(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def refuse(path: str, flags: int, mode: int = 0o777, **options: int) -> int:
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return opened(path, flags, mode, **options)

    monkeypatch.setattr(os, "open", refuse)
    dataset = _open(node, "direct")
    with pytest.warns(RuntimeWarning, match="refuses direct reads"):
        assert bytes(dataset[7].data) == node.files[dataset[7].path]


def test_maps_are_used_for_what_fits_into_memory(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _open(node, "auto").mode == "mmap"
    monkeypatch.setattr(local, "available_bytes", lambda: 1000)
    large = _open(node, "auto")
    assert large.mode == "pread"
    assert not isinstance(large[10].data.obj, mmap.mmap)
    with pytest.raises(ValueError, match="sometimes"):
        _open(node, "sometimes")  # type: ignore[arg-type]


def test_the_memory_of_a_container_counts(tmp_path: Path) -> None:
    assert 0 < available_bytes() < 1 << 62
    inner = tmp_path / "jobs" / "one"
    inner.mkdir(parents=True)
    assert _cgroup_bytes(tmp_path, "jobs/one") == 1 << 62
    (inner / "memory.max").write_text("max\n")
    (tmp_path / "jobs" / "memory.max").write_text("1000\n")
    (tmp_path / "jobs" / "memory.current").write_text("700\n")
    (tmp_path / "jobs" / "memory.stat").write_text("anon 200\nfile 500\n")
    assert _cgroup_bytes(tmp_path, "jobs/one") == 800
