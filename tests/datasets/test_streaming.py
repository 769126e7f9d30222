"""The SDK's streaming reader against the real API and the real store."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.readers.streaming import StreamingDataset
from tests.datasets.pushing import Pusher, class_files, delete_row, make_pack, png, put_rows


def test_a_version_is_read_before_it_is_here(
    pusher: Pusher, client: Client, tmp_path: Path
) -> None:
    files = class_files()
    pusher.push(files)
    dataset = client.datasets.open("digits@main", stream=True)
    assert isinstance(dataset, StreamingDataset)
    assert dataset.missing_packs() == dataset.index.packs

    # A branch that moves does not change what is being read.
    pusher.push({"new.png": png(99)})
    again = pickle.loads(pickle.dumps(dataset))
    assert {sample.path: bytes(sample.data) for sample in again.iter_shuffled(1, 0)} == files
    assert dataset.missing_packs() == []
    assert len(client.datasets.open("digits@v1")) == len(files)


def test_the_same_content_in_other_packs_is_read_from_these(pusher: Pusher, client: Client) -> None:
    pusher.push({"a.png": png(1)})
    pusher.push({"b.png": png(2)})
    client.datasets.open("digits@v2", stream=True)

    assert pusher.commit([delete_row("b.png")])["state"] == "published"
    anew = make_pack({"b.png": png(2), "beside.png": png(3)})
    pusher.stage(anew.data)
    assert pusher.commit(put_rows(anew)[:1])["version"]["ref"] == "v4"

    found = client.datasets.open("digits@v4")
    assert {sample.path: bytes(sample.data) for sample in found} == {
        "a.png": png(1),
        "b.png": png(2),
    }
    assert bytes.fromhex(anew.digest) in found.index.packs


def test_a_pulled_version_is_bounded_too(
    pusher: Pusher, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pusher.push(class_files())
    monkeypatch.setenv("ATOM_CACHE_BYTES", "0")
    held = client.datasets.open("digits@v1")
    assert held.missing_packs() == []
    client.datasets.pull("digits@v1", tmp_path / "copy")
    assert held.missing_packs() == []
    assert len(list(held)) == len(class_files())
    del held
    client.datasets.pull("digits@v1", tmp_path / "again")
    assert list((tmp_path / "cache" / "packs").iterdir()) == []


def test_a_version_is_exported_by_the_command_line(
    pusher: Pusher, client: Client, tmp_path: Path
) -> None:
    pusher.push(class_files())
    context = Context()
    context._client = client
    out = str(tmp_path / "out")
    command = ["data", "export", "digits@v1", out, "--format", "parquet", "--json"]
    done = CliRunner().invoke(cli, command, obj=context)
    assert done.exit_code == 0, (done.stderr, done.exception)
    assert (done.exit_code, json.loads(done.stdout)["written"]) == (0, len(class_files()))
    rows = pq.read_table(out).to_pylist()
    assert {row["path"]: row["bytes"] for row in rows} == class_files()
    assert json.loads(CliRunner().invoke(cli, command, obj=context).stdout)["written"] == 0
