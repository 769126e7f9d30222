"""s5cmd and rclone read a version unchanged."""

from __future__ import annotations

import filecmp
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gateway.s3.conftest import S3Address, Shelf

# Pushes are committed and not rolled back; the mark only makes sure that there is a database.
pytestmark = pytest.mark.django_db
BIN = Path(sys.executable).parent


@pytest.fixture
def environment(s3: S3Address, library: Shelf, tmp_path: Path) -> dict[str, str]:
    """The environment that a person would set for either tool."""
    key_id, secret = library.key.pair.access_key_id, library.key.secret
    return {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "AWS_ACCESS_KEY_ID": key_id,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": "us-east-1",
        "S3_ENDPOINT_URL": s3.url,
        "RCLONE_CONFIG": "/notfound",
        "RCLONE_CONFIG_ATOM_TYPE": "s3",
        "RCLONE_CONFIG_ATOM_PROVIDER": "Other",
        "RCLONE_CONFIG_ATOM_ENV_AUTH": "true",
        "RCLONE_CONFIG_ATOM_ENDPOINT": s3.url,
    }


@pytest.fixture
def source(library: Shelf, tmp_path: Path) -> Path:
    """The files as they were pushed."""
    for path, data in library.files.items():
        target = tmp_path / "source" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return tmp_path / "source"


def run(environment: dict[str, str], *command: str, ok: bool = True) -> str:
    """Run a tool; return what it says."""
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode == 0) is ok, done.stdout + done.stderr
    return done.stdout + done.stderr


def same(left: Path, right: Path) -> bool:
    """Return whether two folders hold the same files with the same bytes."""
    names = sorted(path.relative_to(left) for path in left.rglob("*") if path.is_file())
    others = sorted(path.relative_to(right) for path in right.rglob("*") if path.is_file())
    return names == others and all(
        filecmp.cmp(left / name, right / name, shallow=False) for name in names
    )


def test_s5cmd_lists_and_copies_a_version(
    environment: dict[str, str], source: Path, tmp_path: Path
) -> None:
    assert "s3://digits" in run(environment, "s5cmd", "ls")
    assert "odd/" in run(environment, "s5cmd", "ls", "s3://digits/v1/")
    run(environment, "s5cmd", "cp", "s3://digits/v1/*", str(tmp_path / "copy"))
    assert same(source, tmp_path / "copy")
    assert run(environment, "s5cmd", "cat", "s3://digits/v1/odd/100%.txt") == "odd/100%.txt"


def test_rclone_copies_a_version_and_then_finds_nothing_to_do(
    environment: dict[str, str], source: Path, tmp_path: Path
) -> None:
    copy = str(tmp_path / "copy")
    run(environment, "rclone", "copy", "atom:digits/v1", copy)
    assert same(source, tmp_path / "copy")
    run(environment, "rclone", "check", "atom:digits/v1", copy, "--download")
    again = run(environment, "rclone", "sync", "atom:digits/v1", copy, "-v")
    assert "There was nothing to transfer" in again
    rows = json.loads(run(environment, "rclone", "lsjson", "atom:digits/v1", "--dirs-only"))
    assert sorted(row["Path"] for row in rows) == ["0", "1", "2", "odd"]


def test_both_say_that_nothing_can_be_written(environment: dict[str, str], source: Path) -> None:
    local, remote = str(source / "large.bin"), "digits/v1/new.bin"
    said = run(environment, "s5cmd", "--retry-count", "0", "cp", local, f"s3://{remote}", ok=False)
    assert "read-only" in said
    limits = ("--retries", "1", "--low-level-retries", "1")
    said = run(environment, "rclone", "copyto", local, f"atom:{remote}", *limits, ok=False)
    assert "read-only" in said
