"""Changes of objects, counted over all pictures and named for one."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.manifests.diff.diff import LayerDiff
from atom_sdk.manifests.diff.object_diff import (
    ObjectChange,
    count_object_changes,
    object_changes,
)
from tests.sdk.manifests.drawn import Drawn, box, drawn, object_id, picture

objects = st.lists(
    st.builds(
        box,
        st.sampled_from("12345"),
        st.sampled_from(["car", "bus"]),
        sizes=st.sampled_from([[], [1, 3], [1, 4]]),
        text=st.sampled_from([None, "", "a"]),
        ignore=st.booleans(),
    ),
    max_size=4,
    unique_by=lambda each: each["id"],
)


def test_changes_of_one_picture_are_named() -> None:
    old = [box("1"), box("2"), box("3")]
    new = [box("2", "bus", ignore=True), box("1"), box("4")]

    before, after = (drawn(picture("a", *side))["objects"][0].as_py() for side in (old, new))

    assert list(object_changes(before, after)) == [
        ObjectChange(object_id("2"), "changed", "bus", "box", ("label", "ignore")),
        ObjectChange(object_id("4"), "added", "car", "box"),
        ObjectChange(object_id("3"), "removed", "car", "box"),
    ]


@given(st.lists(st.tuples(objects, objects), max_size=4), objects, objects)
def test_counts_are_those_of_each_picture(
    changed: list[tuple[list[Drawn], list[Drawn]]], added: list[Drawn], removed: list[Drawn]
) -> None:
    old, new = (
        drawn(*(picture(f"c{n}", *pair[side]) for n, pair in enumerate(changed))) for side in (0, 1)
    )
    only_new, only_old = drawn(picture("a", *added)), drawn(picture("r", *removed))

    found = count_object_changes(LayerDiff("objects", "objects", only_new, only_old, old, new))

    rows = {row.pop("path"): row for row in found.to_pylist()}
    for row, (before, after) in enumerate(zip(old.to_pylist(), new.to_pylist(), strict=True)):
        counts = Counter(c.change for c in object_changes(before["objects"], after["objects"]))
        assert rows[f"c{row}"] == {kind: counts[kind] for kind in rows[f"c{row}"]}
    assert rows["a"] == {"added": len(added), "removed": 0, "changed": 0}
    assert rows["r"] == {"added": 0, "removed": len(removed), "changed": 0}
