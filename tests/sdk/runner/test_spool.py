"""Frames on disk: read on from any offset, cut off anywhere, never over the limit."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.runner import spool as spool_module
from atom_sdk.runner.frames import HEADER
from atom_sdk.runner.spool import Spool

LIMIT = 1024 * 1024


def payload_of(body: bytes) -> bytes:
    out, position = b"", 0
    while position < len(body):
        length = HEADER.unpack_from(body, position)[1]
        position += HEADER.size
        out += body[position : position + length]
        position += length
    return out


def test_what_is_appended_is_read_in_batches(tmp_path: Path) -> None:
    spool = Spool(tmp_path, LIMIT)
    for number in range(100):
        spool.append(1 + number % 2, number, b"line %d\n" % number)
    offset, found = 0, b""
    while offset < spool.end:
        body, payload_bytes = spool.read(offset, 64)
        assert payload_bytes <= 64
        found += payload_of(body)
        offset += payload_bytes
    assert found == b"".join(b"line %d\n" % number for number in range(100))
    assert spool.lines == 100
    spool.close()


@given(st.integers(0, 120))
def test_reading_starts_inside_a_frame(tmp_path_factory: pytest.TempPathFactory, at: int) -> None:
    spool = Spool(tmp_path_factory.mktemp("spool"), LIMIT)
    text = b"".join(b"line %03d\n" % number for number in range(12))
    for number in range(12):
        spool.append(1, 0, b"line %03d\n" % number)
    assert payload_of(spool.read(at, LIMIT)[0]) == text[at:]
    spool.close()


@given(st.integers(0, 12 * (HEADER.size + 9)))
def test_a_cut_off_frame_is_dropped_and_writing_goes_on(
    tmp_path_factory: pytest.TempPathFactory, kept_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    spool = Spool(folder, LIMIT)
    for number in range(12):
        spool.append(1, 0, b"line %03d\n" % number)
    spool.close()
    file = next(folder.glob("log-*"))
    file.write_bytes(file.read_bytes()[:kept_bytes])
    again = Spool(folder, LIMIT)
    whole = kept_bytes // (HEADER.size + 9)
    assert again.end == whole * 9
    assert again.lines == whole
    again.append(2, 0, b"after\n")
    text = b"".join(b"line %03d\n" % number for number in range(whole)) + b"after\n"
    assert payload_of(again.read(0, LIMIT)[0]) == text
    again.close()


def test_acknowledged_files_go_and_the_rest_can_be_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_module, "SEGMENT_BYTES", 100)
    spool = Spool(tmp_path, LIMIT)
    for number in range(50):
        spool.append(1, 0, b"line %03d\n" % number)
    assert len(list(tmp_path.iterdir())) > 5
    spool.ack(40 * 9)
    assert 0 < spool.first <= 40 * 9
    spool.close()
    again = Spool(tmp_path, LIMIT)
    assert (again.first, again.end) == (spool.first, 50 * 9)
    assert payload_of(again.read(45 * 9, LIMIT)[0]).startswith(b"line 045\n")
    assert again.tail(20).endswith(b"line 049\n")
    again.close()


def test_appending_waits_for_an_acknowledgement_at_the_limit(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 100)
    spool.append(1, 0, b"x" * 100)
    writer = threading.Thread(target=spool.append, args=(1, 0, b"y"))
    writer.start()
    writer.join(0.2)
    assert writer.is_alive()
    spool.ack(50)
    writer.join(5)
    assert not writer.is_alive()
    assert spool.end == 101
    spool.close()
