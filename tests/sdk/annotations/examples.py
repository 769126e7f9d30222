"""An ontology with each of its parts, and documents that fit it."""

from __future__ import annotations

from typing import Any

from atom_sdk.annotations.documents import Document, document_from_json
from atom_sdk.annotations.ontology import Ontology, ontology_from_json

CAR, TAXI, PERSON, LANE, SCENE, CROWD = 1, 2, 3, 4, 5, 6
COLOUR, DOORS, PLATE, READABLE, PARTS, COMPANY, WEATHER, NOTE = range(1, 9)

LABELS: list[dict[str, Any]] = [
    {
        "id": CAR,
        "name": "car",
        "tools": ["box", "rotated_box", "polygon", "mask"],
        "attributes": [
            {
                "id": COLOUR,
                "name": "colour",
                "kind": "choice",
                "required": True,
                "choices": [{"id": 1, "name": "red"}, {"id": 2, "name": "蓝色"}],
            },
            {"id": DOORS, "name": "doors", "kind": "number", "min": 1, "max": 6, "step": 1},
            {
                "id": PLATE,
                "name": "plate",
                "kind": "text",
                "required": True,
                "pattern": "[A-Z]{2}-[0-9]{1,4}",
                "max_length": 8,
                "when": {"attribute": READABLE, "is": [True]},
            },
            {"id": READABLE, "name": "readable", "kind": "flag", "default": False},
            {
                "id": PARTS,
                "name": "parts",
                "kind": "choice",
                "multiple": True,
                "choices": [{"id": 1, "name": "roof rack"}, {"id": 2, "name": "trailer"}],
            },
        ],
    },
    {
        "id": TAXI,
        "name": "taxi",
        "parent": CAR,
        "tools": ["box"],
        "attributes": [{"id": COMPANY, "name": "company", "kind": "text"}],
    },
    {
        "id": PERSON,
        "name": "قارئ",
        "tools": ["box", "keypoints", "point"],
        "skeleton": {
            "points": [{"name": "nose"}, {"name": "left eye"}, {"name": "right eye"}],
            "edges": [[0, 1], [0, 2]],
            "flips": [[1, 2]],
            "sigmas": [0.026, 0.025, 0.025],
        },
    },
    {"id": LANE, "name": "lane", "tools": ["polyline"]},
    {"id": SCENE, "name": "street", "tools": ["classification"]},
    {"id": CROWD, "name": "crowd", "tools": ["polygon", "classification"], "ignore": True},
]
SCHEMA: dict[str, Any] = {
    "multiple": False,
    "attributes": [
        {
            "id": WEATHER,
            "name": "weather",
            "kind": "choice",
            "choices": [{"id": 1, "name": "sun"}, {"id": 2, "name": "rain"}],
        },
        {"id": NOTE, "name": "note", "kind": "text"},
    ],
    "relations": [{"id": 0, "name": "drives", "from": [PERSON], "to": [CAR]}],
}
IDS = [f"{number:016x}" for number in range(1, 20)]
SQUARE = [10, 10, 50, 10, 50, 50, 10, 50]


def ontology() -> Ontology:
    return ontology_from_json(LABELS, SCHEMA)


def an_object(number: int = 0, **fields: Any) -> dict[str, Any]:
    shape = {} if "kind" in fields else {"kind": "box", "box": [10, 20, 30, 40]}
    return {"id": IDS[number], "label": CAR, **shape, "attributes": {"1": 1}, **fields}


def a_person(number: int = 1, **fields: Any) -> dict[str, Any]:
    points = [100, 50, 2, 95.25, 45, 1, 0, 0, 0]
    return {"id": IDS[number], "label": PERSON, "kind": "keypoints", "points": points, **fields}


def a_polygon(*parts: Any, **fields: Any) -> dict[str, Any]:
    shape = {"kind": "polygon", "parts": list(parts)}
    return {"id": IDS[2], "label": CAR, "attributes": {"1": 2}, **shape, **fields}


def a_document(*objects: Any, **fields: Any) -> Document:
    value = {"version": 2, "width": 640, "height": 480, "objects": list(objects), **fields}
    return document_from_json(value)


def full_document() -> Document:
    """A document with each kind of shape."""
    return a_document(
        an_object(0, attributes={"1": 1, "2": 4, "3": "AB-12", "4": True, "5": [1, 2]}),
        a_person(1, text="ein Mensch", track=IDS[15]),
        a_polygon([SQUARE, [20, 20, 30, 20, 30, 30]], [[60, 60, 70, 60, 70, 70.125]]),
        an_object(3, kind="rotated_box", box=[100, 100, 40.5, 20], angle=30.25, ignore=True),
        {"id": IDS[4], "label": LANE, "kind": "polyline", "points": [0, 0, 1.5, 2, 640, 480]},
        {"id": IDS[5], "label": PERSON, "kind": "point", "points": [0.1, 0.2]},
        an_object(6, label=TAXI, attributes={"1": 2, "6": "Taxi Müller"}),
        a_person(7, points=[100, 50, 2, 0, 0, 0, 0, 0, 0], box=[90, 40, 20, 60]),
        labels=[SCENE],
        attributes={"7": 2, "8": "寒い"},
        relations=[{"id": IDS[9], "relation": 0, "from": IDS[1], "to": IDS[6]}],
    )
