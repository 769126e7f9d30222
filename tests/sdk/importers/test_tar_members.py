"""Members of a tar archive that share bytes or have holes."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from atom_sdk.importers.errors import ArchiveDamagedError, ArchiveTooLargeError
from atom_sdk.importers.limits import ArchiveLimits
from tests.sdk.importers.conftest import Look
from tests.sdk.importers.test_archives import imported, tar_of

SPARSE_FORMATS = {
    "gnu": ["--format=gnu"],
    "pax 0.0": ["--format=pax", "--sparse-version=0.0"],
    "pax 0.1": ["--format=pax", "--sparse-version=0.1"],
    "pax 1.0": ["--format=pax", "--sparse-version=1.0"],
}


def hard_link(name: str, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.LNKTYPE, target
    return info


def write_sparse(path: Path, size: int, data: dict[int, bytes]) -> None:
    with path.open("wb") as file:
        for offset, piece in data.items():
            file.seek(offset)
            file.write(piece)
        file.truncate(size)


@pytest.mark.parametrize("name", SPARSE_FORMATS)
def test_a_tar_of_gnu_tar_with_holes_and_hard_links_equals_its_folder(
    name: str, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    write_sparse(folder / "end", (8 << 20) + 1, {8 << 20: b"B"})
    write_sparse(folder / "holes", 9 << 20, {n << 19: bytes([n]) * 5000 for n in range(1, 18)})
    write_sparse(folder / "empty", 1 << 20, {})
    (folder / "plain").write_bytes(b"plain" * 999)
    os.link(folder / "holes", folder / "again")
    os.link(folder / "plain", folder / "z")
    source = tmp_path / "data.tar"
    options = [*SPARSE_FORMATS[name], "-S", "-C", str(folder)]
    subprocess.run(["tar", "-cf", source, *options, "."], check=True)
    assert source.stat().st_size < 4 << 20
    assert imported(source) == imported(folder)


def test_hard_links_to_later_members_and_chains_are_files(tmp_path: Path, look: Look) -> None:
    links = [
        hard_link("early", "./late.png"),
        hard_link("second", "early"),
        hard_link("gone", "not-there.png"),
        hard_link("round", "circle"),
        hard_link("circle", "round"),
        hard_link("late.png", "early"),
        hard_link("../up", "late.png"),
    ]
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as out:
        for info in links[:2]:
            out.addfile(info)
        info = tarfile.TarInfo("late.png")
        info.size = 4
        out.addfile(info, io.BytesIO(b"late"))
        for info in links[2:]:
            out.addfile(info)
    source = tmp_path / "data.tar"
    source.write_bytes(archive.getvalue())
    found = imported(source)
    assert set(found) == {"early", "second", "late.png"}
    assert len(set(found.values())) == 1
    reasons = {problem.subject: problem.reason for problem in look(source).problems}
    missing = "it is a hard link to a file that the archive does not have"
    assert {reasons[name] for name in ("gone", "round", "circle")} == {missing}
    assert "comes twice" in reasons["late.png"]
    assert "leaves the folder" in reasons["../up"]


def test_a_hard_link_to_a_symbolic_link_is_named(tmp_path: Path, look: Look) -> None:
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, "1.png"
    source = tmp_path / "data.tar"
    source.write_bytes(tar_of({"1.png": b"1"}, link=link, again=hard_link("again", "link")))
    reasons = {problem.subject: problem.reason for problem in look(source).problems}
    assert reasons["again"] == "it is a hard link to a link or a special file"


def test_sparse_members_and_hard_links_are_no_way_around_the_limits(
    tmp_path: Path, look: Look
) -> None:
    write_sparse(tmp_path / "huge", 4 << 40, {4096: b"x"})
    subprocess.run(["tar", "-cSf", tmp_path / "sparse.tar", "-C", tmp_path, "huge"], check=True)
    with pytest.raises(ArchiveTooLargeError, match="200 times"):
        look(tmp_path / "sparse.tar")
    links = {str(number): hard_link(str(number), "1.bin") for number in range(500)}
    (tmp_path / "links.tar").write_bytes(tar_of({"1.bin": bytes(1 << 20)}, **links))
    with pytest.raises(ArchiveTooLargeError, match="200 times"):
        look(tmp_path / "links.tar")
    assert look(tmp_path / "links.tar", limits=ArchiveLimits(ratio=1000)).files == 501


@pytest.mark.parametrize("cut", [700, 1600, 2600])
def test_a_sparse_member_that_is_cut_is_an_error(cut: int, tmp_path: Path, look: Look) -> None:
    write_sparse(tmp_path / "s", 9 << 20, {n << 16: b"x" for n in range(1, 60, 2)})
    subprocess.run(["tar", "-cSf", tmp_path / "s.tar", "-C", tmp_path, "s"], check=True)
    source = tmp_path / "cut.tar"
    source.write_bytes((tmp_path / "s.tar").read_bytes()[:cut])
    with pytest.raises(ArchiveDamagedError):
        look(source)
