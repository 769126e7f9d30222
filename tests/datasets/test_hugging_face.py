"""`atom://` addresses in the hands of Hugging Face's `datasets`, whole and streamed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atom_sdk.client import Client
from atom_sdk.fs import AtomFileSystem
from tests.datasets.pushing import Pusher, png

ROWS = [{"n": n, "text": f"row {n}"} for n in range(20)]


def parquet(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out, row_group_size=5)
    return out.getvalue()


@pytest.fixture
def root(
    client: Client, pusher: Pusher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The address of a dataset with tables and folders of images."""
    pusher.push(
        {
            "x.parquet": parquet(ROWS),
            "parts/0.parquet": parquet(ROWS[:10]),
            "parts/1.parquet": parquet(ROWS[10:]),
            "x.csv": b"n,text\n" + b"".join(b"%d,row %d\n" % (n, n) for n in range(20)),
            "x.jsonl": b"".join(b'{"n": %d, "text": "row %d"}\n' % (n, n) for n in range(20)),
            "train/cat/a.png": png(1),
            "train/dog/b.png": png(2),
            "test/cat/c.png": png(3),
        }
    )
    for name in ("url", "token", "project"):
        monkeypatch.setenv(f"ATOM_{name.upper()}", getattr(client.config, name))
    from datasets import config

    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "hugging-face")
    monkeypatch.setattr(config, "DOWNLOADED_DATASETS_PATH", tmp_path / "hugging-face/downloads")
    yield f"atom://{pusher.project.slug}/digits"
    forget_branches()


def forget_branches() -> None:
    """Do what a new process does: see where branches are now."""
    fsspec.filesystem("atom").close()
    AtomFileSystem.clear_instance_cache()


def test_hugging_face_reads_tables_and_folders_of_images(root: str, pusher: Pusher) -> None:
    from datasets import load_dataset

    def rows(kind: str, path: str, *, streaming: bool) -> list[Any]:
        address = f"{root}@v1/{path}"
        loaded = load_dataset(kind, data_files=address, split="train", streaming=streaming)
        return list(loaded)

    for streaming in (False, True):
        for kind, path in (
            ("parquet", "x.parquet"),
            ("parquet", "parts/*.parquet"),
            ("csv", "x.csv"),
            ("json", "x.jsonl"),
        ):
            assert rows(kind, path, streaming=streaming) == ROWS, (path, streaming)
        folders = {split: f"{root}@v1/{split}/**" for split in ("train", "test")}
        images = load_dataset("imagefolder", data_files=folders, streaming=streaming)
        named = images["train"].features["label"]
        found = sorted((named.int2str(row["label"]), row["image"].size) for row in images["train"])
        assert found == [("cat", (8, 8)), ("dog", (8, 8))]
        assert [row["label"] for row in images["test"]] == [named.str2int("cat")]


def test_a_branch_is_read_anew_when_its_etag_is_asked_for(root: str, pusher: Pusher) -> None:
    from datasets import DownloadConfig, load_dataset

    def first() -> Any:
        forget_branches()
        # Without it, the library keeps what it downloaded by the address alone.
        asking = DownloadConfig(use_etag=True)
        path = f"{root}@main/x.parquet"
        return load_dataset("parquet", data_files=path, split="train", download_config=asking)[0]

    assert first() == ROWS[0]
    pusher.push({"x.parquet": parquet(ROWS[1:])})
    assert first() == ROWS[1]
