"""Ontologies that are ready to start with. The portal shows their names in its language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

CLASSIFICATION: Final = "image-classification"
OBJECTS: Final = "image-objects"


@dataclass(frozen=True)
class Template:
    """A template by its key; `name` and `description` are English."""

    key: str
    name: str
    description: str
    modality: str
    labels: list[dict[str, Any]] = field(default_factory=list)
    schema: dict[str, Any] = field(default_factory=dict)
    batch_size: int = 8


def _choice(number: int, name: str, *names: str, **rest: Any) -> dict[str, Any]:
    choices = [{"id": index, "name": one} for index, one in enumerate(names, 1)]
    return {"id": number, "name": name, "kind": "choice", "choices": choices, **rest}


def _flag(number: int, name: str) -> dict[str, Any]:
    return {"id": number, "name": name, "kind": "flag", "default": False}


_COLORS: Final = (
    "white", "black", "grey", "silver", "red", "blue", "green", "yellow", "brown", "other",
)  # fmt: skip
_CENSOR: Final = Template(
    key="censor",
    name="Censor",
    description="Sort pictures in a grid: the first class is preset, mark only the exceptions.",
    modality=CLASSIFICATION,
    labels=[
        {"id": 0, "name": "clean", "color": "#009E73", "hotkey": "1"},
        {"id": 1, "name": "advertising", "color": "#E69F00", "hotkey": "2"},
        {"id": 2, "name": "violence", "color": "#D55E00", "hotkey": "3"},
        {"id": 3, "name": "nudity", "color": "#CC79A7", "hotkey": "4"},
        {"id": 4, "name": "unsure", "color": "#7F7F7F", "hotkey": "5"},
    ],
    batch_size=25,
)


def _vehicle(number: int, name: str, color: str, key: str, first: int, *types: str) -> Any:
    return {
        "id": number, "name": name, "color": color, "hotkey": key, "tools": ["box"],
        "attributes": [
            _choice(first, "colour", *_COLORS, required=True),
            _choice(first + 1, "type", *types, required=True),
            _flag(first + 2, "occluded"),
        ],
    }  # fmt: skip


_VEHICLES: Final = Template(
    key="car-bike",
    name="Car and bike",
    description="Boxes of cars and bikes with colour and type; plates as polygons with their text.",
    modality=OBJECTS,
    labels=[
        _vehicle(0, "car", "#0072B2", "1", 1, "sedan", "suv", "van", "bus", "truck", "other"),
        _vehicle(1, "bike", "#E69F00", "2", 11, "bicycle", "motorcycle", "scooter", "tricycle"),
        {
            "id": 2, "name": "plate", "color": "#009E73", "hotkey": "3", "tools": ["polygon"],
            "attributes": [
                {"id": 21, "name": "text", "kind": "text", "max_length": 16},
                _flag(22, "unreadable"),
            ],
        },
        {
            "id": 3, "name": "ignore", "color": "#7F7F7F", "hotkey": "4",
            "tools": ["box", "polygon"], "ignore": True,
        },
    ],
    schema={"relations": [{"id": 1, "name": "plate of", "from": [2], "to": [0, 1]}]},
)  # fmt: skip

# The 17 points of COCO, their edges (from 0), the pairs that a mirror swaps, and OKS's sigmas as
# Ronchi and Perona measured them (ICCV 2017).
_POINTS: Final = (
    "nose", "left_eye", "right_eye", "left_ear", "right_ear", "left_shoulder", "right_shoulder",
    "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hip", "right_hip",
    "left_knee", "right_knee", "left_ankle", "right_ankle",
)  # fmt: skip
_EDGES: Final = (
    (15, 13), (13, 11), (16, 14), (14, 12), (11, 12), (5, 11), (6, 12), (5, 6), (5, 7), (6, 8),
    (7, 9), (8, 10), (1, 2), (0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6),
)  # fmt: skip
_SIGMAS: Final = (
    0.026, 0.025, 0.025, 0.035, 0.035, 0.079, 0.079, 0.072, 0.072, 0.062, 0.062, 0.107, 0.107,
    0.087, 0.087, 0.089, 0.089,
)  # fmt: skip
_PERSON: Final = Template(
    key="person",
    name="Person",
    description="A box and the 17 points of COCO for each person, with attributes.",
    modality=OBJECTS,
    labels=[
        {
            "id": 0, "name": "person", "color": "#0072B2", "hotkey": "1",
            "tools": ["box", "keypoints"],
            "attributes": [
                _choice(1, "age", "adult", "child", "unsure"),
                _choice(2, "posture", "standing", "walking", "sitting", "lying", "other"),
                _flag(3, "occluded"),
                _flag(4, "truncated"),
            ],
            "skeleton": {
                "points": [{"name": name} for name in _POINTS],
                "edges": [list(edge) for edge in _EDGES],
                "flips": [[left, left + 1] for left in range(1, len(_POINTS), 2)],
                "sigmas": list(_SIGMAS),
            },
        },
        {
            "id": 1, "name": "crowd", "color": "#7F7F7F", "hotkey": "2",
            "tools": ["box", "polygon", "mask"], "ignore": True,
        },
    ],
)  # fmt: skip
_BLANK: Final = Template(
    key="blank",
    name="Blank",
    description="One class with boxes; add your own classes, tools and attributes.",
    modality=OBJECTS,
    labels=[
        {"id": 0, "name": "object", "color": "#0072B2", "hotkey": "1", "tools": ["box"]},
    ],
)

TEMPLATES: Final[Mapping[str, Template]] = {
    template.key: template for template in (_CENSOR, _VEHICLES, _PERSON, _BLANK)
}
