"""The bytes of a pack: readable by any tar, canonical, aligned, and any damage is found."""

from __future__ import annotations

import io
import random
import subprocess
import tarfile
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk import errors
from atom_sdk.packs import PackMember, PackWriter, index_pack, verify_pack
from atom_sdk.packs.indexer import pass_pack
from atom_sdk.packs.tar import member_bytes, member_head, parse_header, parse_pax_records
from tests.sdk.packs.strategies import file_sets, packed
from tests.tiers import examples

SAMPLE = {"a/one.txt": b"1" * 700, "a/two.bin": bytes(5000), "é/" + "x" * 120: b"", "z": b"zz"}


@given(file_sets)
def test_any_legal_set_of_files_comes_back_through_the_indexer(files: dict[str, bytes]) -> None:
    data, summary = packed(files)
    members = verify_pack([data], summary.digest)
    assert tuple(members) == summary.members
    for member, path in zip(members, sorted(files), strict=True):
        assert data[member.offset : member.offset + member.size] == files[path]
        assert (member.path, member.digest) == (path, blake3(files[path]).digest())


@given(file_sets)
def test_every_member_is_aligned_and_so_is_the_end(files: dict[str, bytes]) -> None:
    data, summary = packed(files)
    assert len(data) % 4096 == 0
    assert len(data) == summary.size_bytes
    assert all(member.offset % 4096 == 0 for member in summary.members)


@given(file_sets)
def test_pythons_tarfile_reads_a_pack(files: dict[str, bytes]) -> None:
    data, _ = packed(files)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:", encoding="utf-8") as archive:
        found = {item.name: archive.extractfile(item) for item in archive.getmembers()}
        assert {name: file.read() for name, file in found.items() if file} == files
        assert all(item.mtime == item.uid == item.gid == 0 for item in archive.getmembers())


def test_gnu_tar_lists_and_extracts_a_pack(tmp_path: Path) -> None:
    files = SAMPLE | {"-dash": b"d", "a b": b"s", "new\nline": b"n", "😀": b"e"}
    data, _ = packed(files)
    pack = tmp_path / "pack.tar"
    pack.write_bytes(data)
    listed = subprocess.run(["tar", "tf", pack], capture_output=True, check=True)
    assert listed.stderr == b""
    assert len(listed.stdout.splitlines()) == len(files)
    target = tmp_path / "out"
    target.mkdir()
    subprocess.run(["tar", "xf", pack, "-C", target], check=True)
    found = {str(p.relative_to(target)): p.read_bytes() for p in target.rglob("*") if p.is_file()}
    assert found == files


def test_the_same_files_always_give_the_same_pack() -> None:
    # A changed digest here means a changed format: every stored pack would get another name.
    _, summary = packed(SAMPLE)
    assert summary == packed(dict(reversed(SAMPLE.items())))[1]
    assert summary.digest.hex() == PINNED_DIGEST


@given(file_sets, st.integers(1, 3000))
@settings(max_examples=examples(40))
def test_the_size_of_the_chunks_does_not_matter(files: dict[str, bytes], step: int) -> None:
    data, summary = packed(files)
    chunks = [data[start : start + step] for start in range(0, len(data), step)]
    assert tuple(index_pack(chunks, summary.digest)) == summary.members


@given(file_sets, st.integers(1, 3000))
@settings(max_examples=examples(40))
def test_wanted_members_come_with_their_bytes(files: dict[str, bytes], step: int) -> None:
    data, summary = packed(files)
    chunks = [data[start : start + step] for start in range(0, len(data), step)]
    wanted = set(sorted(files)[::2])
    passing = pass_pack(chunks, summary.digest, lambda path, _: path in wanted)
    found = {member.path: None if seen is None else bytes(seen) for member, seen in passing}
    assert found == {path: files[path] if path in wanted else None for path in files}


