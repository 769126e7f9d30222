"""Each pack and node has one source at a time, and the origin gives each pack once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from atom.cache.engines.sources import (
    OpenFetch,
    SourceKind,
    choose_nodes,
    choose_sources,
    rotated,
)


@given(
    nodes=st.integers(1, 6),
    count=st.integers(0, 10),
    room=st.integers(1, 4),
    ceiling=st.integers(1, 4),
    failures=st.sets(st.integers(0, 80), max_size=20),
    random=st.randoms(use_true_random=False),
)
def test_all_nodes_get_all_packs_and_the_origin_is_read_once(
    nodes: int, count: int, room: int, ceiling: int, failures: set[int], random: object
) -> None:
    names, packs = [f"n{at}" for at in range(nodes)], [f"p{at}" for at in range(count)]
    here: dict[str, set[str]] = {name: set() for name in names}
    fetches: list[OpenFetch] = []
    from_origin: list[str] = []
    failed_packs: set[str] = set()
    for ended in range(1, 1000):
        if all(len(have) == count for have in here.values()):
            break
        for place, name in enumerate(names):
            open_origin = sum(row.kind is SourceKind.ORIGIN for row in fetches)
            missing = [pack for pack in rotated(packs, place, nodes) if pack not in here[name]]
            holders = {pack: [node for node in names if pack in here[node]] for pack in packs}
            choices = choose_sources(
                name, missing, holders, fetches, room=room, origin_room=ceiling - open_origin
            )
            assert len(choices) <= room
            for choice in choices:
                waiting = [row for row in fetches if (row.node, row.pack) == (name, choice.pack)]
                assert all(row.kind is SourceKind.WAIT for row in waiting)
                assert not choice.peer or choice.pack in here[choice.peer]
                fetches = [row for row in fetches if row not in waiting]
                kind = SourceKind.PEER if choice.peer else SourceKind.ORIGIN
                fetches.append(OpenFetch(name, choice.pack, kind, choice.peer))
                from_origin += [] if choice.peer else [choice.pack]
            origin = [row.pack for row in fetches if row.kind is SourceKind.ORIGIN]
            assert len(origin) == len(set(origin))
            assert len(origin) <= ceiling
        running = [row for row in fetches if row.kind is not SourceKind.WAIT]
        assert running
        row = random.choice(running)  # type: ignore[attr-defined]  # hypothesis gives a Random
        fetches.remove(row)
        if ended in failures:
            failed_packs.add(row.pack)
            fetches.append(OpenFetch(row.node, row.pack, SourceKind.WAIT))
        else:
            here[row.node].add(row.pack)
    assert all(len(have) == count for have in here.values())
    for pack in set(packs) - failed_packs:
        assert from_origin.count(pack) == 1


def test_nodes_with_the_most_of_a_version_come_first() -> None:
    free = {"a": 10, "b": 90, "c": 20}
    assert choose_nodes({"a": 5}, free, 2) == ["a", "b"]
    assert choose_nodes({}, free, 3) == ["b", "c", "a"]
