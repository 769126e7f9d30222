"""The benchmarks name missing parts before they measure anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench import environments
from bench.environments import PeerPackages
from bench.harness import PeerFailed, skipped
from bench.preflight import Need, blocked, find_browser, look, needs_of, table
from bench.targets import table as results_table


def need(name: str, parts: str, reason: str, *, is_peer: bool = False) -> Need:
    return Need(name, frozenset(parts.split()), lambda: reason, f"install {name}", is_peer)


def test_the_table_names_what_is_missing_and_the_command_that_brings_it() -> None:
    needs = [
        need("a browser", "portal", "there is no Chromium"),
        need("fuse", "reads posix", "no mount", is_peer=True),
        need("root", "posix", ""),
        need("torch", "loaders", "not asked for"),
    ]
    rows = look(needs, ["portal", "posix"])
    assert table(rows) == (
        "  needed     by                       state\n"
        "  a browser  portal                   missing: there is no Chromium: install a browser\n"
        "  fuse       posix, reads, as a peer  missing: no mount: install fuse\n"
        "  root       posix                    ok"
    )
    # A part without its peer is measured all the same.
    assert blocked(rows, ["portal", "posix"]) == {
        "portal": "there is no Chromium: install a browser"
    }


def test_a_part_asks_only_for_what_it_needs_itself(tmp_path: Path) -> None:
    needs = needs_of(10, tmp_path, tmp_path)
    asked = {part: {one.name for one in needs if part in one.parts} for part in ("loaders", "logs")}
    assert asked == {"loaders": {"mds", "hf", "webdataset", "lance"}, "logs": set()}


def test_without_playwright_every_other_part_can_be_measured() -> None:
    code = "import sys; sys.modules['playwright'] = None; import bench.__main__"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_either_browser_of_debian_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser() is None
    program = tmp_path / "chromium"
    program.touch(mode=0o755)
    assert find_browser() == str(program)


def test_a_peer_that_cannot_be_installed_is_tried_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "_FAILED", {})
    peer = PeerPackages("nothing", ("./there-is-no-such-folder",))
    with pytest.raises(PeerFailed):
        environments.install(peer, tmp_path)
    (tmp_path / "environments").rename(tmp_path / "moved")
    with pytest.raises(PeerFailed, match="skipped"):
        environments.install(peer, tmp_path)
    assert not (tmp_path / "environments").exists()


def test_what_was_skipped_is_named_in_the_results() -> None:
    page = results_table([skipped("portal", "there is no Chromium: apt-get install it")], [])
    assert "| skipped: there is no Chromium: apt-get install it |" in page