@given(st.data())
@settings(max_examples=examples(300))
def test_every_flipped_bit_is_detected(data: st.DataObject) -> None:
    pack, summary = packed(SAMPLE)
    bit = data.draw(st.integers(0, len(pack) * 8 - 1))
    damaged = bytearray(pack)
    damaged[bit // 8] ^= 1 << bit % 8
    with pytest.raises((errors.PackError, errors.PathError)):
        verify_pack([bytes(damaged)], summary.digest)


@given(st.data())
@settings(max_examples=examples(200))
def test_every_cut_is_detected(data: st.DataObject) -> None:
    pack, summary = packed(SAMPLE)
    length = data.draw(st.integers(0, len(pack) - 1))
    with pytest.raises((errors.PackTruncatedError, errors.EmptyPackError)):
        verify_pack([pack[:length]], summary.digest)


def test_a_cut_inside_a_member_names_the_member() -> None:
    pack, summary = packed(SAMPLE)
    member = summary.members[1]
    with pytest.raises(errors.PackTruncatedError, match=r"'a/two.bin'"):
        verify_pack([pack[: member.offset + 100]], summary.digest)


def test_bytes_after_the_end_are_refused() -> None:
    pack, summary = packed(SAMPLE)
    with pytest.raises(errors.PackTrailingDataError, match="byte"):
        verify_pack([pack, b"x"], summary.digest)
    with pytest.raises(errors.PackTrailingDataError):
        verify_pack([pack, bytes(4096)], summary.digest)


def test_changed_data_is_reported_with_both_digests() -> None:
    pack, summary = packed(SAMPLE)
    damaged = bytearray(pack)
    damaged[summary.members[0].offset] ^= 1
    with pytest.raises(errors.PackDigestMismatchError) as caught:
        verify_pack([bytes(damaged)], summary.digest)
    assert caught.value.expected == summary.digest.hex()
    assert caught.value.actual == blake3(bytes(damaged)).hexdigest()


def test_a_member_that_lies_about_its_size_is_named() -> None:
    pack, summary = packed({"a": b"1" * 5000, "b": b"2"})
    lying = member_head(b"a", 100, 0) + pack[summary.members[0].offset :]
    with pytest.raises(errors.PackHeaderError, match="'a'"):
        verify_pack([lying], blake3(lying).digest())


def test_a_huge_size_in_a_header_is_a_truncated_member_and_not_an_allocation() -> None:
    head = member_head(b"big", 1 << 50, 0)
    with pytest.raises(errors.PackTruncatedError, match="'big'"):
        verify_pack([head + bytes(8192)], bytes(32))


def test_a_tar_that_is_not_in_canonical_form_is_refused() -> None:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:") as archive:
        archive.addfile(tarfile.TarInfo("x"))
    data = sink.getvalue()
    with pytest.raises(errors.PackHeaderError, match=r"canonical|ustar"):
        verify_pack([data], blake3(data).digest())


def test_a_wrong_checksum_is_named_with_the_member_before() -> None:
    pack, summary = packed({"first": b"1", "second": b"2"})
    damaged = bytearray(pack)
    damaged[summary.members[1].offset - 512] ^= 1
    with pytest.raises(errors.PackHeaderError, match=r"after 'first'.*checksum"):
        verify_pack([bytes(damaged)], summary.digest)


def test_members_out_of_order_are_refused_by_writer_and_reader() -> None:
    with PackWriter(io.BytesIO()) as writer:
        writer.add_bytes("b", b"")
        with pytest.raises(errors.PackOrderError):
            writer.add_bytes("a", b"")
        with pytest.raises(errors.PackOrderError):
            writer.add_bytes("b", b"")
    first = member_head(b"b", 0, 0)
    swapped = first + member_head(b"a", 0, len(first)) + bytes(8192)
    with pytest.raises(errors.PackOrderError):
        verify_pack([swapped], blake3(swapped).digest())


def test_a_traversing_path_in_a_pack_is_refused() -> None:
    evil = member_head(b"../evil", 0, 0) + bytes(8192)
    with pytest.raises(errors.PathTraversalError):
        verify_pack([evil], blake3(evil).digest())


@pytest.mark.parametrize("data", [b"", bytes(4096), bytes(512)])
def test_a_pack_without_members_is_refused(data: bytes) -> None:
    with pytest.raises(errors.EmptyPackError):
        verify_pack([data], blake3(data).digest())


def test_a_writer_without_members_refuses_to_close() -> None:
    with PackWriter(io.BytesIO()) as writer, pytest.raises(errors.EmptyPackError):
        writer.close()


@pytest.mark.parametrize("noise", [random.Random(seed).randbytes(4096) for seed in range(5)])
def test_noise_is_not_a_pack(noise: bytes) -> None:
    with pytest.raises(errors.PackHeaderError):
        verify_pack([noise], blake3(noise).digest())


@given(st.integers(0, 1 << 45), st.integers(0, 64).map(lambda block: block * 512))
def test_any_size_at_any_position_has_an_aligned_head_that_tar_understands(
    size: int, position: int
) -> None:
    head = member_head("ünicode".encode(), size, position)
    assert (position + len(head)) % 4096 == 0
    assert member_bytes("ünicode".encode(), size, position) == len(head) + size + -size % 512
    first = parse_header(head[:512])
    records = parse_pax_records(head[512 : 512 + first.size])
    last = parse_header(head[-512:])
    assert int(records.get(b"size", last.size)) == size
    assert records[b"path"].decode() == "ünicode"


def test_a_member_knows_its_place() -> None:
    _, summary = packed({"x": b"abc"})
    assert summary.members == (PackMember("x", 4096, 3, blake3(b"abc").digest()),)


PINNED_DIGEST = "313d1d2e1aa4157ad5b910953ed256cb8489220e477f1fcc5b26a9204454b810"
