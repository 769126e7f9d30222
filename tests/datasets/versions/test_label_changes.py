"""Changed labels, told by `atom data log` and `atom data diff` beside changed files."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.datasets.browsing.engines.diff_pages import diff_table, differences, summarize
from atom.datasets.models import Version
from atom.datasets.versions.engines import change_counts
from atom.datasets.versions.engines.change_counts import count_version_changes
from atom_sdk.manifests import (
    MemoryObjectStore,
    Root,
    build_root,
    diff_roots,
    layer_table,
    write_layer,
)
from tests.datasets.commands import Atom
from tests.datasets.pushing import Pusher, class_files, delete_row, make_pack, png, put_rows
from tests.sdk.manifests.strategies import RULE, entry, table_of

# A path, the number that its bytes are made of, and its label in each of two layers.
_files = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.tuples(st.integers(0, 2), st.sampled_from("xyz"), st.sampled_from("xyz")),
    min_size=1,
)


def _version(files: dict[str, tuple[int, str, str]], store: MemoryObjectStore) -> Root:
    root = build_root([table_of({path: one[0] for path, one in files.items()})], store, rule=RULE)
    layers = []
    for place, name in enumerate(("folder", "labels"), 1):
        rows = [
            {"path": path, "digest": entry(path, one[0]).digest, "label": one[place]}
            for path, one in files.items()
        ]
        table = layer_table("classification", [row | {"source": "human"} for row in rows])
        layers.append(write_layer(name, "classification", table, store))
    return root.with_layers(*layers)


@given(_files, _files, st.integers(1, 3))
def test_a_version_counts_its_label_changes_as_a_diff_does(
    old: dict[str, tuple[int, str, str]], new: dict[str, tuple[int, str, str]], at_once: int
) -> None:
    store = MemoryObjectStore()
    diff = diff_roots(_version(old, store), _version(new, store), store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(change_counts, "_ROWS", at_once)
        counted = count_version_changes(diff)
    summary = summarize(diff_table(differences(diff), {}, {}))
    assert counted.labels_changed == summary["labels_changed"]
    assert counted.added == summary["added"] + summary["renamed"]


@pytest.fixture
def relabelled(pusher: Pusher) -> Pusher:
    """Version 2 adds, removes and changes a file; version 3 labels three others anew."""
    pusher.push(class_files(), labels_from="folder")
    pack = make_pack({"0/new.png": png(50), "1/001.png": png(51)})
    pusher.stage(pack.data)
    rows = [*put_rows(pack), delete_row("2/003.png")]
    assert pusher.commit(rows, labels_from="folder")["state"] == "published"
    edits = [
        {"op": "label", "paths": ["0/000.png", "0/001.png"], "value": "one"},
        {"op": "label", "paths": ["1/000.png"], "value": ""},
    ]
    pusher.post("edits/", {"branch": "main", "edits": edits, "message": "relabelled"})
    return pusher


def test_the_log_counts_files_with_other_labels(relabelled: Pusher, atom: Atom) -> None:
    said = atom("data", "log", "digits")[1]
    third, second, first = said.splitlines()[1:]
    assert "+0 -0 ~0 #3" in third
    assert "+1 -1 ~1 #0" in second
    assert "+12 -0 ~0 #0" in first
    rows = json.loads(atom("data", "log", "digits", "--json")[1])
    assert [row["labels_changed"] for row in rows] == [3, 0, 0]


def test_of_a_version_that_nobody_counted_no_number_is_said(relabelled: Pusher, atom: Atom) -> None:
    Version.objects.update(labels_changed=None)
    assert "#" not in atom("data", "log", "digits")[1]


def test_a_diff_lists_files_with_other_labels(relabelled: Pusher, atom: Atom) -> None:
    said = atom("data", "diff", "digits@v1", "digits@v3")[1]
    assert said.splitlines() == [
        "1 added, 1 removed, 1 changed, 0 renamed, 3 labels changed",
        "# 0/000.png  (0 → one)",
        "# 0/001.png  (0 → one)",
        "+ 0/new.png",
        "# 1/000.png  (1 → no label)",
        "~ 1/001.png",
        "- 2/003.png",
    ]


def test_a_long_diff_says_how_many_more_there_are(pusher: Pusher, atom: Atom) -> None:
    pusher.push(class_files(), labels_from="folder")
    pusher.push({f"more/{n:03d}.png": png(n) for n in range(120)})
    lines = atom("data", "diff", "digits@v1", "digits@v2")[1].splitlines()
    assert len(lines) == 1 + 50 + 1
    assert lines[-1] == "… and 70 more"
