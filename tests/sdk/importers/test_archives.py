"""Archives: read where they lie, and refused when they lie."""

from __future__ import annotations

import gzip
import io
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
import zstandard
from blake3 import blake3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atom_sdk.importers.collection import ImportContents, collect
from atom_sdk.importers.errors import (
    ArchiveDamagedError,
    ArchiveTooLargeError,
    FormatUnknownError,
    SourceUnreadableError,
)
from atom_sdk.importers.items import read_whole
from atom_sdk.importers.limits import MIB, ArchiveLimits
from atom_sdk.importers.open_source import open_tree
from atom_sdk.importers.plain_files import read
from atom_sdk.importers.report import Report
from tests.sdk.importers.conftest import Look
from tests.tiers import examples

FILES = {"b/2.bin": b"two" * 5000, "a/1.bin": b"one", "c.txt": b""}


def tar_of(files: dict[str, bytes], **more: tarfile.TarInfo) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in more.values():
            archive.addfile(info)
    return out.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def imported(source: Path) -> dict[str, bytes]:
    """Return the BLAKE3 of each file, as a pack of the import has it."""
    report = Report(source.name)
    tree, _ = open_tree(source, ArchiveLimits(), source.parent, report)
    contents = ImportContents(bytes(source), collect(read(tree, report), report).blobs)
    with contents.packing(0) as write_pack, tempfile.NamedTemporaryFile() as target:
        summary = write_pack(contents.files, Path(target.name))
    assert [contents.digest(file) for file in contents.files] == [m.digest for m in summary.members]
    tree.close()
    return {member.path: member.digest for member in summary.members}


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.zst", "folder"])
def test_every_kind_gives_the_same_files(kind: str, tmp_path: Path, look: Look) -> None:
    source = tmp_path / f"data.{kind}"
    plain = tar_of({f"./{path}": data for path, data in FILES.items()})
    if kind == "folder":
        for path, data in FILES.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_bytes(data)
    else:
        source.write_bytes(
            {
                "zip": lambda: zip_of(FILES),
                "tar": lambda: plain,
                "tar.gz": lambda: gzip.compress(plain),
                "tar.zst": lambda: zstandard.compress(plain),
            }[kind]()
        )
    assert imported(source) == {path: blake3(data).digest() for path, data in FILES.items()}
    report = look(source)
    assert (report.files, report.size_bytes) == (3, 15_003)
    assert report.importer == kind.partition(".")[0]
    assert [row["path"] for row in report.first] == sorted(FILES)


HOSTILE = {
    "/etc/passwd": "absolute",
    "../up.png": "leaves the folder",
    "a/../../up.png": "leaves the folder",
    "C:\\windows.png": "absolute",
    "x" * 300: "too long",
}


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_hostile_names_are_left_out_and_named(kind: str, tmp_path: Path, look: Look) -> None:
    files = {**dict.fromkeys(HOSTILE, b"bad"), "./good//1.png": b"good", "good/2.png": b"2"}
    source = tmp_path / f"data.{kind}"
    source.write_bytes({"zip": zip_of, "tar": tar_of}[kind](files))
    report = look(source)
    assert [row["path"] for row in report.first] == ["good/1.png", "good/2.png"]
    named = {problem.subject: problem.reason for problem in report.problems}
    assert set(named) == set(HOSTILE)
    for name, reason in HOSTILE.items():
        assert reason in named[name]


def test_a_nul_in_a_name_of_a_zip_is_named(tmp_path: Path, look: Look) -> None:
    source = tmp_path / "data.zip"
    source.write_bytes(zip_of({"good.png": b"1", "a_b.png": b"2"}).replace(b"a_b.", b"a\0b."))
    report = look(source)
    assert report.files == 1
    assert "NUL" in report.problems[0].reason


