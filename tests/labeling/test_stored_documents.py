"""Documents come back from their stored form as they were, to the bit."""

from __future__ import annotations

import base64
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from atom.labeling.engines import packing
from atom.labeling.engines.documents import MAX_DOCUMENT_BYTES, decode, decode_for_layer, encode
from atom_sdk.annotations.documents import Document, canonical_json
from tests.sdk.annotations.strategies import documents, json_values

ID = "9f86d081884c7d65"
BOX = {"id": ID, "kind": "box", "label": 1, "box": [0.1, 2.0, -0.0, 1e300]}
objects_of_anything = st.dictionaries(
    st.sampled_from(["id", "label", "box", "points", "parts", "kind"]),
    json_values | st.just(ID) | st.just(7) | st.lists(st.floats(), max_size=3),
)


def came_back(document: dict[str, Any]) -> bytes:
    return canonical_json(decode(encode(document).data))


@given(documents)
def test_a_document_comes_back_as_its_canonical_json(document: Document) -> None:
    assert came_back(document.as_json()) == canonical_json(document)


@given(st.dictionaries(st.text(max_size=4), json_values), st.lists(objects_of_anything))
def test_what_no_document_may_hold_comes_back_too(rest: dict[str, Any], objects: list[Any]) -> None:
    document = {**rest, "objects": objects}
    assert came_back(document) == canonical_json(document)


@pytest.mark.parametrize(
    "item",
    [
        BOX | {"box": [1, 2.0, 3.0, 4.0]},
        BOX | {"box": [True, 2.0, 3.0, 4.0]},
        BOX | {"box": 4},
        BOX | {"box": None},
        BOX | {"id": ID.upper()},
        BOX | {"id": 12},
        BOX | {"label": None},
        BOX | {"label": True},
        {"kind": "box"},
        {"id": ID, "label": 1, "parts": [[3]]},
        {"id": ID, "label": 1, "points": [2, 2]},
        {"id": ID, "label": 1, "points": [1.0, 2.0, 2, 3.0]},
    ],
)
def test_what_would_change_is_stored_as_text(item: dict[str, Any]) -> None:
    document = {"version": 2, "objects": [item]}
    assert packing.pack(document) is None
    assert came_back(document) == canonical_json(document)


def test_whether_keypoints_are_visible_stays_a_whole_number() -> None:
    points = [1.5, 2.5, 2, 0.0, 0.0, 0, 3.25, 4.0, 1]
    document = {"objects": [{"id": ID, "label": 1, "kind": "keypoints", "points": points}]}
    assert packing.pack(document)
    assert came_back(document) == canonical_json(document)


def test_equal_objects_share_nothing_after_reading() -> None:
    items = [BOX | {"attributes": {"4": [1]}}, BOX | {"attributes": {"4": [1]}}]
    first, second = decode(encode({"objects": items}).data)["objects"]
    first["attributes"]["4"].append(2)
    assert second["attributes"] == {"4": [1]}


def test_a_document_of_the_largest_size_is_read() -> None:
    # Numbers of four characters need twice the bytes as float64.
    numbers = [0.0] * (MAX_DOCUMENT_BYTES // 4 - 100)
    document = {"objects": [{"id": ID, "label": 1, "kind": "polyline", "points": numbers}]}
    encoded = encode(document)
    assert packing.pack(document) == encoded.data
    assert encoded.size_bytes < MAX_DOCUMENT_BYTES
    assert decode(encoded.data) == document


def test_what_was_stored_as_text_before_is_read() -> None:
    document = {"version": 2, "objects": [BOX]}
    text = canonical_json(document)
    assert decode(zstandard.ZstdCompressor().compress(text)) == document
    assert decode(encode({"label_id": 3}).data) == {"label_id": 3}


def frame_of(size: int, *, named: bool) -> bytes:
    """Zeros in a few kilobytes; the frame names its size, or does not."""
    parameters = zstandard.ZstdCompressionParameters.from_level(3, write_content_size=named)
    return zstandard.ZstdCompressor(compression_params=parameters).compress(bytes(size))


def hostile(head: bytes = b"", numbers: bytes = b"", count: int = 1) -> bytes:
    """A packed document with a part that was made to harm; the others are those of a small one."""
    small = packing.pack({"objects": [BOX | {"box": [1.5] * 64}]})
    assert small is not None
    head_bytes = int.from_bytes(small[1:5], "little")
    head = head or small[9 : 9 + head_bytes]
    lengths = b"\x03" + len(head).to_bytes(4, "little") + count.to_bytes(4, "little")
    numbers = numbers or frame_of(8 * 64, named=True)
    return lengths + head + bytes.fromhex(ID) + numbers


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("part", ["head", "numbers", "text"])
@pytest.mark.parametrize("read", [decode, decode_for_layer])
def test_a_frame_above_the_bound_gets_no_memory(
    part: str, named: bool, read: Callable[[bytes], Any]
) -> None:
    frame = frame_of(256 << 20, named=named)
    assert len(frame) < 1 << 15
    whole = {"text": frame, "head": hostile(head=frame), "numbers": hostile(numbers=frame)}
    data = whole[part]
    tracemalloc.start()
    try:
        with pytest.raises(zstandard.ZstdError):
            read(data)
        assert tracemalloc.get_traced_memory()[1] < 4 * MAX_DOCUMENT_BYTES
    finally:
        tracemalloc.stop()


def test_a_frame_that_names_less_than_it_holds_is_refused() -> None:
    frame = bytearray(zstandard.ZstdCompressor().compress(bytes(1 << 20)))
    place = frame.index((1 << 20).to_bytes(4, "little"))
    frame[place : place + 4] = (1 << 10).to_bytes(4, "little")
    assert zstandard.frame_content_size(bytes(frame)) == 1 << 10
    with pytest.raises(zstandard.ZstdError):
        decode(bytes(frame))


def test_more_objects_than_there_are_ids_get_no_memory() -> None:
    assert decode(hostile())["objects"][0]["id"] == ID
    with pytest.raises(ValueError, match="ends within their ids"):
        decode(hostile(count=(1 << 32) - 1))


def test_documents_that_were_packed_before_are_read() -> None:
    """Fails when the form changes without another first byte: stored documents would be lost."""
    stored = (
        "AyIAAAACAAAAKLUv/SCNzQAAKDMsMzBdBgCA2InuW6NyYcCGOHnjAG8BCJ+G0IGITH1lVtfEiBgNaPkotS/9IEANAQBw"
        "AAD4PwACQAAIEPA/AEAIAKAAkDEYCDJbSQHaADICgAU="
    )
    box = {"id": ID, "label": 3, "kind": "box", "box": [1.5, 2.25, 3.0, 4.0]}
    points = [1.0, 2.0, 2, 0.0, 0.0, 0]
    keypoints = {"id": ID[::-1], "label": 3, "kind": "keypoints", "points": points}
    sizes = {"version": 2, "width": 1920, "height": 1080}
    assert decode(base64.b64decode(stored)) == {**sizes, "objects": [box, keypoints]}
