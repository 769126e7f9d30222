"""A pack holds samples of one split, so that a training job is given no test sample."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from atom.datasets.catalog.reads import open_root
from atom.datasets.catalog.stores import version_store
from atom.datasets.models import Version
from atom_sdk.client import Client
from atom_sdk.client.errors import CommitFailedError
from atom_sdk.client.push import PushOptions
from atom_sdk.manifests import ViewSelector, build_view
from atom_sdk.readers.view import ViewIndex
from tests.datasets.pushing import png

SPLIT = {"test": 3, "val": 2, "seed": 7, "stratify": True}


def drawing(split: dict[str, Any]) -> PushOptions:
    """Return the options of a push that draws splits, with labels from class folders."""
    return PushOptions(labels_from="folder", split=split)


def splits_by_pack(version: dict[str, Any], scratch: Path) -> dict[bytes, set[str]]:
    """Return which splits each pack of a version holds samples of."""
    row = Version.objects.select_related("dataset__project").get(commit=version["commit"])
    path = scratch / f"{row.ref}.arrow"
    build_view(open_root(row), version_store(row.dataset.project).store, path, ViewSelector())
    view = ViewIndex(path)
    found = defaultdict(set)
    for pack, split in zip(view.pack_ids.tolist(), view.split_codes.tolist(), strict=True):
        found[view.packs[pack]].add(view.splits[split] if split >= 0 else "none")
    return found


@pytest.mark.parametrize("stratify", [True, False])
def test_a_push_that_draws_splits_packs_them_apart(
    client: Client, folder: Path, tmp_path: Path, stratify: bool
) -> None:
    split = {**SPLIT, "stratify": stratify}
    first = client.datasets.push(folder, "digits", drawing(split))

    packs = splits_by_pack(first.version, tmp_path)

    assert sorted(map(sorted, packs.values())) == [["test"], ["train"], ["val"]]


@pytest.mark.pushed(labels_from="folder", split=SPLIT)
def test_later_changes_stay_with_their_splits(client: Client, folder: Path, tmp_path: Path) -> None:
    for path in folder.rglob("*.png"):
        path.write_bytes(png(int(path.stem) + 10 * int(path.parent.name) + 5000))
    (folder / "0" / "new.png").write_bytes(png(9999))

    second = client.datasets.push(folder, "digits")

    packs = splits_by_pack(second.version, tmp_path)
    assert sorted(map(sorted, packs.values())) == [["test"], ["train"], ["val"]]


@pytest.mark.pushed(labels_from="folder", split=SPLIT)
def test_a_split_that_grows_takes_whole_packs(client: Client, folder: Path, tmp_path: Path) -> None:
    """Samples that were in `train` are drawn now: their packs cannot be told apart any more."""
    for number in range(6):
        (folder / "2" / f"more{number}.png").write_bytes(png(7000 + number))

    grown = client.datasets.push(folder, "digits", drawing({**SPLIT, "test": 6}))

    packs = splits_by_pack(grown.version, tmp_path)
    assert sum(splits == {"test"} for splits in packs.values()) >= 2


def test_without_splits_there_is_one_pack(client: Client, folder: Path, tmp_path: Path) -> None:
    plain = client.datasets.push(folder, "digits")

    assert plain.packs_sent == 1
    assert list(splits_by_pack(plain.version, tmp_path).values()) == [{"none"}]


def test_a_split_that_is_too_large_is_refused_by_the_server(client: Client, folder: Path) -> None:
    with pytest.raises(CommitFailedError, match="split_impossible"):
        client.datasets.push(folder, "digits", drawing({"test": 1000}))
