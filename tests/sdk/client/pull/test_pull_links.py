"""Where a link on the disk leads, seen from the folder that holds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from atom_sdk.client.pull.links import stays_inside


@pytest.mark.parametrize(
    ("target", "stays"),
    [
        ("a", True),
        ("nothing", True),
        ("..", False),
        ("/etc", False),
        ("../beside", False),
        ("link", True),
        ("link//a", True),
        ("./link/..", True),
    ],
)
def test_a_link_leads_out_or_stays(tmp_path: Path, target: str, stays: bool) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").write_bytes(b"a")
    # The last three are circles: they lead nowhere.
    (folder / "link").symlink_to(target)
    assert stays_inside(folder / "link", folder) is stays
