"""JSON Patch: the examples of RFC 6902, appendix A, and what a stranger may send."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.labeling.engines.json_patch import PatchError, apply_patch


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}],
         {"baz": "qux", "foo": "bar"}),
        ({"foo": ["bar", "baz"]}, [{"op": "add", "path": "/foo/1", "value": "qux"}],
         {"foo": ["bar", "qux", "baz"]}),
        ({"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
        ({"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}],
         {"foo": ["bar", "baz"]}),
        ({"baz": "qux", "foo": "bar"}, [{"op": "replace", "path": "/baz", "value": "boo"}],
         {"baz": "boo", "foo": "bar"}),
        ({"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
         [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
         {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}}),
        ({"foo": ["all", "grass", "cows", "eat"]},
         [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
         {"foo": ["all", "cows", "eat", "grass"]}),
        ({"baz": "qux", "foo": ["a", 2, "c"]},
         [{"op": "test", "path": "/baz", "value": "qux"},
          {"op": "test", "path": "/foo/1", "value": 2}],
         {"baz": "qux", "foo": ["a", 2, "c"]}),
        ({"foo": "bar"}, [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
         {"foo": "bar", "child": {"grandchild": {}}}),
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}],
         {"foo": "bar", "baz": "qux"}),
        ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
        ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}],
         {"foo": ["bar", ["abc", "def"]]}),
        ({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"},
                      {"op": "add", "path": "/b/-", "value": 2}], {"a": [1], "b": [1, 2]}),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}),
    ],
)  # fmt: skip
def test_an_operation_does_what_the_standard_says(document: Any, patch: Any, expected: Any) -> None:
    assert apply_patch(document, patch) == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/foo", "value": "other"},
        {"op": "test", "path": "/n", "value": True},
        {"op": "add", "path": "/nowhere/a", "value": 1},
        {"op": "add", "path": "/list/4", "value": 1},
        {"op": "add", "path": "/list/01", "value": 1},
        {"op": "add", "path": "/list/-1", "value": 1},
        {"op": "remove", "path": "/list/-"},
        {"op": "remove", "path": ""},
        {"op": "replace", "path": "/absent", "value": 1},
        {"op": "move", "from": "/list", "path": "/list/0"},
        {"op": "add", "path": "no slash", "value": 1},
        {"op": "add", "path": "/bad~2", "value": 1},
        {"op": "add", "path": "/x"},
        {"op": "add", "path": ["x"], "value": 1},
        {"op": "explode", "path": "/x"},
        {"op": ["add"], "path": "/x"},
        {"path": "/x"},
    ],
)
def test_an_operation_that_does_not_fit_is_refused_and_changes_nothing(operation: Any) -> None:
    document = {"foo": "bar", "list": [1, 2], "n": 1}
    first = {"op": "add", "path": "/list/0", "value": 0}
    with pytest.raises(PatchError) as refused:
        apply_patch(document, [first, operation])
    assert refused.value.operation == 1
    assert document == {"foo": "bar", "list": [1, 2], "n": 1}


def nested(levels: int) -> list[dict[str, Any]]:
    """Return additions that make `{"a": {"a": …}}` of so many levels out of `{}`."""
    return [{"op": "add", "path": "/a" * n, "value": {}} for n in range(1, levels)]


@pytest.mark.parametrize("levels", [64, 300, 1500])
def test_a_result_has_as_many_levels_as_a_body_holds(levels: int) -> None:
    assert apply_patch({}, nested(63))
    with pytest.raises(PatchError) as refused:
        apply_patch({}, nested(levels))
    assert refused.value.sentence.code == "labeling.patch_too_deep"


@pytest.mark.parametrize("op", ["copy", "move"])
def test_copies_and_moves_make_nothing_too_deep(op: str) -> None:
    inward = [
        step
        for _ in range(1500)
        for step in (
            {"op": "move", "from": "/a", "path": "/b"},
            {"op": "add", "path": "/a", "value": {}},
            {"op": op, "from": "/b", "path": "/a/a"},
        )
    ]
    with pytest.raises(PatchError) as refused:
        apply_patch({"a": {}}, inward)
    assert refused.value.sentence.code == "labeling.patch_too_deep"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), values, max_size=4), st.text(max_size=3), values)
def test_what_is_added_is_there_and_removing_it_gives_back_the_rest(
    document: dict[str, Any], name: str, value: Any
) -> None:
    path = "/" + name.replace("~", "~0").replace("/", "~1")
    added = apply_patch(document, [{"op": "add", "path": path, "value": value}])
    assert added == {**document, name: value}
    removed = apply_patch(added, [{"op": "remove", "path": path}])
    assert removed == {key: kept for key, kept in document.items() if key != name}
