"""Links: the format, where they lead, and what readers see that know no links."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk import errors
from atom_sdk.manifests import (
    Changes,
    Entry,
    MemoryObjectStore,
    Root,
    ViewSelector,
    apply_changes,
    build_root,
    build_view,
    decode_root,
    encode_root,
    entries_table,
    iter_ranges,
    layer_table,
    merge_roots,
    read_root,
    table_entries,
    write_layer,
    write_root,
)
from atom_sdk.manifests.links import (
    LINK_MEDIA_TYPE,
    follow_link,
    leads_of,
    link_digest,
    link_entry,
    read_links,
)
from atom_sdk.manifests.ranges.deltas import DeltaRule
from atom_sdk.manifests.roots.groups import GroupRule
from atom_sdk.manifests.views import selected_with_links
from atom_sdk.readers import ViewIndex
from tests.sdk.manifests.strategies import RULE, entry, table_of

PACK = bytes(31) + b"p"


def stored(path: str, size: int = 3) -> Entry:
    return Entry(path, size, bytes([size]) * 32, "image/png", None, PACK, 4096 * size)


def root_of(*entries: Entry) -> tuple[MemoryObjectStore, bytes]:
    store = MemoryObjectStore()
    return store, write_root(build_root([entries_table(entries)], store, rule=RULE), store)


def test_an_entry_holds_the_target() -> None:
    link = link_entry("a/b", "../c")
    assert (link.link, link.size, link.media_type) == ("../c", 4, LINK_MEDIA_TYPE)
    assert link.digest == link_digest("../c")
    assert (link.pack, link.offset, link.source) == (None, None, None)
    store, digest = root_of(stored("c"), link)
    root = read_root(digest, store)
    assert (root.count, root.links, root.files) == (2, 1, 1)
    assert [row for table in iter_ranges(root, store) for row in table_entries(table)] == [
        link,
        stored("c"),
    ]


@pytest.mark.parametrize("target", ["", "a\0b", "x" * 4096, "\udcff"])
def test_a_target_that_no_dataset_holds_is_refused(target: str) -> None:
    with pytest.raises(errors.LinkTargetError):
        link_entry("a", target)


def test_a_root_with_links_has_a_format_of_its_own() -> None:
    store = MemoryObjectStore()
    plain = build_root([table_of({"a": 1})], store)
    linked = build_root([entries_table([entry("a", 1), link_entry("b", "a")])], store)
    assert json.loads(encode_root(plain))["format"] == "atom-root/1"
    assert json.loads(encode_root(linked))["format"] == "atom-root/2"
    assert "links" not in json.loads(encode_root(plain))["ranges"][0]
    without = apply_changes(linked, Changes(deletes=frozenset({"b"})), store)
    assert encode_root(without) == encode_root(plain)


def test_links_in_a_root_of_the_old_format_are_damage() -> None:
    store, digest = root_of(entry("a", 1), link_entry("b", "a"))
    data = encode_root(read_root(digest, store)).replace(b"atom-root/2", b"atom-root/1")
    with pytest.raises(errors.ManifestCorruptError, match="atom-root/1"):
        decode_root(data)
    plain = encode_root(build_root([table_of({"a": 1})], store))
    with pytest.raises(errors.ManifestCorruptError, match="atom-root/2"):
        decode_root(plain.replace(b"atom-root/1", b"atom-root/2"))


def test_groups_say_how_many_links_they_have() -> None:
    store = MemoryObjectStore()
    names = [f"{number:03}" for number in range(200)]
    entries = [link_entry(n, "000") if int(n) % 3 else entry(n, 1) for n in names]
    root = build_root([entries_table(entries)], store, rule=RULE)
    rule = GroupRule(flat=2, modulus=8, cap=4)
    again = read_root(write_root(root, store, rule), store)
    assert again.groups
    assert again.links == root.links == sum(part.links for part in root.ranges) == 133
    assert read_links(again, store) == {n: "000" for n in names if int(n) % 3}


@given(st.dictionaries(st.integers(0, 60), st.sampled_from(["file", "a", "b", "gone"])))
def test_changes_give_the_root_that_is_built_from_scratch(changed: dict[int, str]) -> None:
    store = MemoryObjectStore()

    def entry_of_kind(number: int, kind: str) -> Entry:
        path = f"{number:02}"
        return entry(path, 1) if kind == "file" else link_entry(path, kind)

    before = {number: "file" if number % 2 else "a" for number in range(60)}
    root = build_root(
        [entries_table(entry_of_kind(*pair) for pair in before.items())], store, rule=RULE
    )
    puts = entries_table(entry_of_kind(n, kind) for n, kind in changed.items() if kind != "gone")
    gone = frozenset(f"{n:02}" for n, kind in changed.items() if kind == "gone")
    after = {n: k for n, k in {**before, **changed}.items() if k != "gone"}
    if not after:
        return
    built = build_root(
        [entries_table(entry_of_kind(*pair) for pair in after.items())], store, rule=RULE
    )
    for deltas in (DeltaRule(), DeltaRule(min_ranges=1, max_share=1.0)):
        made = apply_changes(root, Changes(puts, gone), store, RULE, deltas)
        assert (made.content, made.links, made.count) == (built.content, built.links, built.count)
        assert read_links(made, store) == {
            f"{n:02}": kind for n, kind in after.items() if kind != "file"
        }


NAMES = st.sampled_from(["a", "b", "c"])
PARTS = st.sampled_from(["a", "b", "c", "..", ".", ""])
TARGETS = st.lists(PARTS, min_size=1, max_size=5).map("/".join).filter(bool)


@given(
    st.dictionaries(
        st.lists(NAMES, min_size=1, max_size=3).map("/".join), st.one_of(st.none(), TARGETS)
    )
)
def test_links_lead_where_the_kernel_follows_them(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, str | None]
) -> None:
    """In a tree whose folders all exist, as far above as `..` may go."""
    taken = {p for p in tree if any(q.startswith(f"{p}/") for q in tree)}
    tree = {path: target for path, target in tree.items() if path not in taken}
    links = {path: target for path, target in tree.items() if target is not None}
    outside = tmp_path_factory.mktemp("tree")
    top = outside.joinpath(*"0123456789") / "top"
    top.mkdir(parents=True)
    for path, target in tree.items():
        place = top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if target is None:
            place.write_bytes(b"x")
        else:
            os.symlink(target, place)
    for path, lead in leads_of(links).items():
        try:
            real = Path(top / path).resolve(strict=True)
        except (OSError, RuntimeError):
            # Nothing is there, or it is a circle: nothing that could be shown.
            assert lead.path is None or not os.path.exists(top / path)
            continue
        if lead.leaves:
            # Perhaps back into the tree by the name of its top folder: no name of a version.
            continue
        assert lead.path is not None
        assert real == (top / lead.path).resolve()
        assert real.is_relative_to(top)


@pytest.mark.parametrize(
    ("path", "target", "links", "lead"),
    [
        ("a/b", "../c", {}, "c"),
        ("a/b", "./../a//c/", {}, "a/c"),
        ("b", "..", {}, "leaves"),
        ("a/b", "..", {}, ""),
        ("b", "/etc/passwd", {}, "leaves"),
        ("b", "c/x", {"c": "d/e"}, "d/e/x"),
        ("b", "d/../x", {"d": "p/q/r"}, "p/q/x"),
        # Read as text this would be "x"; the kernel goes out of the tree.
        ("y", "s/d/../../x", {"s/d": ".."}, "leaves"),
        ("y", "d/../x", {"d": "."}, "leaves"),
        ("y", "d/x", {"d": "/usr"}, "leaves"),
        ("y", "z", {"y": "z", "z": "y"}, "circle"),
    ],
)
def test_where_a_link_leads(path: str, target: str, links: dict[str, str], lead: str) -> None:
    found = follow_link(path, {**links, path: target}.get)
    said = "leaves" if found.leaves else "circle" if found.path is None else found.path
    assert said == lead


def view_of(tmp_path: Path, selector: ViewSelector | None = None) -> ViewIndex:
    store = MemoryObjectStore()
    root = build_root(
        [
            entries_table(
                [
                    stored("real/cat.png", 3),
                    stored("real/dog.png", 5),
                    link_entry("folder", "real"),
                    link_entry("icons/16.png", "../real/cat.png"),
                    link_entry("icons/32.png", "16.png"),
                    link_entry("icons/48.png", "../folder/dog.png"),
                    link_entry("icons/gone.png", "nothing.png"),
                    link_entry("out", "/etc"),
                ]
            )
        ],
        store,
        rule=RULE,
    )
    labels = {"real/cat.png": ("cat", 3), "real/dog.png": ("dog", 5)}
    rows = [
        {"path": path, "digest": bytes([size]) * 32, "label": label, "source": "folder"}
        for path, (label, size) in labels.items()
    ]
    split = [{"path": "real/dog.png", "digest": bytes([5]) * 32, "value": "test"}]
    root = root.with_layers(
        write_layer("folder", "classification", layer_table("classification", rows), store),
        write_layer("split", "split", layer_table("split", split), store),
    )
    build_view(root, store, tmp_path / "view", selector)
    return ViewIndex(tmp_path / "view")


def test_a_view_shows_a_link_to_a_file_as_that_file(tmp_path: Path) -> None:
    view = view_of(tmp_path)
    rows = range(len(view))
    assert [(view.path_of(row), view.label_of(row), view.split_of(row)) for row in rows] == [
        ("icons/16.png", "cat", None),
        ("icons/32.png", "cat", None),
        ("icons/48.png", "dog", "test"),
        ("real/cat.png", "cat", None),
        ("real/dog.png", "dog", "test"),
    ]
    assert view.digest_of(0) == view.digest_of(3)
    assert view.offsets[2] == view.offsets[4]
    assert view.links.inside == {
        "folder": "real",
        "icons/16.png": "../real/cat.png",
        "icons/32.png": "16.png",
        "icons/48.png": "../folder/dog.png",
        "icons/gone.png": "nothing.png",
    }
    assert view.links.leaving == {"out": "/etc"}


def test_a_link_is_in_the_split_of_its_file_and_no_other(tmp_path: Path) -> None:
    view = view_of(tmp_path, ViewSelector(splits=frozenset({"test"})))
    assert [view.path_of(row) for row in range(len(view))] == ["icons/48.png", "real/dog.png"]
    assert view.links.inside == {"icons/48.png": "../folder/dog.png"}
    view = view_of(tmp_path, ViewSelector(splits=frozenset({"train"})))
    assert "folder" not in view.links.inside
    assert set(view.links.inside) == {"icons/16.png", "icons/32.png"}


def test_what_has_no_links_reads_no_links() -> None:
    store, digest = root_of(stored("a"))
    for chosen in selected_with_links(read_root(digest, store), store, ViewSelector()):
        assert len(chosen.files) == 1
        assert not len(chosen.links)


def test_a_merge_takes_a_link_as_one_value() -> None:
    store = MemoryObjectStore()

    def root(*entries: Entry) -> Root:
        return build_root([entries_table([stored("keep"), *entries])], store, rule=RULE)

    base = root(link_entry("l", "a"), stored("f"))
    ours = root(link_entry("l", "b"), stored("f"))
    theirs = root(link_entry("l", "a"), link_entry("f", "keep"))
    merged = merge_roots(base, ours, theirs, store).root
    assert merged is not None
    assert read_links(merged, store) == {"l": "b", "f": "keep"}
    both = merge_roots(base, ours, root(link_entry("l", "c"), stored("f")), store)
    assert both.root is None
    assert [(c.path, c.ours, c.theirs) for c in both.conflicts] == [("l", "changed", "changed")]
