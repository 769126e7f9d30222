"""Layers: the same content has the same digest, and hostile archives become none."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from atom.jobs.registries.pipelines.layers import LayerError, Source, write_layer
from atom_sdk.runner.archive import Rules
from tests.jobs.registries.layers import FOLDER, RUNNER, environment, layer_of


def members(path: Path) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(path) as tar:
        return {one.name: one for one in tar}


def test_a_layer_has_the_environment_and_the_runner_and_nothing_of_its_machine(
    tmp_path: Path,
) -> None:
    made = layer_of(environment(tmp_path / "env"), tmp_path)
    found = members(made.path)
    assert list(found) == [
        *("atom", "atom/env", "atom/env/bin", "atom/env/bin/python", "atom/env/bin/tool"),
        *("atom/env/lib", "atom/env/lib/m.py", "atom/runner", RUNNER),
    ]
    assert {(one.uid, one.gid, one.uname, one.gname) for one in found.values()} == {(0, 0, "", "")}
    assert {one.mtime for one in found.values()} == {315_532_800}
    modes = {name: oct(one.mode) for name, one in found.items() if one.isreg()}
    assert modes == {
        "atom/env/bin/tool": "0o755",
        "atom/env/lib/m.py": "0o644",
        RUNNER: "0o755",
    }
    assert found["atom/env/bin/python"].linkname == "/usr/bin/python3"
    packed = made.path.read_bytes()
    assert made.layer.blob.digest == f"sha256:{hashlib.sha256(packed).hexdigest()}"
    assert made.layer.blob.size_bytes == len(packed)
    plain = gzip.decompress(packed)
    assert made.layer.diff_id == f"sha256:{hashlib.sha256(plain).hexdigest()}"
    assert b"".join(made.chunks()) == packed


def test_times_and_owners_change_nothing_and_content_does(tmp_path: Path) -> None:
    first = environment(tmp_path / "first")
    second = environment(tmp_path / "second")
    os.utime(second / "lib" / "m.py", (1, 1))
    (second / "bin" / "tool").chmod(0o700)
    layers = []
    for name, folder in (("a", first), ("b", second)):
        (tmp_path / name).mkdir()
        layers.append(layer_of(folder, tmp_path / name).layer)
    assert layers[0] == layers[1]
    (second / "lib" / "m.py").write_text("x = 2\n")
    assert layer_of(second, tmp_path / "b").layer != layers[0]


def archive(*infos: tarfile.TarInfo) -> io.BytesIO:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for info in infos:
            tar.addfile(info, io.BytesIO(b"x" * info.size))
    content.seek(0)
    return content


def info(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0
) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, size
    return made


HOSTILE: dict[str, Callable[[], io.BytesIO]] = {
    "absolute": lambda: archive(info("/etc/passwd")),
    "above": lambda: archive(info("a/../../b")),
    "nothing": lambda: archive(info(".")),
    "device": lambda: archive(info("null", tarfile.CHRTYPE)),
    "hard link": lambda: archive(info("a"), info("b", tarfile.LNKTYPE, "a")),
    "through a link": lambda: archive(info("a", tarfile.SYMTYPE, "/etc"), info("a/passwd")),
    "no archive": lambda: io.BytesIO(b"nothing"),
    "cut off": lambda: io.BytesIO(archive(info("a", size=1 << 20)).getvalue()[:500]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_no_layer(tmp_path: Path, name: str) -> None:
    with pytest.raises(LayerError):
        write_layer(tmp_path / "layer", HOSTILE[name](), FOLDER, {})


@pytest.mark.parametrize("rules", [Rules(most_files=1), Rules(largest_bytes=10)])
def test_an_archive_above_its_limits_is_no_layer(tmp_path: Path, rules: Rules) -> None:
    packed = archive(info("a", size=6), info("b", size=6))
    with pytest.raises(LayerError, match="too large"):
        write_layer(tmp_path / "layer", packed, FOLDER, {}, rules)


def test_a_source_reads_chunks_as_a_file_and_hashes_all_of_them() -> None:
    source = Source([b"ab", b"", memoryview(b"cde"), b"f"])
    assert source.read(4) == b"ab"
    assert source.read(2) == b"cd"
    assert source.digest() == hashlib.sha256(b"abcdef").hexdigest()
    assert source.size_bytes == 6
    assert source.read(1) == b""
