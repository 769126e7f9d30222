"""The Range header."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.gateway.errors import RangeNotSatisfiable
from atom.gateway.ranges import ByteRange, parse_range


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-0", ByteRange(0, 1)),
        ("bytes=2-", ByteRange(2, 10)),
        ("bytes=-3", ByteRange(7, 10)),
        ("bytes=-99", ByteRange(0, 10)),
        ("bytes=4-99", ByteRange(4, 10)),
        ("", None),
        ("bytes=", None),
        ("bytes=5-2", None),
        ("bytes=0-1,3-4", None),
        ("lines=0-1", None),
    ],
)
def test_one_range_is_understood_and_the_rest_ignored(
    header: str, expected: ByteRange | None
) -> None:
    assert parse_range(header, 10) == expected


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=10-20", "bytes=-0"])
def test_a_range_outside_the_file_is_refused_with_its_size(header: str) -> None:
    with pytest.raises(RangeNotSatisfiable) as caught:
        parse_range(header, 10)

    assert caught.value.headers["Content-Range"] == "bytes */10"


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 40))
def test_a_range_never_leaves_the_file(first: int, last: int, size: int) -> None:
    try:
        found = parse_range(f"bytes={first}-{last}", size)
    except RangeNotSatisfiable:
        assert first >= size
        return
    if found is not None:
        assert 0 <= found.start < found.end <= size
