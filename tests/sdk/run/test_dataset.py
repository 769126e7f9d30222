"""A run's datasets by alias and split, from real packs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atom_sdk import run
from atom_sdk.manifests import (
    Entry,
    MemoryObjectStore,
    ViewSelector,
    build_root,
    build_view,
    entries_table,
    layer_table,
    write_layer,
)
from atom_sdk.packs import PackStore
from atom_sdk.readers.unsplit import UnsplitFilesWarning
from tests.sdk.packs.strategies import packed

FILES = {f"{number % 2}/{number:02d}.txt": b"%d" % number for number in range(20)}


def view(folder: Path, splits: dict[str, str], selector: ViewSelector | None = None) -> None:
    """Write packs, a view index and the file that the runner points to."""
    objects, store = MemoryObjectStore(), PackStore(folder / "cache")
    data, summary = packed(FILES)
    store.fill(summary.digest, [data])
    entries = [
        Entry(one.path, one.size, one.digest, None, None, summary.digest, one.offset)
        for one in summary.members
    ]
    digests = {entry.path: entry.digest for entry in entries}
    root = build_root([entries_table(entries)], objects)
    labels = [
        {"path": path, "digest": digests[path], "label": path[0], "source": "folder"}
        for path in FILES
    ]
    layers = [
        write_layer("folder", "classification", layer_table("classification", labels), objects)
    ]
    if splits:
        rows = [{"path": p, "digest": digests[p], "value": value} for p, value in splits.items()]
        layers.append(write_layer("split", "split", layer_table("split", rows), objects))
    build_view(root.with_layers(*layers), objects, folder / "view.arrow", selector)
    datasets = {"digits": {"index_path": str(folder / "view.arrow"), "pack_dir": str(store.packs)}}
    (folder / "datasets.json").write_text(json.dumps(datasets))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATOM_DATASETS", str(tmp_path / "datasets.json"))
    return tmp_path


def test_a_split_holds_its_samples_only(folder: Path) -> None:
    test = {path for number, path in enumerate(sorted(FILES)) if number % 5 == 0}
    view(folder, {path: "test" if path in test else "train" for path in FILES})
    samples = run.dataset("digits", split="test")
    assert {sample.path for sample in samples} == test
    assert bytes(samples[0].data) == FILES[samples[0].path]
    assert [samples.classes[code] for code in samples.label_codes] == [s.label for s in samples]
    assert len(run.dataset("digits", split="train")) == 16
    assert len(run.dataset()) == 20


def test_what_has_no_split_belongs_to_train(folder: Path) -> None:
    view(folder, {"0/00.txt": "test"})
    with pytest.warns(UnsplitFilesWarning, match=r"19 files in no split .*'0/02\.txt'"):
        assert len(run.dataset("digits", split="train")) == 19
    assert len(run.dataset("digits", split="test")) == 1


def test_without_splits_everything_is_train(folder: Path) -> None:
    view(folder, {})
    assert len(run.dataset("digits", split="train")) == 20
    assert len(run.dataset("digits", split="test")) == 0


def test_a_wrong_alias_names_the_right_ones(folder: Path) -> None:
    view(folder, {})
    with pytest.raises(run.UnknownAliasError, match="It has: digits"):
        run.dataset("numbers")
