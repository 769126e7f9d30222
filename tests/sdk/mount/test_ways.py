"""Each way to mount shows the same files to programs that know nothing of packs."""

from __future__ import annotations

import filecmp
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.sdk.mount.conftest import Files, Mounter, dataset_of

MODIFIED_AT_S = 1_700_000_000
TRAINING_SCRIPT = """
import os, sys
from PIL import Image
root = sys.argv[1]
classes = sorted(e.name for e in os.scandir(root) if e.is_dir())
samples = [
    (os.path.join(where, name), classes.index(os.path.relpath(where, root).split(os.sep)[0]))
    for where, _, names in sorted(os.walk(root)) for name in sorted(names)
    if name.lower().endswith((".png", ".jpg"))
]
total = 0
for path, target in samples:
    with open(path, "rb") as file:
        image = Image.open(file).convert("RGB")
    total += sum(image.getpixel((0, 0))) * (target + 1)
print(classes, len(samples), total)
"""


def picture(number: int) -> bytes:
    out = io.BytesIO()
    Image.effect_noise((24, 24), 90 + number).save(out, "png")
    return out.getvalue()


@pytest.fixture
def files() -> Files:
    """Pictures in class folders, and files that are no pictures."""
    files = {f"{n % 3} class/{n:03d}.png": picture(n) for n in range(60)}
    files |= {"notes/empty": b"", "-rf": b"x" * 4096, "notes/é 😀.txt": b"y" * 70_001}
    return files | {f"deep/{'d/' * 40}f": b"deep"}


@pytest.fixture
def source(tmp_path: Path, files: Files) -> Path:
    """The same files as plain files."""
    for path, data in files.items():
        target = tmp_path / "source" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return tmp_path / "source"


@pytest.fixture
def shown(mounter: Mounter, tmp_path: Path, files: Files, options: dict[str, object]) -> Path:
    """The mounted folder."""
    dataset = dataset_of(tmp_path, files, packs=3)
    record = mounter.mount(dataset, modified_at_s=MODIFIED_AT_S, **options)
    assert (record.how, record.skipped) == (options["how"], ())
    assert (record.files, record.size_bytes) == (len(files), sum(map(len, files.values())))
    return mounter.folder


def output_of(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        cwd=cwd,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def tree(folder: Path) -> Files:
    return {
        str(Path(where, name).relative_to(folder)): Path(where, name).read_bytes()
        for where, _, names in os.walk(folder)
        for name in names
    }


def same(left: Path, right: Path) -> bool:
    found = filecmp.dircmp(left, right)
    _, wrong, unreadable = filecmp.cmpfiles(left, right, found.common_files, shallow=False)
    here = not (found.left_only or found.right_only or found.funny_files or wrong or unreadable)
    return here and all(same(left / name, right / name) for name in found.common_dirs)


def test_programs_that_know_nothing_of_packs_read_the_folder(
    shown: Path, source: Path, files: Files, tmp_path: Path
) -> None:
    """One mount for all of them: each way costs a process or a device per pack."""
    assert tree(shown) == files
    assert same(shown, source)
    script = (sys.executable, "-c", TRAINING_SCRIPT)
    assert output_of(*script, shown) == output_of(*script, source)
    for find in (["-type", "f", "-size", "+16k"], ["-type", "d"], ["-name", "*.png"], ["-empty"]):
        found = output_of("find", ".", *find, cwd=shown)
        assert sorted(found.splitlines()) == sorted(
            output_of("find", ".", *find, cwd=source).splitlines()
        )
    listed = output_of("ls", "-lR", "--time-style=+", shown).splitlines()
    assert sum(line.startswith("-") for line in listed) == len(files)
    output_of("cp", "-r", shown, tmp_path / "copied")
    assert same(tmp_path / "copied", source)
    if shutil.which("rsync"):
        changes = output_of("rsync", "-rnic", "--delete", f"{shown}/", f"{source}/")
        assert [line for line in changes.splitlines() if line[:2] in {">f", "*d"}] == []
        output_of("rsync", "-r", "--checksum", f"{shown}/", tmp_path / "synced")
        assert same(tmp_path / "synced", source)


def test_a_file_is_read_at_any_place_and_ends_where_it_ends(
    shown: Path, files: Files, options: dict[str, object]
) -> None:
    data = files["notes/é 😀.txt"]
    with (shown / "notes" / "é 😀.txt").open("rb") as file:
        for at in (0, 1, 4095, 65_536, len(data) - 1, len(data), len(data) + 5000):
            file.seek(at)
            assert file.read(5000) == data[at : at + 5000]
    found = (shown / "notes" / "é 😀.txt").stat()
    assert found.st_size == len(data)
    if options["how"] != "hardlinks":
        assert found.st_mtime == (shown / "notes").stat().st_mtime == MODIFIED_AT_S
    assert not (shown / "notes" / "none").exists()
    assert not (shown / "notes" / "empty" / "none").exists()


def test_nothing_can_be_changed_through_the_folder(
    shown: Path, files: Files, options: dict[str, object]
) -> None:
    if options["how"] == "hardlinks":
        # Root may write to any file; what others may is in the mode.
        assert (shown / "-rf").stat().st_mode & 0o777 == 0o444
        return
    with pytest.raises(OSError, match="Read-only file system"):
        (shown / "-rf").write_bytes(b"changed")
    with pytest.raises(OSError, match="Read-only file system"):
        (shown / "new").touch()
    assert tree(shown) == files


def test_unmounting_leaves_nothing_behind(shown: Path, mounter: Mounter) -> None:
    assert mounter.unmount() == []
    assert not shown.exists()
    assert mounter.kept() == {".lock"}
    assert str(shown) not in Path("/proc/mounts").read_text().replace("\\040", " ")
