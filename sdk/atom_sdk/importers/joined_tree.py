"""Annotations here and pictures there: two sources read as one tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack

from atom_sdk.amounts import counted
from atom_sdk.importers.items import Blob
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree, is_image

_YOLO_LABELS, _YOLO_PICTURES = "labels", "images"


class SeparateImagesTree(Tree):
    """The annotations of one tree and the pictures of another; only the first are read as such."""

    def __init__(self, annotations: Tree, pictures: Tree, report: Report) -> None:
        """Pictures beside the annotations do not count. Both trees close with this one."""
        own = {path: blob for path, blob in annotations.files.items() if not is_image(path)}
        if ignored := len(annotations.files) - len(own):
            verb = "is" if ignored == 1 else "are"
            report.note(f"{counted(ignored, 'picture')} beside the annotations {verb} not read")
        others = _below_images(own, pictures.files)
        resources = ExitStack()
        resources.enter_context(annotations.resources)
        resources.enter_context(pictures.resources)
        links = {**pictures.links, **annotations.links}
        super().__init__(annotations.name, {**others, **own}, resources, annotations.text, links)
        self._annotations: Collection[str] = own.keys()

    def annotation_paths(self) -> Iterable[str]:
        """Return the paths of the first tree."""
        return self._annotations

    def images(self) -> Iterator[str]:
        """Yield the paths of the second tree's pictures."""
        return (path for path in super().images() if path not in self._annotations)


def _below_images(annotations: Iterable[str], pictures: Mapping[str, Blob]) -> Mapping[str, Blob]:
    """Pictures as they lie in YOLO, below `images`, where the annotations lie below `labels`."""
    has_labels = any(path.startswith(f"{_YOLO_LABELS}/") for path in annotations)
    has_images = any(path.startswith(f"{_YOLO_PICTURES}/") for path in pictures)
    if not has_labels or has_images:
        return pictures
    return {f"{_YOLO_PICTURES}/{path}": blob for path, blob in pictures.items()}
