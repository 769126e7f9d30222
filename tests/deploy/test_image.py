"""The image's root: made twice by `deploy/image/install`, and started by chroot."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.db import connection

from atom.settings.environment import BASE_DIR
from atom_sdk.runner.build import build_runner
from tests.jobs.live import wait_for

INSTALL = BASE_DIR / "deploy" / "image" / "install"
PACKAGES = "python3,python3-venv,ca-certificates"
SETTINGS = {
    "PATH": "/opt/atom/venv/bin:/usr/sbin:/usr/bin:/bin",
    "ATOM_HOME": "/var/lib/atom",
    "DJANGO_SETTINGS_MODULE": "atom.settings.testing",
}

READY = "/var/lib/atom/run/web.ready"

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


def in_root(root: Path, *command: str) -> list[str]:
    """Return a command as one of the image's user in the root."""
    shell = ["sh", "-c", 'cd /opt/atom; exec "$@"', "sh"]
    return ["chroot", "--userspec=10001:10001", str(root), *shell, *command]


def inside(root: Path, *command: str, env: Mapping[str, str] = SETTINGS) -> str:
    """Run a command in the root as the image's user; return what it printed."""
    done = subprocess.run(
        in_root(root, *command), capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def services() -> dict[str, str]:
    """Return the variables by which a process in the root finds the services of the tests."""
    server = os.environ["DATABASE_URL"].rsplit("/", 1)[0]
    names = ("REDIS_URL", "S3_ENDPOINT_URL", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")
    return {
        "DATABASE_URL": f"{server}/{connection.settings_dict['NAME']}",
        "S3_BUCKET": settings.S3_BUCKET,
        **{name: os.environ[name] for name in names},
    }


@pytest.fixture
def web(roots: tuple[Path, Path], transactional_db: None) -> Iterator[str]:
    """Serve from the root as the chart's container does; give the address."""
    root = roots[0]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = SETTINGS | services() | {"ATOM_WEB_PORT": str(port)}
    inside(root, "mkdir", "-p", "/var/lib/atom/run")
    inside(root, "python", "manage.py", "collectstatic", "--noinput", env=env)
    program = ("python", "-m", "atom.web", "1", "20", READY)
    process = subprocess.Popen(in_root(root, *program), env=env)
    try:
        wait_for(lambda: process.poll() is not None or (root / READY[1:]).exists(), 60)
        assert process.poll() is None
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def test_the_web_server_answers_and_finds_its_services(web: str) -> None:
    assert httpx.get(f"{web}/healthz").json() == {"status": "ok"}
    ready = httpx.get(f"{web}/readyz", timeout=60)
    assert ready.status_code == 200, ready.text
    assert {name for name, part in ready.json()["parts"].items() if part["ok"]} >= {
        *("postgresql", "valkey", "object_store"),
    }
    page = httpx.get(f"{web}/")
    assert page.status_code == 200
    assert '<div id="root"' in page.text
    assert httpx.get(f"{web}/api/v1/auth/session/").json()["authenticated"] is False


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
