"""The local state of a writer before it sends: segments, and the queue of them."""

from __future__ import annotations

import fcntl
import io
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk.client.errors import AttributesError
from atom_sdk.client.writing.files import WriterFile, as_text
from atom_sdk.client.writing.segment import Details, Segment, Stored, details_of
from atom_sdk.client.writing.spooling import Spool, SpoolLimits, remove_leftovers
from atom_sdk.errors import PathError
from atom_sdk.packs.plan import PackLimits
from atom_sdk.packs.writer import PackSummary
from tests.tiers import examples

NOTHING = Details()
STORED = Stored(b"p" * 32, 4096, 3, b"d" * 32)


def packed(segment: Segment, limits: PackLimits) -> tuple[dict[str, bytes], list[PackSummary]]:
    """Return the bytes of every path as the packs hold them, and the packs."""
    found: dict[str, bytes] = {}
    summaries = []
    for plan in segment.packs(limits):
        with tempfile.NamedTemporaryFile() as file:
            summary = segment.write_pack(plan, Path(file.name))
            data = file.read()
        assert len(data) == plan.pack_bytes
        for path, offset, size, digest in summary.members:
            found[path] = data[offset : offset + size]
            assert blake3(found[path]).digest() == digest
        summaries.append(summary)
    return found, summaries


PATHS = st.sampled_from(["a", "b/c", "b/d", "é", "z.png"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), PATHS, st.binary(max_size=40)),
        st.tuples(st.just("adopt"), PATHS, st.binary(max_size=40)),
        st.tuples(st.just("remove"), PATHS, st.just(b"")),
        st.tuples(st.just("link"), PATHS, st.just(b"")),
    ),
    max_size=12,
)


