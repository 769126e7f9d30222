"""Foreign names: the file that shares the longest end, also among very many of one name."""

from __future__ import annotations

import pytest

from atom_sdk.importers.lookup import Pictures, name_parts
from atom_sdk.importers.names import NameRefusedError

MANY = [f"{number}/rgb.png" for number in range(200)]
DEEP = [f"{number}/left/rgb.png" for number in range(200)]


@pytest.mark.parametrize("paths", [MANY, DEEP, [*MANY, *DEEP]])
def test_a_name_that_very_many_files_have_is_found_by_its_folders(paths: list[str]) -> None:
    pictures = Pictures([*paths, "rgb.png"])
    for path in paths:
        assert pictures.find(f"/home/me/{path}") == path
        assert pictures.find_stem(path.removesuffix(".png")) == path
    assert pictures.find("rgb.png") == "rgb.png"
    assert pictures.find("other/rgb.jpg") is None
    with pytest.raises(NameRefusedError):
        Pictures(paths).find("rgb.png")


def test_a_name_of_another_split_means_no_file() -> None:
    pictures = Pictures(["val/a.png", "images/b.png"])
    assert pictures.find("train/a.png") is None
    assert pictures.find("train/b.png") == "images/b.png"


@pytest.mark.parametrize(
    "name", ["C:\\x\\a.png", "/x/a.png", "x/a.png", "../../x//./a.png", "s3://bucket/x/a.png"]
)
def test_a_foreign_name_keeps_the_parts_that_may_lie_below_a_folder(name: str) -> None:
    assert name_parts(f'  "{name}" ') == ["x", "a.png"]
    assert name_parts("..") == []
