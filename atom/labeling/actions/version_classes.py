"""Classes of a version's objects, as an ontology to start with."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atom.datasets.catalog.stores import version_store
from atom.datasets.models import Version
from atom.labeling import states
from atom.labeling.engines import objects
from atom.labeling.engines.class_drafts import ClassDraft, draft_of
from atom.labeling.models import LabelTask, LabelTransfer
from atom.labeling.models.tasks import IMAGE_OBJECTS
from atom.labeling.models.transfers import IMPORT
from atom_sdk.label_formats.seen_classes import SeenClasses, see_classes

# Ontologies of so many publications and imports describe the classes.
_SOURCES = 20

_Numbered = tuple[int, Sequence[Mapping[str, Any]]]


def classes_of(version: Version) -> ClassDraft:
    """Return the classes of a version's objects; without objects there are none."""
    store = version_store(version.dataset.project)
    layer = store.root(version.readable_root).layer(objects.NAME)
    if layer is None or layer.kind != objects.KIND:
        return draft_of(SeenClasses(), [])
    with tempfile.TemporaryDirectory(prefix="atom-classes-") as scratch:
        seen = see_classes(layer, store.store, Path(scratch))
    sources = sorted([*_published(version), *_imported(version)], key=lambda each: -each[0])
    return draft_of(seen, [labels for _, labels in sources])


def _published(version: Version) -> list[_Numbered]:
    """Return the labels of tasks that were published up to this version."""
    tasks = LabelTask.objects.filter(
        dataset=version.dataset_id,
        modality=IMAGE_OBJECTS,
        output_version__number__lte=version.number,
    ).select_related("ontology_version", "output_version")
    rows = [
        (task.output_version and task.output_version.number, task.ontology_version.full_labels)
        for task in tasks.order_by("-output_version__number")[:_SOURCES]
    ]
    return [(number, labels) for number, labels in rows if number]


def _imported(version: Version) -> list[_Numbered]:
    """Return the labels that imports up to this version declared."""
    transfers = LabelTransfer.objects.filter(
        dataset=version.dataset_id,
        direction=IMPORT,
        state=states.DONE,
        output_version__number__lte=version.number,
    ).order_by("-output_version__number")
    rows = transfers.values_list("output_version__number", "report__ontology__labels")
    return [(number, labels) for number, labels in rows[:_SOURCES] if number and labels]