def test_doubles_are_named_and_unicode_forms_stay_as_they_are(tmp_path: Path, look: Look) -> None:
    files = {"a.png": b"1", "./a.png": b"2", "A.png": b"3", "é.png": b"4", "e\u0301.png": b"5"}
    source = tmp_path / "data.tar"
    source.write_bytes(tar_of({**files, "d": b"", "d/e.png": b""}))
    report = look(source)
    paths = {row["path"] for row in report.first}
    assert paths == {"a.png", "A.png", "é.png", "e\u0301.png", "d"}
    reasons = {problem.subject: problem.reason for problem in report.problems}
    assert "comes twice" in reasons["a.png"]
    assert "is a file as well" in reasons["d/e.png"]


def linked(target: str, name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


def linked_tar(tmp_path: Path, *links: tuple[str, str]) -> Path:
    source = tmp_path / "links.tar"
    more = {str(number): linked(*link) for number, link in enumerate(links)}
    source.write_bytes(tar_of(FILES, **more))
    return source


LINKS = [("../a/1.bin", "b/one"), ("b", "too"), ("../../x", "b/out"), ("round", "round")]


def test_links_of_a_tar_are_kept_or_followed(tmp_path: Path) -> None:
    source = linked_tar(tmp_path, *LINKS)
    report = Report("t")
    tree, _ = open_tree(source, ArchiveLimits(), tmp_path, report)
    tree.close()
    assert dict(tree.links) == {path: target for target, path in LINKS}
    assert sorted(tree.files) == sorted(FILES)

    tree, _ = open_tree(source, ArchiveLimits(), tmp_path, report, follow_links=True)
    assert tree.links == {}
    assert sorted(tree.files) == sorted([*FILES, "b/one", "too/2.bin", "too/one"])
    assert read_whole(tree.files["too/one"]) == b"one"
    tree.close()
    assert {problem.subject for problem in report.problems} == {"b/out", "round"}


def test_links_of_a_zip_are_kept_or_followed(tmp_path: Path) -> None:
    source = tmp_path / "links.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("a.bin", b"one")
        info = zipfile.ZipInfo("b/link")
        info.create_system, info.external_attr = 3, 0o120777 << 16
        archive.writestr(info, "../a.bin")
    tree, _ = open_tree(source, ArchiveLimits(), tmp_path, Report("z"))
    tree.close()
    assert (list(tree.files), dict(tree.links)) == (["a.bin"], {"b/link": "../a.bin"})
    tree, _ = open_tree(source, ArchiveLimits(), tmp_path, Report("z"), follow_links=True)
    assert read_whole(tree.files["b/link"]) == b"one"
    tree.close()


def test_links_that_multiply_end_at_the_limit(tmp_path: Path) -> None:
    links = [
        link
        for depth in range(30)
        for link in ((f"../d{depth + 1}", f"d{depth}/x"), (f"../d{depth + 1}", f"d{depth}/y"))
    ]
    source = linked_tar(tmp_path, *links)
    limits = ArchiveLimits(members=100_000)
    with pytest.raises(ArchiveTooLargeError):
        open_tree(source, limits, tmp_path, Report("t"), follow_links=True)


def test_links_and_devices_are_told_and_litter_is_ignored(tmp_path: Path, look: Look) -> None:
    link, device = tarfile.TarInfo("link"), tarfile.TarInfo("device")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device.type = tarfile.CHRTYPE
    source = tmp_path / "data.tar"
    files = {"1.png": b"1", ".DS_Store": b"", "__MACOSX/._1.png": b""}
    source.write_bytes(tar_of(files, link=link, device=device))
    report = look(source)
    assert (report.files, report.links, report.litter, report.skipped_total) == (1, 1, 2, 1)
    assert {problem.subject for problem in report.problems} == {"device"}
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "1.png").write_bytes(b"1")
    assert (look(folder).links, look(folder).problems) == (1, [])


