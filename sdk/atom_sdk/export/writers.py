"""One writer per format: the samples of a shard, streamed into a file."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from atom_sdk.export.tfrecord import encode_example, write_record
from atom_sdk.readers import Sample

Writer = Callable[[Path, Iterable[Sample]], None]
_ROW_GROUP_BYTES = 16 << 20
_SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("bytes", pa.large_binary(), nullable=False),
        pa.field("label", pa.string()),
        pa.field("split", pa.string()),
    ]
)


def write_webdataset(path: Path, samples: Iterable[Sample]) -> None:
    """A tar file with the sample, its label's number and its description, under one key each."""
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for sample in samples:
            key = f"{sample.row:09d}"
            suffix = PurePosixPath(sample.path).suffix.lower().lstrip(".") or "bin"
            # These two names are taken by what is said about the sample.
            suffix = f"data.{suffix}" if suffix in ("cls", "json") else suffix
            _add(tar, f"{key}.{suffix}", sample.data)
            if sample.label is not None:
                _add(tar, f"{key}.cls", str(sample.label_code).encode())
            about = {"path": sample.path, "label": sample.label, "split": sample.split}
            _add(tar, f"{key}.json", json.dumps(about, ensure_ascii=False).encode())


def write_tfrecord(path: Path, samples: Iterable[Sample]) -> None:
    """A TFRecord file with one tf.train.Example per sample."""
    with path.open("wb") as file:
        for sample in samples:
            features: dict[str, bytes | int] = {
                "path": sample.path.encode(),
                "bytes": bytes(sample.data),
            }
            if sample.label is not None:
                features["label"] = sample.label_code
                features["label_text"] = sample.label.encode()
            if sample.split is not None:
                features["split"] = sample.split.encode()
            write_record(file, encode_example(features))


def write_parquet(path: Path, samples: Iterable[Sample]) -> None:
    """A Parquet file; what is compressed already stays as it is."""
    compression = {name: "none" if name == "bytes" else "zstd" for name in _SCHEMA.names}
    with pq.ParquetWriter(path, _SCHEMA, compression=compression, use_dictionary=False) as writer:
        for rows in _groups(samples):
            writer.write_table(pa.Table.from_pylist(rows, _SCHEMA))


def _groups(samples: Iterable[Sample]) -> Iterator[list[dict[str, object]]]:
    rows: list[dict[str, object]] = []
    size_bytes = 0
    for sample in samples:
        data = bytes(sample.data)
        rows.append(
            {"path": sample.path, "bytes": data, "label": sample.label, "split": sample.split}
        )
        size_bytes += len(data)
        if size_bytes >= _ROW_GROUP_BYTES:
            yield rows
            rows, size_bytes = [], 0
    if rows:
        yield rows


def _add(tar: tarfile.TarFile, name: str, data: bytes | memoryview) -> None:
    # Without times and owners: the same version gives the same bytes.
    header = tarfile.TarInfo(name)
    header.size = len(data)
    tar.addfile(header, io.BytesIO(data))
