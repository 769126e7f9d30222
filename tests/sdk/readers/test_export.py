"""A dataset in the formats of others, read back by decoders that are not ours."""

from __future__ import annotations

import json
import struct
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from blake3 import blake3

from atom_sdk.client.progress import Silent
from atom_sdk.errors import ExportError
from atom_sdk.export import FORMATS, ExportResult, export_dataset
from atom_sdk.export.shards import plan_shards
from atom_sdk.export.tfrecord import encode_example, write_record
from tests.sdk.readers.conftest import Node

SHARD_BYTES = 200_000


def _export(node: Node, folder: Path, file_format: str) -> ExportResult:
    return export_dataset(node.open(), folder, file_format, Silent(), SHARD_BYTES)


def _records(path: Path) -> Iterator[bytes]:
    """Records of a TFRecord file; checksums by the bit-wise definition of CRC-32C."""
    data = path.read_bytes()
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        head, body = data[at : at + 8], data[at + 12 : at + 12 + length]
        assert struct.unpack_from("<I", data, at + 8)[0] == _masked(head)
        if length < 500:
            assert struct.unpack_from("<I", data, at + 12 + length)[0] == _masked(body)
        yield body
        at += 16 + length


def _masked(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a protobuf message."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        assert tag & 7 == 2
        length, at = _number(data, at)
        yield tag >> 3, data[at : at + length]
        at += length


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _example(data: bytes) -> dict[str, bytes | int]:
    found: dict[str, bytes | int] = {}
    ((_, features),) = _fields(data)
    for _, entry in _fields(features):
        (_, name), (_, feature) = _fields(entry)
        ((kind, values),) = _fields(feature)
        ((_, value),) = _fields(values)
        found[name.decode()] = value if kind == 1 else _number(value, 0)[0]
    return found


def test_a_folder_has_the_files(node: Node, tmp_path: Path) -> None:
    done = _export(node, tmp_path / "out", "folder")
    assert done == ExportResult(300, 300, 300)
    found = {
        path.relative_to(tmp_path / "out").as_posix(): path.read_bytes()
        for path in (tmp_path / "out").rglob("*.bin")
    }
    assert found == node.files
    (tmp_path / "out" / "1" / "é 100.bin").write_bytes(b"changed")
    assert _export(node, tmp_path / "out", "folder").written == 1


def test_tfrecords_hold_every_sample_with_its_label(node: Node, tmp_path: Path) -> None:
    done = _export(node, tmp_path / "out", "tfrecord")
    assert done.files > 3
    shards = sorted((tmp_path / "out").glob("part-*.tfrecord"))
    examples = [_example(record) for shard in shards for record in _records(shard)]
    assert {bytes(e["path"]).decode(): e["bytes"] for e in examples} == node.files  # type: ignore[arg-type]
    expected = {sample.path: (sample.label, sample.label_code) for sample in node.open()}
    for example in examples:
        label, code = expected[bytes(example["path"]).decode()]  # type: ignore[arg-type]
        assert example.get("label", -1) == code
        assert example.get("label_text") == (label.encode() if label else None)


def test_a_record_is_as_tensorflow_writes_it(tmp_path: Path) -> None:
    # Example(features={"a": int64_list [5], "b": bytes_list [b"xy"]}), encoded by hand.
    expected = b"\x0a\x19\x0a\x0a\x0a\x01a\x12\x05\x1a\x03\x0a\x01\x05"
    expected += b"\x0a\x0b\x0a\x01b\x12\x06\x0a\x04\x0a\x02xy"
    encoded = encode_example({"a": 5, "b": b"xy"})
    assert encoded == expected
    with (tmp_path / "one").open("wb") as file:
        write_record(file, encoded)
    assert list(_records(tmp_path / "one")) == [encoded]


def test_webdataset_shards_have_the_sample_its_class_and_its_path(
    node: Node, tmp_path: Path
) -> None:
    _export(node, tmp_path / "out", "webdataset")
    found: dict[str, dict[str, bytes]] = {}
    for shard in sorted((tmp_path / "out").glob("part-*.tar")):
        with tarfile.open(shard) as tar:
            for member in tar:
                key, _, suffix = member.name.partition(".")
                file = tar.extractfile(member)
                assert file is not None
                found.setdefault(key, {})[suffix] = file.read()
    assert len(found) == 300
    classes = json.loads((tmp_path / "out" / "_export.json").read_text())["classes"]
    for sample in found.values():
        about = json.loads(sample["json"])
        assert sample["bin"] == node.files[about["path"]]
        assert ("cls" in sample) == (about["label"] is not None)
        if "cls" in sample:
            assert classes[int(sample["cls"])] == about["label"]


def test_parquet_has_a_row_per_sample(node: Node, tmp_path: Path) -> None:
    _export(node, tmp_path / "out", "parquet")
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert {row["path"]: row["bytes"] for row in rows} == node.files
    assert {row["split"] for row in rows} == {"train", "test"}
    assert {row["label"] for row in rows} == {"class 0", "class 1", None}


@pytest.mark.parametrize("file_format", [name for name in FORMATS if name != "folder"])
def test_an_export_goes_on_where_it_stopped(node: Node, tmp_path: Path, file_format: str) -> None:
    out = tmp_path / "out"
    whole = _export(node, out, file_format)
    shards = sorted(out.glob("part-*"))
    digests = [blake3(shard.read_bytes()).digest() for shard in shards]
    shards[2].unlink()
    (out / f".{shards[2].name}.part").write_bytes(b"half")
    again = _export(node, out, file_format)
    assert 0 < again.written < whole.samples
    assert [blake3(shard.read_bytes()).digest() for shard in shards] == digests
    assert sorted(out.glob(".*")) == []


def test_an_export_of_something_else_is_not_mixed_in(node: Node, tmp_path: Path) -> None:
    _export(node, tmp_path, "parquet")
    with pytest.raises(ExportError, match="something else"):
        _export(node, tmp_path, "tfrecord")
    (tmp_path / "_export.json").write_text("no")
    with pytest.raises(ExportError, match="not the plan"):
        _export(node, tmp_path, "parquet")
    with pytest.raises(ExportError, match="none of"):
        _export(node, tmp_path, "zip")


def test_shards_keep_the_order_and_every_sample() -> None:
    sizes = np.array([0, 5, 5, 20, 0, 1, 30, 1], np.int64)
    shards = plan_shards(sizes, 10)
    assert [row for shard in shards for row in shard] == list(range(8))
    assert all(len(shard) for shard in shards)
    assert plan_shards(sizes[:0], 10) == []
    with pytest.raises(ExportError):
        plan_shards(sizes, 0)
