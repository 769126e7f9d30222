"""Tasks of objects and documents for them."""

from __future__ import annotations

from typing import Any

from atom.core.ids import uuid7
from atom.labeling.actions.submissions import Submission
from atom.labeling.models import LabelTask, WorkItem, WorkSlot
from tests.factories.labeling import make_task

CAR, PLATE = 1, 2
COLOUR, RED, BLUE = 4, 1, 2
LABELS: list[dict[str, Any]] = [
    {
        "id": CAR,
        "name": "car",
        "tools": ["box", "polygon"],
        "attributes": [
            {
                "id": COLOUR,
                "name": "colour",
                "kind": "choice",
                "choices": [{"id": RED, "name": "red"}, {"id": BLUE, "name": "blue"}],
            }
        ],
    },
    {"id": PLATE, "name": "plate", "tools": ["polygon"]},
]
WIDTH, HEIGHT = 640, 480


def drawn_task(n_items: int = 2, **plan: Any) -> LabelTask:
    """Return a started task of objects whose pictures are 640 by 480."""
    plan = {
        "labels": LABELS, "modality": "image-objects", "batch_size": 8, "prefix": "unlabelled/",
        **plan,
    }  # fmt: skip
    task = make_task(n_items, **plan)
    WorkItem.objects.filter(label_task=task).update(width=WIDTH, height=HEIGHT)
    return task


def document(*objects: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a document of version 2 over such a picture."""
    rest = {"objects": list(objects)} if objects else {}
    return {"version": 2, "width": WIDTH, "height": HEIGHT, **rest, **fields}


def box(number: int = 1, label: int = CAR, **fields: Any) -> dict[str, Any]:
    """Return the box of that number, which moves it and makes its id."""
    x = 10.5 + 5 * number
    return {
        "id": f"{number:016x}",
        "label": label,
        "kind": "box",
        "box": [x, 20.25, 100, 50],
        **fields,
    }


def drawing(slot: WorkSlot, drawn: dict[str, Any], key: str = "", **fields: Any) -> Submission:
    """Return a submission of a document under the slot's lease."""
    return Submission(slot.pk, slot.lease_no, key or str(uuid7()), drawn, **fields)
