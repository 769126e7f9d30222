"""Which paths a pack accepts."""

from __future__ import annotations

import pytest

from atom_sdk import errors
from atom_sdk.packs import case_collisions, encode_path


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("", errors.EmptyPathError),
        ("/etc/passwd", errors.AbsolutePathError),
        ("..", errors.PathTraversalError),
        ("a/../b", errors.PathTraversalError),
        ("a/..", errors.PathTraversalError),
        (".", errors.PathNotNormalisedError),
        ("a//b", errors.PathNotNormalisedError),
        ("a/./b", errors.PathNotNormalisedError),
        ("a/", errors.PathNotNormalisedError),
        ("a\0b", errors.NulInPathError),
        ("caf\udce9", errors.PathNotUnicodeError),
        ("x" * 256, errors.PathTooLongError),
        ("/".join(["x" * 200] * 21), errors.PathTooLongError),
    ],
)
def test_a_path_that_no_dataset_can_hold_is_refused_by_its_own_error(
    path: str, error: type[errors.PathError]
) -> None:
    with pytest.raises(errors.PathError) as caught:
        encode_path(path)
    assert type(caught.value) is error
    assert caught.value.path == path


@pytest.mark.parametrize(
    "path",
    [
        "a",
        "-rf",
        " ",
        "a b/c d",
        "new\nline",
        "😀/🎉.png",
        "..a",
        "a..",
        "...",
        ".hidden/x",
        "a\\b",
        "*?",
    ],
)
def test_an_odd_path_is_kept_byte_for_byte(path: str) -> None:
    assert encode_path(path) == path.encode()


def test_a_path_is_not_changed_to_another_unicode_form() -> None:
    assert encode_path("e\u0301") != encode_path("\u00e9")


def test_paths_that_differ_by_case_or_normal_form_are_reported_together() -> None:
    assert case_collisions(lambda: ["A/x", "a/X", "b", "e\u0301", "\u00e9"]) == [
        ("A/x", "a/X"),
        ("e\u0301", "\u00e9"),
    ]


def test_every_path_error_has_a_code_of_its_own() -> None:
    classes = errors.PathError.__subclasses__()
    assert len({error.code for error in classes}) == len(classes) == 8
