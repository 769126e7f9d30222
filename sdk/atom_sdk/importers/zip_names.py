"""Names of zip members: bytes in an encoding that older tools do not write down.

In order: the flag for UTF-8 (bit 11), the Unicode path field (0x7075, APPNOTE 4.6.9), the encoding
that the user gives, UTF-8 of a Unix tool, CP437. The last two are guesses and noted as such.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from atom_sdk.amounts import counted
from atom_sdk.importers.errors import ZipEncodingError
from atom_sdk.importers.report import Report
from atom_sdk.sentences import Sentence

_UTF8_FLAG = 0x800
_UNICODE_PATH = 0x7075
_UNIX_SYSTEMS = frozenset([3, 19])
# FAT, OS/2, NTFS and VFAT: tools of these systems write backslashes.
_BACKSLASH_SYSTEMS = frozenset([0, 6, 10, 14])
_DEFAULT = "cp437"
_SUGGESTED = ("gbk", "cp932", "euc-kr", "big5", "cp866", "cp1252")
_SHOWN_SUGGESTIONS = 3


@dataclass(frozen=True, slots=True)
class _Name:
    """A name as bytes, or as text where the archive says its encoding."""

    raw: bytes
    text: str | None
    system: int


def member_names(
    infos: Sequence[zipfile.ZipInfo], archive: str, encoding: str | None, report: Report
) -> list[str]:
    """Return the name of each member with `/` between folders. Raises ZipEncodingError."""
    names = [_read(info) for info in infos]
    unknown = [name.raw for name in names if name.text is None]
    chosen = encoding or _chosen(names)
    if encoding is None and unknown:
        _note_encoding(unknown, chosen, report)
    texts = [_decoded(name, chosen, archive) for name in names]
    return _with_slashes(texts, [name.system for name in names], report)


def _read(info: zipfile.ZipInfo) -> _Name:
    # zipfile cuts names at a NUL: the whole name is in orig_filename.
    name = info.orig_filename
    if info.flag_bits & _UTF8_FLAG:
        return _Name(name.encode("utf-8", "surrogateescape"), name, info.create_system)
    # CP437 has a character for each byte, so nothing is lost on the way back.
    raw = name.encode(_DEFAULT)
    text = raw.decode() if raw.isascii() else _unicode_path(info.extra, raw)
    return _Name(raw, text, info.create_system)


def _unicode_path(extra: bytes, raw: bytes) -> str | None:
    """The name in the extra field 0x7075, None without one for this very name."""
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        field = extra[4 : 4 + length]
        extra = extra[4 + length :]
        if kind != _UNICODE_PATH or len(field) < 5 or field[0] != 1:
            continue
        # A tool that renamed the member and kept the field leaves a wrong checksum.
        if struct.unpack_from("<L", field, 1)[0] != zlib.crc32(raw):
            continue
        try:
            return field[5:].decode()
        except UnicodeDecodeError:
            continue
    return None


def _chosen(names: Sequence[_Name]) -> str:
    """UTF-8 if a Unix tool wrote all unmarked names in it, as that of macOS does; else CP437."""
    unknown = [name for name in names if name.text is None]
    is_unix = all(name.system in _UNIX_SYSTEMS for name in unknown)
    return "utf-8" if is_unix and _decodes([name.raw for name in unknown], "utf-8") else _DEFAULT


def _decodes(raws: Sequence[bytes], encoding: str) -> bool:
    try:
        return all(raw.decode(encoding).isprintable() for raw in raws)
    except UnicodeDecodeError:
        return False


def _decoded(name: _Name, encoding: str, archive: str) -> str:
    if name.text is not None:
        return name.text
    try:
        return name.raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise ZipEncodingError(
            Sentence(
                "formats.zip_name_encoding",
                "{archive}: the name {name!r} is not {encoding} text.",
                archive=archive,
                name=name.raw.decode(_DEFAULT),
                encoding=encoding,
            )
        ) from error


def _note_encoding(unknown: Sequence[bytes], chosen: str, report: Report) -> None:
    count, example = counted(len(unknown), "name"), unknown[0]
    options = [_suggestion(example, name) for name in _suggestions(unknown, chosen)]
    others = " or ".join(options) or "--zip-encoding for another encoding"
    is_are = "is" if len(unknown) == 1 else "are"
    report.note(
        f"{count} in the zip {is_are} not marked as UTF-8 and read as {chosen}: "
        f"{example.decode(chosen)!r}. If that is wrong, use {others}"
    )


def _suggestions(unknown: Sequence[bytes], chosen: str) -> list[str]:
    """Encodings in which all unmarked names are text."""
    fitting = [name for name in ("utf-8", *_SUGGESTED) if _decodes(unknown, name)]
    return [name for name in fitting if name != chosen][:_SHOWN_SUGGESTIONS]


def _suggestion(example: bytes, encoding: str) -> str:
    return f"--zip-encoding {encoding} ({example.decode(encoding)!r})"


def _with_slashes(texts: list[str], systems: Sequence[int], report: Report) -> list[str]:
    """Make backslashes separators: of tools of Windows, or where no name has a slash at all."""
    has_slashes = any("/" in text for text in texts)
    changed = [
        text.replace("\\", "/") if system in _BACKSLASH_SYSTEMS or not has_slashes else text
        for text, system in zip(texts, systems, strict=True)
    ]
    count = sum(new != old for new, old in zip(changed, texts, strict=True))
    if count:
        has = "has" if count == 1 else "have"
        report.note(f"{counted(count, 'name')} in the zip {has} backslashes, read as folders")
    return changed
