"""YOLO's files: `labels/….txt` for each picture, lists of splits, and data.yaml with its task.

Pictures stand below `images/`; one whose path has a folder `images` keeps its path, and its labels
are in `labels` instead, as Ultralytics looks for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from atom_sdk.annotations.ontology import Ontology
from atom_sdk.label_formats.ability import Ability, as_itself
from atom_sdk.label_formats.interface import LabelledPicture, WriteChoices, Writing
from atom_sdk.label_formats.lists import SplitFiles
from atom_sdk.label_formats.values import picture_shape
from atom_sdk.label_formats.yolo_lines import DETECT, OBB, POSE, SEGMENT, line_of
from atom_sdk.sentences import Sentence

_KINDS = {
    DETECT: as_itself("box", rotated_box="box", polygon="box", mask="box", keypoints="box"),
    SEGMENT: as_itself("polygon", box="polygon", rotated_box="polygon", mask="polygon"),
    OBB: as_itself("rotated_box", box="rotated_box", polygon="rotated_box", mask="rotated_box"),
    POSE: as_itself("keypoints"),
}


def task_of(ontology: Ontology, choices: WriteChoices) -> str:
    """Return the chosen task, else the one that holds the most of what the classes are drawn as."""
    if choices.yolo_task:
        return choices.yolo_task
    kinds = {kind for label in ontology.labels for kind in label.tools}
    for task, signs in ((POSE, {"keypoints"}), (SEGMENT, {"polygon", "mask"})):
        if kinds & signs:
            return task
    return OBB if "rotated_box" in kinds else DETECT


def note(ontology: Ontology, choices: WriteChoices) -> Sentence | None:
    """Say which task was taken where none was chosen, why, and which others there are."""
    if choices.yolo_task:
        return None
    task = task_of(ontology, choices)
    kinds = sorted({kind for label in ontology.labels for kind in label.tools})
    return Sentence(
        "formats.yolo_task_taken",
        "The YOLO task is {task}, by the shapes of the classes ({kinds}). "
        "Another one can be chosen: {others}.",
        task=task,
        kinds=", ".join(kinds),
        others=", ".join(other for other in _KINDS if other != task),
    )


def ability(ontology: Ontology, choices: WriteChoices) -> Ability:
    """Return what YOLO's files of a task hold."""
    return Ability(
        kinds=_KINDS[task_of(ontology, choices)],
        rings="split",
        must_have_box=True,
        parts=False,
        labels=False,
        picture_attributes=False,
        attributes=False,
        relations=False,
        texts=False,
        ignore=False,
        tracks=False,
        ids=False,
        media_shapes=False,
        cut=True,
    )


def write(pictures: Iterable[LabelledPicture], writing: Writing) -> None:
    """Write a text for each picture, lists and data.yaml."""
    task = task_of(writing.ontology, writing.choices)
    numbers = {label.name: number for number, label in enumerate(writing.ontology.labels)}
    count = points_of(writing.ontology) if task == POSE else 0
    with SplitFiles(writing.folder, default="all") as lists:
        for picture in pictures:
            name = label_path(picture.path)
            lists.add(f"./{picture_path(picture.path)}", picture.split)
            document = picture.document
            lines = [
                line_of(picture_shape(e), numbers[e.label], document.width, document.height, count)
                for e in document.objects
            ]
            path = writing.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    _write_config(writing, task, count, lists.names())


def points_of(ontology: Ontology) -> int:
    """Return the largest number of points of a skeleton; shorter ones are filled up."""
    skeletons = [label.skeleton for label in ontology.labels if label.skeleton is not None]
    return max((len(skeleton.points) for skeleton in skeletons), default=0)


def picture_path(path: str) -> str:
    """Return where a picture is to stand: below a folder `images`."""
    return path if "images" in path.split("/")[:-1] else f"images/{path}"


def label_path(path: str) -> str:
    """Return the file of labels that Ultralytics looks for: the last `images` is `labels`."""
    parts = picture_path(path).split("/")
    place = len(parts) - 2 - parts[-2::-1].index("images")
    parts[place] = "labels"
    parts[-1] = f"{parts[-1].rpartition('.')[0] or parts[-1]}.txt"
    return "/".join(parts)


def _write_config(writing: Writing, task: str, count: int, splits: dict[str, str]) -> None:
    lines = ["path: .", f"task: {task}"]
    lines += [f"{split}: {name}" for split, name in splits.items()]
    lines.append("names:")
    for number, label in enumerate(writing.ontology.labels):
        lines.append(f"  {number}: {json.dumps(label.name, ensure_ascii=False)}")
    if count:
        lines.append(f"kpt_shape: [{count}, 3]")
        skeleton = max(
            (label.skeleton for label in writing.ontology.labels if label.skeleton is not None),
            key=lambda each: len(each.points),
            default=None,
        )
        if skeleton is not None:
            flips = list(range(count))
            for left, right in skeleton.flips:
                flips[left], flips[right] = right, left
            lines.append(f"flip_idx: {flips}")
            names = json.dumps([str(name) for name in skeleton.points], ensure_ascii=False)
            lines.append(f"kpt_names:\n  0: {names}")
    Path(writing.folder / "data.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
