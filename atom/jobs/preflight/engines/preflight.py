"""Does a dataset fit a workflow? Findings with a code, a sentence and remedies. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal

from atom.datasets.browsing.engines.data_counts import DataCounts
from atom.datasets.browsing.engines.object_counts import ObjectCounts
from atom.jobs.failures.engines.remedies import Remedy
from atom.jobs.workflows.engines.data_needs import DataNeeds
from atom_sdk.amounts import counted, first_named

TRAIN, VAL, TEST = "train", "val", "test"
# A class of fewer files gives the validation part none of them.
FEW_FILES: Final = 10
_MEDIA_WORDS: Final = {"image": ("picture", "pictures"), "video": ("video", "videos")}

Level = Literal["error", "warning", "ok"]


class CheckCode(StrEnum):
    """Which sentence a finding has, for pages in another language."""

    FITS = "fits"
    NO_FILES = "no_files"
    VERSION_EMPTY = "version_empty"
    ONLY_LINKS = "only_links"
    SPLIT_EMPTY = "split_empty"
    NO_MEDIA = "no_media"
    NO_LABELS = "no_labels"
    TOO_FEW_CLASSES = "too_few_classes"
    NOTHING_TO_TRAIN_ON = "nothing_to_train_on"
    TRAINING_ONE_CLASS = "training_one_class"
    ALL_IN_TRAIN = "all_in_train"
    SOME_UNLABELLED = "some_unlabelled"
    SMALL_CLASS = "small_class"
    NONE_READABLE = "none_readable"
    SOME_UNREADABLE = "some_unreadable"
    SAMPLE_UNREADABLE = "sample_unreadable"
    QUARANTINED = "quarantined"
    NO_TEST_SPLIT = "no_test_split"
    SEEN_IN_TRAINING = "seen_in_training"
    TRAINING_UNREAD = "training_unread"
    NOT_COUNTED = "not_counted"
    NO_OBJECTS = "no_objects"
    SOME_NOT_ANNOTATED = "some_not_annotated"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; an error means that the run would fail."""

    level: Level
    code: CheckCode
    sentence: str
    params: dict[str, Any] = field(default_factory=dict)
    remedies: tuple[Remedy, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetSelection:
    """The dataset as the run would read it, with what was looked at beyond its counts."""

    reference: str
    counts: DataCounts
    # None: all splits.
    splits: Sequence[str] | None = None
    is_narrowed: bool = False
    # Why pictures of a sample cannot be decoded, by path.
    undecodable: Mapping[str, str] = field(default_factory=dict)
    quarantined_packs: int = 0
    # Files that the chosen model was trained on, of those to be read; None without a model.
    trained_on: int | None = None
    model: str = ""
    # Versions that the model was trained on and that cannot be read any more.
    unread_training: Sequence[str] = ()
    # The objects drawn on the pictures; counted for a workflow that needs them.
    drawn: ObjectCounts = field(default_factory=ObjectCounts)


def check_data(needs: DataNeeds, selected: DatasetSelection) -> list[Check]:
    """Return errors, then warnings; only an `ok` with the counts if there are neither."""
    errors = list(_errors(needs, selected))
    if errors:
        return errors
    warnings = list(_warnings(needs, selected))
    return [_fits(needs, selected), *warnings]


def _errors(needs: DataNeeds, selected: DatasetSelection) -> Iterator[Check]:
    counts = selected.counts
    # No split can be drawn that has media which the version lacks.
    if needs.media and counts.version_files and counts.version_of_media == 0:
        yield _no_media(needs, selected)
        return
    if not counts.files:
        yield _empty(needs, selected)
        return
    if needs.media and counts.is_exact and not counts.usable:
        yield _no_media(needs, selected)
        return
    yield from _label_errors(needs, selected)
    yield from _object_errors(needs, selected)
    if needs.media == "image" and counts.is_exact and _all_unreadable(counts):
        yield Check(
            "error",
            CheckCode.NONE_READABLE,
            f"No picture of {selected.reference} can be opened.",
            {"dataset": selected.reference, "files": counts.unreadable},
            (Remedy.SHOW_UNREADABLE, Remedy.CHOOSE_VERSION),
        )
    if selected.quarantined_packs:
        yield Check(
            "error",
            CheckCode.QUARANTINED,
            f"Files of {selected.reference} are in quarantine: their bytes do not match their "
            "digests.",
            {"dataset": selected.reference, "packs": selected.quarantined_packs},
            (Remedy.OPEN_DATASET, Remedy.CHOOSE_VERSION),
        )


def _label_errors(needs: DataNeeds, selected: DatasetSelection) -> Iterator[Check]:
    counts = selected.counts
    if needs.labels and not counts.labelled:
        yield _no_labels(selected)
    elif not needs.classes or not counts.is_exact:
        return
    elif len(counts.labels) < needs.classes:
        yield _too_few_classes(needs, selected)
    elif _trains(needs, selected):
        yield from _training_part(needs, selected)


def _object_errors(needs: DataNeeds, selected: DatasetSelection) -> Iterator[Check]:
    if not needs.objects:
        return
    drawn, counts = selected.drawn, selected.counts
    if not (drawn.objects if drawn.is_exact else drawn.pictures):
        sentence = (
            f"{counted(counts.usable, 'picture')}, none with objects: this workflow needs objects."
        )
        params = {
            "dataset": selected.reference,
            "files": counts.usable,
            "looked_at": drawn.pictures,
        }
        remedies = (Remedy.LABEL, Remedy.CHOOSE_VERSION)
        yield Check("error", CheckCode.NO_OBJECTS, sentence, params, remedies)
    elif _trains(needs, selected) and drawn.is_exact and not drawn.by_split.get(TRAIN):
        yield _nothing_to_train_on(selected)


def _empty(needs: DataNeeds, selected: DatasetSelection) -> Check:
    counts, reference, splits = selected.counts, selected.reference, list(selected.splits or ())
    params: dict[str, Any] = {"dataset": reference}
    if not counts.version_files and not selected.is_narrowed:
        remedies = (Remedy.OPEN_DATASET, Remedy.CHOOSE_VERSION)
        if counts.links:
            sentence = f"{reference} has only links ({counts.links}) and no file."
            params["links"] = counts.links
            return Check("error", CheckCode.ONLY_LINKS, sentence, params, remedies)
        sentence = f"{reference} has no files."
        return Check("error", CheckCode.VERSION_EMPTY, sentence, params, remedies)
    if not splits or selected.is_narrowed:
        sentence = f"The run would read no file of {reference}: nothing matches."
        return Check("error", CheckCode.NO_FILES, sentence, params, (Remedy.CHOOSE_VERSION,))
    if _trains(needs, selected):
        return _nothing_to_train_on(selected)
    split = ", ".join(splits)
    sentence = f"No files in the split {split} of {reference}."
    draw = _drawing(counts) if splits == [TEST] else ()
    params["split"] = split
    return Check("error", CheckCode.SPLIT_EMPTY, sentence, params, (*draw, Remedy.CHOOSE_VERSION))


def _trains(needs: DataNeeds, selected: DatasetSelection) -> bool:
    """Return whether the run learns from one split and validates on another."""
    learns = needs.labels or needs.objects
    return learns and {TRAIN, VAL} <= set(selected.splits or ())


def _drawing(counts: DataCounts) -> tuple[Remedy, ...]:
    """Return what gives the version a test split: files that are in a split stay there."""
    if not counts.has_splits:
        return (Remedy.MAKE_TEST_SPLIT,)
    is_some_free = counts.unsplit or not counts.is_exact
    return (Remedy.MAKE_TEST_SPLIT, Remedy.DRAW_SPLITS) if is_some_free else (Remedy.DRAW_SPLITS,)


def _training_part(needs: DataNeeds, selected: DatasetSelection) -> Iterator[Check]:
    """Yield what the split `train` lacks, of labels that the other splits have."""
    labels = selected.counts.labels_by_split.get(TRAIN, {})
    if not selected.counts.labels_by_split or len(labels) >= needs.classes:
        return
    if not labels:
        yield _nothing_to_train_on(selected)
        return
    names = first_named(sorted(labels))
    sentence = (
        f"The split train of {selected.reference} has only {names}: this workflow needs at least "
        f"{needs.classes} classes to train on."
    )
    params = {"dataset": selected.reference, "names": names, "needed": needs.classes}
    remedies = (Remedy.DRAW_SPLITS, Remedy.CHOOSE_VERSION)
    yield Check("error", CheckCode.TRAINING_ONE_CLASS, sentence, params, remedies)


def _nothing_to_train_on(selected: DatasetSelection) -> Check:
    counts = selected.counts
    splits = ", ".join(f"{name} {files}" for name, files in counts.splits.items())
    sentence = (
        f"The split train of {selected.reference} has no labelled file: there is nothing to train "
        f"on ({splits})."
    )
    params = {"dataset": selected.reference, "splits": splits}
    remedies = (Remedy.DRAW_SPLITS, Remedy.CHOOSE_VERSION)
    return Check("error", CheckCode.NOTHING_TO_TRAIN_ON, sentence, params, remedies)


def _no_media(needs: DataNeeds, selected: DatasetSelection) -> Check:
    counts, plural = selected.counts, _MEDIA_WORDS[needs.media][1]
    files = counts.files or counts.version_files
    sentence = f"{counted(files, 'file')}, no {plural}: this workflow needs {plural}."
    params = {"dataset": selected.reference, "files": files, "media": needs.media}
    remedies = (Remedy.CHOOSE_VERSION, Remedy.OPEN_DATASET)
    return Check("error", CheckCode.NO_MEDIA, sentence, params, remedies)


def _no_labels(selected: DatasetSelection) -> Check:
    counts = selected.counts
    sentence = f"{counted(counts.usable, 'file')}, 0 labelled: this workflow needs labels."
    params = {
        "dataset": selected.reference,
        "files": counts.usable,
        "class_folders": list(counts.class_folders[:3]),
        "classes": len(counts.class_folders),
    }
    return Check(
        "error",
        CheckCode.NO_LABELS,
        sentence,
        params,
        (*_by_folder(counts), Remedy.LABEL, Remedy.CHOOSE_VERSION),
    )


def _too_few_classes(needs: DataNeeds, selected: DatasetSelection) -> Check:
    counts = selected.counts
    names = first_named(list(counts.labels))
    classes = counted(len(counts.labels), "class", "classes")
    sentence = (
        f"{counted(counts.labelled, 'labelled file')} of {classes} ({names}): this "
        f"workflow needs at least {needs.classes} classes."
    )
    params = {
        "dataset": selected.reference,
        "labelled": counts.labelled,
        "classes": len(counts.labels),
        "names": names,
        "needed": needs.classes,
    }
    # A task over files without a label finds none where all have one.
    label = (Remedy.LABEL,) if counts.usable > counts.labelled else ()
    remedies = (*_by_folder(counts), *label, Remedy.RELABEL, Remedy.CHOOSE_VERSION)
    return Check("error", CheckCode.TOO_FEW_CLASSES, sentence, params, remedies)


def _by_folder(counts: DataCounts) -> tuple[Remedy, ...]:
    return (Remedy.LABEL_BY_FOLDER,) if counts.class_folders else ()


def _all_unreadable(counts: DataCounts) -> bool:
    return 0 < counts.usable <= counts.unreadable


def _warnings(needs: DataNeeds, selected: DatasetSelection) -> Iterator[Check]:
    counts, reference = selected.counts, selected.reference
    if not counts.is_exact:
        sentence = (
            f"{reference} has {counts.version_files:,} files: classes and splits of so many are "
            "not counted here."
        )
        yield Check(
            "warning",
            CheckCode.NOT_COUNTED,
            sentence,
            {"dataset": reference, "files": counts.version_files},
        )
    unlabelled = counts.usable - counts.labelled
    if needs.labels and counts.is_exact and unlabelled:
        sentence = (
            f"{unlabelled} of {counted(counts.usable, 'file')} have no label: the run leaves them "
            "out."
        )
        params = {"dataset": reference, "unlabelled": unlabelled, "files": counts.usable}
        yield Check("warning", CheckCode.SOME_UNLABELLED, sentence, params, (Remedy.LABEL,))
    yield from _object_warnings(needs, selected)
    if needs.classes and (small := _small_classes(counts)):
        names = first_named(small)
        sentence = f"Fewer than {FEW_FILES} files of {names}: that is little to learn from."
        params = {"dataset": reference, "names": names, "count": len(small), "few": FEW_FILES}
        yield Check("warning", CheckCode.SMALL_CLASS, sentence, params)
    yield from _unreadable(selected)
    yield from _split_warnings(needs, selected)


def _object_warnings(needs: DataNeeds, selected: DatasetSelection) -> Iterator[Check]:
    files, drawn = selected.counts.usable, selected.drawn
    missing = files - drawn.pictures
    if needs.objects and drawn.is_exact and missing > 0:
        pictures = counted(files, "picture")
        sentence = f"{missing} of {pictures} have no annotations: the run leaves them out."
        params = {"dataset": selected.reference, "missing": missing, "files": files}
        yield Check("warning", CheckCode.SOME_NOT_ANNOTATED, sentence, params, (Remedy.LABEL,))


def _small_classes(counts: DataCounts) -> list[str]:
    return [name for name, files in counts.labels.items() if files < FEW_FILES]


def _unreadable(selected: DatasetSelection) -> Iterator[Check]:
    """Yield marked pictures with their number, then others of the sample."""
    counts = selected.counts
    pictures = counts.media.get("image", 0)
    if counts.unreadable:
        more = ", …" if counts.unreadable > len(counts.unreadable_paths) else ""
        names = ", ".join(counts.unreadable_paths) + more
        sentence = (
            f"{counts.unreadable} of {counted(pictures, 'picture')} cannot be read; "
            f"the run skips them ({names})."
        )
        params = {
            "dataset": selected.reference,
            "count": counts.unreadable,
            "pictures": pictures,
            "names": names,
        }
        remedies = (Remedy.SHOW_UNREADABLE,)
        yield Check("warning", CheckCode.SOME_UNREADABLE, sentence, params, remedies)
    if sampled := sorted(set(selected.undecodable) - set(counts.unreadable_paths)):
        yield _sample_unreadable(selected, sampled)


def _sample_unreadable(selected: DatasetSelection, paths: list[str]) -> Check:
    names = first_named(paths)
    number = counted(len(paths), "picture")
    sentence = f"At least {number} cannot be decoded; the run skips them ({names})."
    params = {"dataset": selected.reference, "count": len(paths), "names": names}
    return Check("warning", CheckCode.SAMPLE_UNREADABLE, sentence, params, (Remedy.OPEN_DATASET,))


def _split_warnings(needs: DataNeeds, selected: DatasetSelection) -> Iterator[Check]:
    counts, reference = selected.counts, selected.reference
    if _is_all_in_train(counts) and _trains(needs, selected):
        yield _all_in_train(selected)
    elif (
        (needs.labels or needs.objects)
        and selected.splits is not None
        and TEST not in selected.splits
        and TEST not in counts.splits
        and (counts.is_exact or not counts.has_splits)
    ):
        sentence = (
            f"{reference} has no test split: nothing stays apart to measure the model on later."
        )
        yield Check(
            "warning",
            CheckCode.NO_TEST_SPLIT,
            sentence,
            {"dataset": reference},
            _drawing(counts),
        )
    if selected.trained_on:
        sentence = (
            f"{selected.model} was trained on {selected.trained_on} of these "
            f"{counted(counts.files, 'file')}: its accuracy here will be too good."
        )
        params = {
            "dataset": reference,
            "model": selected.model,
            "seen": selected.trained_on,
            "files": counts.files,
        }
        yield Check(
            "warning",
            CheckCode.SEEN_IN_TRAINING,
            sentence,
            params,
            (Remedy.TRAIN_AGAIN, Remedy.CHOOSE_VERSION),
        )
    if selected.unread_training:
        yield _training_unread(selected)


def _is_all_in_train(counts: DataCounts) -> bool:
    return counts.is_exact and set(counts.splits) == {TRAIN} and not counts.unsplit


def _all_in_train(selected: DatasetSelection) -> Check:
    files = selected.counts.splits[TRAIN]
    sentence = (
        f"All {counted(files, 'file')} of {selected.reference} are in the split train: none is "
        "there to validate or test on."
    )
    params = {"dataset": selected.reference, "files": files}
    return Check("warning", CheckCode.ALL_IN_TRAIN, sentence, params, (Remedy.DRAW_SPLITS,))


def _training_unread(selected: DatasetSelection) -> Check:
    versions = first_named(list(selected.unread_training))
    sentence = (
        f"{selected.model} was trained on {versions}, which cannot be read any more. "
        "Its training data may hold files of this version."
    )
    params = {"dataset": selected.reference, "model": selected.model, "versions": versions}
    return Check("warning", CheckCode.TRAINING_UNREAD, sentence, params)


def _fits(needs: DataNeeds, selected: DatasetSelection) -> Check:
    counts = selected.counts
    params: dict[str, Any] = {"dataset": selected.reference, "files": counts.usable}
    if needs.objects and selected.drawn.is_exact:
        return _fits_with_objects(selected, params)
    if not needs.labels or not counts.is_exact:
        sentence = f"{counted(counts.usable, 'file')} to read."
        return Check("ok", CheckCode.FITS, sentence, params)
    classes = counted(len(counts.labels), "class", "classes")
    sentence = f"{counted(counts.usable, 'file')}, {counts.labelled} labelled, {classes}."
    params |= {"labelled": counts.labelled, "classes": len(counts.labels)}
    return Check("ok", CheckCode.FITS, sentence, params)


def _fits_with_objects(selected: DatasetSelection, params: dict[str, Any]) -> Check:
    drawn = selected.drawn
    classes = counted(len(drawn.classes), "class", "classes")
    sentence = (
        f"{counted(selected.counts.usable, 'picture')}, {drawn.pictures} annotated, "
        f"{counted(drawn.objects, 'object')} of {classes}."
    )
    params |= {
        "annotated": drawn.pictures,
        "objects": drawn.objects,
        "classes": len(drawn.classes),
    }
    return Check("ok", CheckCode.FITS, sentence, params)
