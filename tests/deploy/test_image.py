"""The image's root: made twice by `deploy/image/install`, and started by chroot."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from atom.settings.environment import BASE_DIR
from atom_sdk.runner.build import build_runner

INSTALL = BASE_DIR / "deploy" / "image" / "install"
PACKAGES = "python3,python3-venv,ca-certificates"
SETTINGS = {
    "PATH": "/opt/atom/venv/bin:/usr/sbin:/usr/bin:/bin",
    "ATOM_HOME": "/var/lib/atom",
    "DJANGO_SETTINGS_MODULE": "atom.settings.testing",
}

pytestmark = [
    pytest.mark.deep,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(os.geteuid() != 0, reason="a root of its own needs the rights of root"),
    pytest.mark.skipif(shutil.which("mmdebstrap") is None, reason="mmdebstrap is not installed"),
    pytest.mark.skipif(
        not (BASE_DIR / "frontend" / "dist" / "index.html").exists(),
        reason="the portal is not built",
    ),
]


def install(base: Path, root: Path) -> Path:
    root.mkdir()
    subprocess.run(["tar", "-C", root, "-xf", base], check=True)
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000", "PYTHON": sys.executable}
    subprocess.run([INSTALL, root], check=True, env=environment)
    return root


def digest_of(folder: Path) -> dict[str, str]:
    """Return for each path its mode, owner, time and content."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        content = str(path.readlink()) if path.is_symlink() else ""
        if path.is_file() and not path.is_symlink():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        name = str(path.relative_to(folder))
        digests[name] = f"{state.st_mode} {state.st_uid} {int(state.st_mtime)} {content}"
    return digests


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("image")
    base = folder / "base.tar"
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", f"--include={PACKAGES}"]
    subprocess.run([*command, "bookworm", base], check=True)
    yield install(base, folder / "first"), install(base, folder / "second")
    shutil.rmtree(folder)


def inside(root: Path, *command: str) -> str:
    """Run a command in the root as the image's user; return what it printed."""
    started = [
        "chroot",
        "--userspec=10001:10001",
        str(root),
        "sh",
        "-c",
        'cd /opt/atom; exec "$@"',
        "sh",
    ]
    done = subprocess.run(
        [*started, *command], capture_output=True, text=True, env=SETTINGS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_two_installations_are_equal(roots: tuple[Path, Path]) -> None:
    first, second = (digest_of(root / "opt" / "atom") for root in roots)
    assert {
        name for name in first.keys() | second.keys() if first.get(name) != second.get(name)
    } == set()


def test_the_server_finds_no_fault_with_itself(roots: tuple[Path, Path]) -> None:
    assert "no issues" in inside(roots[0], "python", "manage.py", "check")
    assert (roots[0] / "opt" / "atom" / "frontend" / "dist" / "index.html").exists()


def test_the_runner_and_the_command_line_start(roots: tuple[Path, Path]) -> None:
    runner = build_runner(roots[0] / "tmp")
    assert "build-environment" in inside(roots[0], "python3", f"/tmp/{runner.name}", "--help")
    assert "Usage" in inside(roots[0], "atom", "--help")


def test_its_user_may_write_its_home_only(roots: tuple[Path, Path]) -> None:
    inside(roots[0], "sh", "-c", "touch /var/lib/atom/mine && ! touch /opt/atom/mine")
