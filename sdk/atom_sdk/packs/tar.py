"""Tar headers of a pack: ustar, with pax records for alignment, long paths and huge sizes.

The header of a member is a pure function of (path, size, position), so a set of files has exactly
one pack. Layout and rules: README.md beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

BLOCK_BYTES = 512
ALIGNMENT_BYTES = 4096
# Two zero blocks end a tar archive.
END_MARK_BYTES = 2 * BLOCK_BYTES

_MAX_NAME_BYTES = 100
_MAX_OCTAL_SIZE = 0o77777777777
_PAX_NAME = b"././@PaxHeader"
_BEFORE_SIZE = b"0000644\0" + b"0000000\0" * 2
_BEFORE_CHECKSUM = b"00000000000\0"
_AFTER_TYPE = bytes(100) + b"ustar\x0000" + bytes(64) + b"0000000\0" * 2 + bytes(167)
# The checksum counts its own eight bytes as spaces.
_FIXED_SUM = sum(_BEFORE_SIZE) + sum(_BEFORE_CHECKSUM) + sum(_AFTER_TYPE) + 8 * ord(" ")
_SMALLEST_COMMENT_BYTES = len(b"12 comment=\n")


def _ustar_header(name: bytes, size: int, type_flag: bytes) -> bytes:
    octal_size = b"%011o\0" % size
    checksum = _FIXED_SUM + sum(name) + sum(octal_size) + type_flag[0]
    return b"".join(
        (
            name.ljust(_MAX_NAME_BYTES, b"\0"),
            _BEFORE_SIZE,
            octal_size,
            _BEFORE_CHECKSUM,
            b"%06o\0 " % checksum,
            type_flag,
            _AFTER_TYPE,
        )
    )


def _pax_record(key: bytes, value: bytes) -> bytes:
    """One record: its length (which counts itself), key, value, line feed."""
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    if len(str(length)) > len(str(rest)):
        length += 1
    return b"%d %s=%s\n" % (length, key, value)


def _comment_record(length: int) -> bytes:
    """A comment of spaces that is exactly `length` bytes long, at least 12."""
    start = b"%d comment=" % length
    return start + b" " * (length - len(start) - 1) + b"\n"


def _records(path: bytes, size: int) -> bytes:
    """The pax records that the member needs beside the padding; mostly none."""
    records = b""
    if len(path) > _MAX_NAME_BYTES or not path.isascii():
        records += _pax_record(b"path", path)
    if size > _MAX_OCTAL_SIZE:
        records += _pax_record(b"size", b"%d" % size)
    return records


def _pax_body_bytes(records_bytes: int, position: int) -> int:
    """Length of the pax body that aligns the data, or 0 if no pax header is needed."""
    gap = -(position + BLOCK_BYTES) % ALIGNMENT_BYTES
    if not gap and not records_bytes:
        return 0
    body = gap - BLOCK_BYTES
    smallest = records_bytes + _SMALLEST_COMMENT_BYTES
    while body < smallest:
        body += ALIGNMENT_BYTES
    return body


@cache
def _padding_header(body_bytes: int) -> bytes:
    return _ustar_header(_PAX_NAME, body_bytes, b"x") + _comment_record(body_bytes)


def member_head(path: bytes, size: int, position: int) -> bytes:
    """Header bytes of a member that starts at `position`; its data follows, aligned."""
    records = _records(path, size)
    body = _pax_body_bytes(len(records), position)
    name = path
    if not records:
        pax = _padding_header(body) if body else b""
    else:
        pax = _ustar_header(_PAX_NAME, body, b"x") + records + _comment_record(body - len(records))
        name = path[:_MAX_NAME_BYTES].decode("ascii", "replace").encode("ascii", "replace")
    return pax + _ustar_header(name[:_MAX_NAME_BYTES], size if size <= _MAX_OCTAL_SIZE else 0, b"0")


def member_bytes(path: bytes, size: int, position: int) -> int:
    """Length of head, data and padding of a member that starts at `position`."""
    body = _pax_body_bytes(len(_records(path, size)), position)
    head = BLOCK_BYTES + (BLOCK_BYTES + body if body else 0)
    return head + size + data_padding_bytes(size)


def data_padding_bytes(size: int) -> int:
    """Zero bytes after `size` bytes of data, up to the next block."""
    return -size % BLOCK_BYTES


def end_bytes(position: int) -> int:
    """Zero bytes after the last member: the end mark, then up to the alignment."""
    return END_MARK_BYTES + -(position + END_MARK_BYTES) % ALIGNMENT_BYTES


@dataclass(frozen=True, slots=True)
class Header:
    """The fields of one 512-byte header that a pack uses."""

    name: bytes
    size: int
    type_flag: bytes


def parse_header(block: bytes) -> Header:
    """Read one header block. Raises ValueError with a plain reason if it is corrupt."""
    if block[257:265] != b"ustar\x0000":
        raise ValueError("it is not a ustar header")
    stored = _octal(block[148:156].rstrip(b"\0 "), "checksum")
    if stored != sum(block) - sum(block[148:156]) + 8 * ord(" "):
        raise ValueError("its checksum is wrong")
    name = block[:_MAX_NAME_BYTES].rstrip(b"\0")
    return Header(name, _octal(block[124:135], "size"), block[156:157])


def _octal(field: bytes, what: str) -> int:
    if not field or field.strip(b"01234567"):
        raise ValueError(f"its {what} is not an octal number")
    return int(field, 8)


def parse_pax_records(body: bytes) -> dict[bytes, bytes]:
    """Read the records of a pax header. Raises ValueError with a plain reason."""
    records: dict[bytes, bytes] = {}
    position = 0
    while position < len(body):
        digits, space, _ = body[position : position + 20].partition(b" ")
        if not space or not digits.isdigit():
            raise ValueError("a pax record has no length")
        end = position + int(digits)
        record = body[position + len(digits) + 1 : end]
        key, equals, value = record.partition(b"=")
        if end > len(body) or not equals or not value.endswith(b"\n"):
            raise ValueError("a pax record is cut")
        records[key] = value[:-1]
        position = end
    return records
