"""A version of the server as a folder on the client's machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from atom_sdk.client import Client
from atom_sdk.mount import MountOptions
from tests.datasets.pushing import class_files, png

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(client: Client) -> Shell:
    """Run `atom …` as the same person with the same cache."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        program = Path(sys.executable).parent / "atom"
        config = client.config
        account = {"ATOM_URL": config.url, "ATOM_TOKEN": config.token}
        return subprocess.run(
            [str(program), *map(str, arguments)],
            env={**os.environ, **account, "ATOM_PROJECT": config.project},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def shown(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.pushed
def test_a_version_is_mounted_listed_and_taken_away(
    client: Client, shell: Shell, folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "shown"

    mounted = json.loads(
        shell("mount", "digits@main", target, "--how", "hardlinks", "--json").stdout
    )
    assert (mounted["reference"], mounted["how"]) == ("digits@v1", "hardlinks")
    assert shown(target) == class_files()
    again = shell("mount", "digits", target)
    assert (again.returncode, "shows digits@v1 already" in again.stderr) == (4, True)
    (row,) = json.loads(shell("mount", "--json").stdout)
    assert (row["folder"], row["is_there"]) == (str(target), True)
    assert "digits@v1" in shell("mount").stdout

    taken = shell("unmount", target)
    assert taken.returncode == 0, taken.stderr
    assert not target.exists()
    assert shell("unmount", target).returncode == 3
    assert "Nothing is mounted" in shell("mount").stdout


@pytest.mark.pushed
def test_people_are_told_how_a_version_was_mounted_or_why_not(
    client: Client, shell: Shell, folder: Path, tmp_path: Path
) -> None:
    full = shell("mount", "digits@v1", folder)
    assert (full.returncode, "is not empty" in full.stderr) == (2, True)
    told = shell("mount", "digits@v1", tmp_path / "again", "--how", "hardlinks", "--verify-all")
    count = len(class_files())
    assert f"{count} files," in told.stdout
    assert f"How: hard links to files that were unpacked in the cache; {count} files" in told.stdout
    client.datasets.mount("digits@v1", tmp_path / "third", MountOptions(how="hardlinks"))
    assert shown(tmp_path / "third") == shown(tmp_path / "again") == class_files()
    unknown = shell("mount", "digits@v9", tmp_path / "shown")
    assert unknown.returncode == 3
    assert not (tmp_path / "shown").exists()
    assert shown(folder) == class_files()


def test_a_mounted_version_has_the_links_that_were_pushed(
    client: Client, shell: Shell, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    (source / "cat").mkdir(parents=True)
    (source / "cat" / "a.png").write_bytes(png(1))
    links = {"16/cat.png": "../cat/a.png", "pets": "cat", "broken": "nothing", "round": "round"}
    for path, leads_to in {**links, "host": "/etc/hostname"}.items():
        (source / path).parent.mkdir(exist_ok=True)
        (source / path).symlink_to(leads_to)
    client.datasets.push(source, "icons")
    target = tmp_path / "shown"

    told = shell("mount", "icons", target, "--how", "hardlinks")

    assert "1 file and 4 links" in told.stdout, told.stderr
    assert "Not shown: 1 link out of the version. To show them: --unsafe-links." in told.stdout
    assert {path: os.readlink(target / path) for path in links} == links
    assert (target / "pets" / "a.png").read_bytes() == png(1)
    assert not (target / "host").is_symlink()
    (row,) = json.loads(shell("mount", "--json").stdout)
    assert (row["files"], row["links"], row["links_left_out"]) == (1, 4, 1)
    assert json.loads(shell("unmount", target, "--json").stdout)["left"] == []
    assert not target.exists()
    record = client.datasets.mount("icons", target, MountOptions(unsafe_links=True))
    assert (record.files, record.links, record.links_left_out) == (1, 5, 0)
    assert os.readlink(target / "host") == "/etc/hostname"
    assert shell("unmount", target).returncode == 0
    assert not target.exists()
