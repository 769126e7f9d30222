"""Names of zip members: their encoding and their separators."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from atom_sdk.importers.errors import EncodingUnknownError, ZipEncodingError
from atom_sdk.importers.report import Report
from atom_sdk.importers.text_options import TextOptions
from tests.sdk.importers.conftest import Look

UNIX, DOS = 3, 0


def zip_with(names: list[bytes], system: int = DOS, *, unicode_path: str = "") -> bytes:
    """A zip whose names are bytes without the flag for UTF-8."""
    stand_ins = [f"{number:0{len(name)}d}" for number, name in enumerate(names)]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for stand_in, name in zip(stand_ins, names, strict=True):
            info = zipfile.ZipInfo(stand_in)
            info.create_system = system
            if unicode_path:
                field = struct.pack("<BL", 1, zlib.crc32(name)) + unicode_path.encode()
                info.extra = struct.pack("<HH", 0x7075, len(field)) + field
            archive.writestr(info, name)
    data = out.getvalue()
    for stand_in, name in zip(stand_ins, names, strict=True):
        data = data.replace(stand_in.encode(), name)
    return data


def paths(report: Report) -> list[str]:
    return [row["path"] for row in report.first]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "data.zip"


GBK = "猫/照片.txt".encode("gbk")


def test_names_in_gbk_are_noted_with_the_option_that_reads_them(source: Path, look: Look) -> None:
    source.write_bytes(zip_with([GBK, b"plain.txt"]))
    report = look(source)
    assert paths(report) == ["plain.txt", GBK.decode("cp437")]
    (note,) = report.notes
    assert note.startswith("1 name in the zip is not marked as UTF-8 and read as cp437")
    assert "--zip-encoding gbk ('猫/照片.txt')" in note

    read = look(source, text=TextOptions(zip_encoding="gbk"))
    assert paths(read) == ["plain.txt", "猫/照片.txt"]
    assert not read.notes


def test_an_encoding_that_does_not_fit_is_an_error(source: Path, look: Look) -> None:
    source.write_bytes(zip_with([GBK]))
    with pytest.raises(ZipEncodingError, match="utf-8"):
        look(source, text=TextOptions(zip_encoding="utf-8"))
    for name in ("klingon", "hex", "rot13"):
        with pytest.raises(EncodingUnknownError):
            TextOptions(zip_encoding=name)


def test_the_unicode_path_field_counts_if_it_is_of_this_name(source: Path, look: Look) -> None:
    source.write_bytes(zip_with([GBK], unicode_path="狗/照片.txt"))
    report = look(source, text=TextOptions(zip_encoding="cp932"))
    assert (paths(report), report.notes) == (["狗/照片.txt"], [])
    renamed = source.read_bytes().replace(GBK, "狗/照片.txt".encode("gbk"))
    source.write_bytes(renamed)
    assert paths(look(source)) == ["狗/照片.txt".encode("gbk").decode("cp437")]


def test_utf8_of_a_unix_tool_without_the_flag_is_read_and_noted(source: Path, look: Look) -> None:
    source.write_bytes(zip_with(["é/照片.png".encode()], UNIX))
    report = look(source)
    assert paths(report) == ["é/照片.png"]
    assert "read as utf-8" in report.notes[0]
    source.write_bytes(zip_with(["é/照片.png".encode()], DOS))
    assert "--zip-encoding utf-8 ('é/照片.png')" in look(source).notes[0]


@pytest.mark.parametrize("system", [UNIX, DOS])
def test_backslashes_are_folders_where_no_name_has_a_slash(
    system: int, source: Path, look: Look
) -> None:
    names = [b"train\\cat\\a.png", b"train\\dog\\b.png", b"train\\empty\\"]
    source.write_bytes(zip_with(names, system))
    report = look(source)
    assert (report.importer, dict(report.labels)) == ("imagefolder", {"cat": 1, "dog": 1})
    assert report.notes == ["3 names in the zip have backslashes, read as folders"]


def test_a_backslash_of_unix_beside_slashes_stays(source: Path, look: Look) -> None:
    source.write_bytes(zip_with([b"a/odd\\name.txt", b"b\\c.txt"], UNIX))
    assert paths(look(source)) == ["a/odd\\name.txt", "b\\c.txt"]


def test_a_backslash_inside_a_character_of_two_bytes_is_no_folder(source: Path, look: Look) -> None:
    source.write_bytes(zip_with(["表/ソ.txt".encode("cp932")]))
    assert paths(look(source, text=TextOptions(zip_encoding="cp932"))) == ["表/ソ.txt"]