@pytest.mark.parametrize("cut", [100, 700, 5000])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstandard.compress])
def test_a_cut_tar_is_an_error(cut: int, compress: type[bytes], tmp_path: Path, look: Look) -> None:
    source = tmp_path / "data.tar.any"
    whole = compress(tar_of({"1.png": bytes(range(256)) * 20, "2.png": b"2"}))
    source.write_bytes(whole[: len(whole) * cut // 6000 if compress is not bytes else cut])
    with pytest.raises(ArchiveDamagedError):
        look(source)


def test_a_tar_whose_second_header_is_damaged_does_not_end_there(
    tmp_path: Path, look: Look
) -> None:
    data = bytearray(tar_of({"1.png": b"1", "2.png": b"2", "3.png": b"3"}))
    data[1024] ^= 0xFF
    source = tmp_path / "data.tar"
    source.write_bytes(data)
    with pytest.raises(ArchiveDamagedError, match="byte 1024"):
        look(source)


def test_a_member_with_a_size_below_zero_is_an_error(tmp_path: Path, look: Look) -> None:
    data = bytearray(tar_of({"1.png": b"", "2.png": b""}))
    # Base 256: -512, which leads back to the header itself.
    data[512 + 124 : 512 + 136] = b"\xff" * 10 + b"\xfe\x00"
    data[512 + 148 : 512 + 156] = b" " * 8
    data[512 + 148 : 512 + 156] = b"%06o\0 " % sum(data[512:1024])
    (tmp_path / "data.tar").write_bytes(data)
    with pytest.raises(ArchiveDamagedError, match="below zero"):
        look(tmp_path / "data.tar")


def test_a_damaged_member_of_any_method_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "data.zip"
    with zipfile.ZipFile(source, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("1.png", bytes(range(256)) * 9)
    data = bytearray(source.read_bytes())
    data[44:60] = b"\xff" * 16
    source.write_bytes(data)
    with pytest.raises(ArchiveDamagedError, match=r"1\.png"):
        imported(source)


def test_members_of_a_zip_that_lie_are_an_error(tmp_path: Path) -> None:
    source = tmp_path / "data.zip"
    data = bytearray(zip_of({"1.png": b"some bytes that are no picture"}))
    data[40] ^= 0xFF
    source.write_bytes(data)
    with pytest.raises(ArchiveDamagedError, match=r"1\.png"):
        imported(source)


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_bomb_is_stopped(kind: str, tmp_path: Path, look: Look) -> None:
    files = {"zeros.bin": bytes(70 * MIB)}
    source = tmp_path / f"bomb.{kind}"
    source.write_bytes(zip_of(files) if kind == "zip" else gzip.compress(tar_of(files), 1))
    with pytest.raises(ArchiveTooLargeError, match="200 times"):
        look(source)


def test_limits_of_members_and_bytes(tmp_path: Path, look: Look) -> None:
    source = tmp_path / "data.zip"
    source.write_bytes(zip_of(FILES))
    with pytest.raises(ArchiveTooLargeError, match="more than 2 members"):
        look(source, limits=ArchiveLimits(members=2))
    with pytest.raises(ArchiveTooLargeError, match="GiB"):
        look(source, limits=ArchiveLimits(total_bytes=1000))


def test_what_is_no_archive_is_said(tmp_path: Path, look: Look) -> None:
    source = tmp_path / "data.bin"
    source.write_bytes(b"hello")
    with pytest.raises(SourceUnreadableError):
        look(source)
    (tmp_path / "data.zip").write_bytes(zip_of(FILES))
    with pytest.raises(FormatUnknownError, match="no tar"):
        look(tmp_path / "data.zip", "tar")
    with pytest.raises(FormatUnknownError):
        look(tmp_path / "data.zip", "coco")


WHOLE = tar_of({"1.png": b"1" * 700, "2.png": b"2"})


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(place=st.integers(0, len(WHOLE) - 1), change=st.integers(1, 255))
def test_a_changed_byte_of_a_header_never_ends_in_a_traceback(
    place: int, change: int, tmp_path: Path
) -> None:
    data = bytearray(WHOLE)
    data[place] ^= change
    source = tmp_path / "data.tar"
    source.write_bytes(data)
    try:
        found = imported(source)
    except (ArchiveDamagedError, SourceUnreadableError):
        return
    assert len(found) <= 2
