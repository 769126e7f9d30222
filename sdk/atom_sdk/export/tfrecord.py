"""TFRecord files of tf.train.Example messages, without TensorFlow.

A record is its length (uint64, little-endian), the masked CRC-32C of those 8 bytes, the data, and
the masked CRC-32C of the data. The protobuf messages used are Example { Features features = 1 },
Features { map<string, Feature> feature = 1 }, Feature { BytesList = 1 or Int64List = 3 }.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import BinaryIO

from atom_sdk.errors import ExportError

_MASK_DELTA = 0xA282EAD8
_BYTES_LIST, _INT64_LIST = 1, 3


def write_record(file: BinaryIO, data: bytes) -> None:
    """Append one record."""
    length = struct.pack("<Q", len(data))
    file.write(length + _masked_crc(length))
    file.write(data)
    file.write(_masked_crc(data))


def encode_example(features: Mapping[str, bytes | int]) -> bytes:
    """A tf.train.Example with one value per feature."""
    entries = b"".join(
        _message(1, _message(1, name.encode()) + _message(2, _feature(value)))
        for name, value in features.items()
    )
    return _message(1, entries)


def _feature(value: bytes | int) -> bytes:
    if isinstance(value, int):
        # Packed: a list of one varint. Negative numbers are written modulo 2**64.
        return _message(_INT64_LIST, _message(1, _varint(value % 2**64)))
    return _message(_BYTES_LIST, _message(1, value))


def _message(field: int, data: bytes) -> bytes:
    """A length-delimited field."""
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _masked_crc(data: bytes) -> bytes:
    try:
        import google_crc32c
    except ImportError as error:
        raise ExportError(
            "TFRecord needs the package google-crc32c: pip install 'atom-sdk[tfrecord]'."
        ) from error
    crc: int = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF)
