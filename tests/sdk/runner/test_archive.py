"""A code snapshot writes inside its folder or not at all."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from atom_sdk.runner.archive import ArchiveError, unpack


def archive(tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> Path:
    path = tmp_path / "code.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def member(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    return info


def test_files_folders_and_links_inside_are_unpacked(tmp_path: Path) -> None:
    members = [
        (member("src", tarfile.DIRTYPE), b""),
        (member("src/train.py"), b"print()"),
        (member("run.sh", mode=0o4755), b"#!/bin/sh"),
        (member("main.py", tarfile.SYMTYPE, "src/train.py"), b""),
    ]
    work = tmp_path / "work"
    work.mkdir()
    unpack(archive(tmp_path, members), work)
    assert (work / "main.py").read_bytes() == b"print()"
    assert (work / "run.sh").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize(
    "members",
    [
        [member("../escape")],
        [member("/etc/escape")],
        [member("a/../../escape")],
        [member("link", tarfile.SYMTYPE, "/etc")],
        [member("link", tarfile.SYMTYPE, "../..")],
        [member("a", tarfile.SYMTYPE, "."), member("b", tarfile.SYMTYPE, "a/../..")],
        [member("hard", tarfile.LNKTYPE, "/etc/passwd")],
        [member("device", tarfile.CHRTYPE)],
        [member("pipe", tarfile.FIFOTYPE)],
    ],
)
def test_what_would_leave_the_folder_is_refused(
    tmp_path: Path, members: list[tarfile.TarInfo]
) -> None:
    work = tmp_path / "outer" / "work"
    work.mkdir(parents=True)
    path = archive(tmp_path, [(one, b"") for one in members])
    with pytest.raises(ArchiveError):
        unpack(path, work)
    assert list((tmp_path / "outer").iterdir()) == [work]
    assert not (tmp_path / "escape").exists()


def test_a_damaged_archive_is_a_plain_sentence(tmp_path: Path) -> None:
    path = archive(tmp_path, [(member("a"), bytes(range(256)) * 1000)])
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ArchiveError, match="cannot be unpacked"):
        unpack(path, tmp_path)