@settings(max_examples=examples(25))
@given(steps=STEPS)
def test_the_last_word_on_a_path_counts(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    segment = Segment(folder / "segment")
    expected: dict[str, tuple[str, bytes]] = {}
    for number, (verb, path, data) in enumerate(steps):
        if verb == "write":
            segment.add(path, io.BytesIO(data), NOTHING)
        elif verb == "adopt":
            (folder / f"own-{number}").write_bytes(data)
            segment.adopt(path, folder / f"own-{number}", NOTHING)
        elif verb == "remove":
            segment.remove(path)
        else:
            segment.link(path, STORED, NOTHING)
        expected[path] = ("write" if verb == "adopt" else verb, data)

    found, summaries = packed(segment, PackLimits(target_bytes=1 << 14, own_pack_bytes=30))
    assert found == {path: data for path, (verb, data) in expected.items() if verb == "write"}
    rows = {row[1]: row for row in segment.rows(summaries)}
    assert {path: row[0] for path, row in rows.items()} == {
        path: "delete" if verb == "remove" else "put" for path, (verb, _) in expected.items()
    }
    linked = [rows[path] for path, (verb, _) in expected.items() if verb == "link"]
    assert all((row[6], row[7]) == (STORED.pack, STORED.offset) for row in linked)
    segment.discard()
    assert list(folder.iterdir()) == []


def test_a_file_that_breaks_off_leaves_what_was_written_before(tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell():
                raise OSError("gone")
            return super().read(3)

    segment = Segment(tmp_path / "segment")
    segment.add("whole", io.BytesIO(b"whole"), NOTHING)
    with pytest.raises(OSError, match="gone"):
        segment.add("broken", Broken(b"broken"), NOTHING)
    segment.add("later", io.BytesIO(b"later"), NOTHING)
    assert packed(segment, PackLimits())[0] == {"whole": b"whole", "later": b"later"}


@pytest.mark.parametrize("path", ["", "/a", "../a", "a//b", "a\0b", "a/" + "b" * 300])
def test_a_path_that_a_dataset_cannot_hold_is_refused_at_once(tmp_path: Path, path: str) -> None:
    segment = Segment(tmp_path / "segment")
    for add in (
        lambda: segment.add(path, io.BytesIO(b""), NOTHING),
        lambda: segment.remove(path),
        lambda: segment.link(path, STORED, NOTHING),
    ):
        with pytest.raises(PathError):
            add()
    assert segment.changes == 0


def test_labels_and_attributes_are_checked_where_they_are_given() -> None:
    assert details_of("cat", {"b": 1, "a": "é"}) == Details("cat", '{"a":"é","b":1}')
    for attributes in ({"x": object()}, {"x": float("nan")}, {"unreadable": 1}, {"x": "y" * 20000}):
        with pytest.raises(AttributesError):
            details_of(None, attributes)
    with pytest.raises(AttributesError):
        details_of("x" * 256, None)
    odd: Any
    for odd in (5, "\ud800"):
        with pytest.raises(AttributesError, match="plain text"):
            details_of(odd, None)
    with pytest.raises(AttributesError, match="no JSON object"):
        details_of(None, {"a": "\ud800"})


def test_who_writes_waits_while_too_much_is_on_its_way(tmp_path: Path) -> None:
    sending, go_on = threading.Semaphore(0), threading.Semaphore(0)
    sent: list[set[str]] = []

    def send(segment: Segment) -> None:
        sending.release()
        assert go_on.acquire(timeout=30)
        sent.append({row[1] for row in segment.rows([])})

    spool = Spool(tmp_path, SpoolLimits(segment_bytes=1, waiting_segments=2), send)

    def write(name: str) -> None:
        spool.take(lambda segment: _remove_and_fill(segment, name))

    write("1")
    write("2")
    third = threading.Thread(target=write, args=("3",))
    third.start()
    assert sending.acquire(timeout=30)
    # Two wait, one of them being sent: the third is not taken before that is done.
    assert len(spool._waiting) == 2
    for _ in range(3):
        go_on.release()
    third.join(30)
    spool.flush()
    spool.close()
    assert sent == [{"1"}, {"2"}, {"3"}]
    assert list(tmp_path.iterdir()) == []


def _remove_and_fill(segment: Segment, name: str) -> None:
    segment.remove(name)
    segment.size_bytes += 1


def test_a_failure_is_told_once_and_the_segment_is_sent_again(tmp_path: Path) -> None:
    answers: list[Exception | None] = [OSError("away"), None]
    sent: list[int] = []

    def send(segment: Segment) -> None:
        answer = answers.pop(0)
        if answer is not None:
            raise answer
        sent.append(segment.changes)

    spool = Spool(tmp_path, SpoolLimits(), send)
    spool.take(lambda segment: segment.remove("a"))
    with pytest.raises(OSError, match="away"):
        spool.flush()
    spool.take(lambda segment: segment.remove("b"))
    answers.append(None)
    spool.flush()
    spool.close()
    assert sent == [1, 1]


def test_what_is_old_is_sent_without_being_asked_for(tmp_path: Path) -> None:
    sent = threading.Event()
    spool = Spool(tmp_path, SpoolLimits(segment_age_s=0.01), lambda _: sent.set())
    spool.take(lambda segment: segment.remove("a"))
    assert sent.wait(30)
    spool.close()


def test_spools_of_killed_processes_are_removed_and_those_of_living_ones_stay(
    tmp_path: Path,
) -> None:
    dead, living = tmp_path / "writer-dead", tmp_path / "writer-living"
    for folder in (dead, living):
        folder.mkdir()
        (folder / "segment-0").write_bytes(b"x")
    lock = os.open(living / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    remove_leftovers(tmp_path)
    assert dead.exists(), "it may be in the making"
    remove_leftovers(tmp_path, after_s=-1)
    os.close(lock)
    assert [folder.name for folder in tmp_path.iterdir()] == ["writer-living"]


def write_and_fail(file: Any, half: str | bytes) -> None:
    with file:
        file.write(half)
        _ = 1 / 0


def test_half_a_file_is_never_handed_over(tmp_path: Path) -> None:
    done: list[bytes] = []

    def file(name: str) -> WriterFile:
        return WriterFile(tmp_path / name, lambda path: done.append(path.read_bytes()))

    with file("whole") as whole:
        whole.write(b"whole")
    for broken, half in (
        (file("binary"), b"x"),
        (as_text(file("text"), encoding="utf-8"), "x"),
    ):
        with pytest.raises(ZeroDivisionError):
            write_and_fail(broken, half)
    with as_text(file("words"), encoding="utf-8", newline="") as words:
        words.write("é\n")
    forgotten = file("forgotten")
    forgotten.write(b"x")
    del forgotten
    assert done == [b"whole", "é\n".encode()]
    assert {path.name for path in tmp_path.iterdir()} == {"whole", "words"}
