"""Files that were close to another reading than the one that the import chose.

A person who imports `labels.csv` beside pictures wants the labels; a plain file is a loss. Each
kind of file has an explainer, which says why its format did not take it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from atom_sdk.importers import csv_rows, hf_folder, parquet_rows, yolo
from atom_sdk.importers.names import split_of
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree
from atom_sdk.importers.yolo_config import config_file
from atom_sdk.importers.yolo_splits import is_list_of_pictures

Explainer = Callable[[Tree, str], str | None]
_MOST_FILES = 200
_HEAD_BYTES = 1 << 16
_PLAIN = ("folder", "zip", "tar", "imagefolder")
_XML_ROOT = re.compile(rb"<(annotations?)[\s>]")
_YAML_KEYS = re.compile(rb"^\s*(names|val|train|nc)\s*:", re.MULTILINE)


def _list(tree: Tree, path: str) -> str | None:
    name = path.rpartition("/")[2][: -len(".txt")]
    if split_of(name) is None or not is_list_of_pictures(tree, path):
        return None
    return "a list of pictures was found and not read: no split comes from it"


def _yaml(tree: Tree, path: str) -> str | None:
    keys = {key.decode() for key in _YAML_KEYS.findall(_head(tree, path))}
    if not {"names", "val"} & keys or len(keys) < 2:
        return None
    return "a YOLO data.yaml was found and not read: no picture has a text file of labels"


def _xml(tree: Tree, path: str) -> str | None:
    root = _XML_ROOT.search(_head(tree, path))
    if root is None:
        return None
    if root[1] == b"annotations":
        return "XML of CVAT was found; it is not read yet: export it as COCO, YOLO or VOC"
    return "an annotation of VOC was found and not read: --format voc reads it"


# By their beginnings: JSON files of other kinds; the first pattern that fits counts.
_JSON_KINDS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (
        re.compile(rb'^\s*\[.*"image_id".*"(score|category_id)"', re.DOTALL),
        "predictions of COCO were found and not read: the file has no list of images",
    ),
    (re.compile(rb'"segments_info"'), "panoptic masks of COCO were found; they are not read yet"),
    (
        re.compile(rb'"imagePath".*"shapes"|"shapes".*"imagePath"', re.DOTALL),
        "LabelMe JSON was found; it is not read yet: convert it to COCO",
    ),
    (
        re.compile(rb'"(completed_by|file_upload)"'),
        "an export of Label Studio was found; it is not read yet: export it as COCO or YOLO",
    ),
    (re.compile(rb'"_via_'), "an export of VIA was found; it is not read yet: export it as COCO"),
    (re.compile(rb'"caption"'), "captions of COCO were found; they are not read yet"),
)
_JSON_NAMES = {
    "captions_": "captions of COCO were found; they are not read yet",
    "panoptic_": "panoptic masks of COCO were found; they are not read yet",
    "stuff_": "masks of COCO's stuff were found; they are not read yet",
    "person_keypoints_": "a file of keypoints was found and not read: the file of instances counts",
    "image_info_": "a list of images without annotations was found and not read",
}


def _json(tree: Tree, path: str) -> str | None:
    name = path.rpartition("/")[2]
    for prefix, reason in _JSON_NAMES.items():
        if name.startswith(prefix):
            return reason
    head = _head(tree, path)
    return next((reason for pattern, reason in _JSON_KINDS if pattern.search(head)), None)


EXPLAINERS: dict[str, Explainer] = {
    ".csv": csv_rows.explain,
    ".tsv": csv_rows.explain,
    ".jsonl": hf_folder.explain,
    ".parquet": parquet_rows.explain,
    ".json": _json,
    ".txt": _list,
    ".xml": _xml,
    ".yaml": _yaml,
    ".yml": _yaml,
}
"""By suffix: why a file of this kind was not read as annotations, None where it is no near miss."""


def find_near_misses(tree: Tree, report: Report) -> None:
    """Report the files that no reader took, and that look like annotations."""
    seen: Counter[str] = Counter()
    named = {miss.subject for miss in report.near_misses}
    for path in tree.annotation_paths():
        suffix = _suffix(path)
        explain = EXPLAINERS.get(suffix)
        is_read = path in report.annotations or path in named
        if explain is None or is_read or _is_no_list(path, suffix):
            continue
        if suffix == ".xml" and report.importer == "voc":
            continue
        seen[suffix] += 1
        if seen[suffix] <= _MOST_FILES and (reason := explain(tree, path)) is not None:
            report.near_miss(path, reason)
    for suffix, count in seen.items():
        if count > _MOST_FILES:
            report.note(f"only the first {_MOST_FILES} of {count} {suffix} files were looked at")
    if report.importer in _PLAIN and (file := yolo.first_labels(tree)) and not config_file(tree):
        report.near_miss(
            file, "labels of YOLO were found; no data.yaml or classes.txt names classes"
        )


def _is_no_list(path: str, suffix: str) -> bool:
    """Whether a text file is called like no split: a million are the labels of pictures."""
    return suffix == ".txt" and split_of(path.rpartition("/")[2][: -len(suffix)]) is None


def _head(tree: Tree, path: str) -> bytes:
    with tree.files[path].open() as stream:
        return stream.read(_HEAD_BYTES)


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name else ""
