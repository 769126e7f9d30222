"""Losses in words of their effect: how many, and what stays."""

from __future__ import annotations

from atom_sdk.amounts import counted
from atom_sdk.importers.losses import ClassLoss
from atom_sdk.importers.report import NamedCount, Report
from atom_sdk.sentences import Sentence

_PLURALS = {"keypoints": "sets of keypoints", "rotated box": "rotated boxes"}
_SINGULARS = {"keypoints": "set of keypoints"}
_NAMED = 3
_NAMED_LOSSES = 5


def effects(report: Report) -> list[str]:
    """Return one sentence for each effect, the worst first; none where nothing is lost."""
    lines = [_objects(report), _orphans(report), _labels(report), _pictures(report)]
    lines += [_shapes(kind, count) for kind, count in report.shapes.most_common()]
    return [line for line in lines if line]


def coverage(report: Report) -> list[str]:
    """Return sentences on files that were not understood, or that no list or annotation names."""
    lines = [_near_miss(reason, report) for reason in report.near_miss_counts]
    if report.missing.count:
        entries = counted(report.missing.count, "entry", "entries")
        lines.append(f"{entries} of lists with no such file: {_first(report.missing)}")
    if report.unlisted.count:
        files = counted(report.unlisted.count, "file")
        lines.append(
            f"{files} in no list of a split, so without a split: {_first(report.unlisted)}"
        )
    if report.unlabelled.count:
        pictures = counted(report.unlabelled.count, "picture")
        lines.append(
            f"{pictures} with no file of annotations, imported without objects: "
            f"{_first(report.unlabelled)}"
        )
    return lines


def _near_miss(reason: str, report: Report) -> str:
    names = [miss.subject for miss in report.near_misses if miss.reason == reason]
    named = NamedCount(report.near_miss_counts[reason], names)
    return f"Not understood: {_first(named)}: {reason}"


def loss_text(losses: list[ClassLoss]) -> str:
    """Return `5 of 100 objects (5 %); 3 of 20 objects of 'cat' (15 %)`."""
    parts = [class_loss_text(loss) for loss in losses[:_NAMED_LOSSES]]
    more = len(losses) - len(parts)
    return "; ".join(parts) + (f"; and {counted(more, 'class', 'classes')} more" if more else "")


def class_loss_text(loss: ClassLoss) -> Sentence:
    """Return `3 of 20 objects of 'cat' (15 %)`."""
    kind = loss.kind if loss.source == 1 else f"{loss.kind}s"
    counts = {"lost": loss.lost, "total": loss.source, "kind": kind, "share": percent(loss.share)}
    if loss.name is None:
        return Sentence("importers.loss", "{lost} of {total} {kind} ({share})", **counts)
    return Sentence(
        "importers.loss_of_class",
        "{lost} of {total} {kind} of '{label}' ({share})",
        label=loss.name,
        **counts,
    )


def percent(share: float) -> str:
    """Return `1.2 %`; a small share never reads as none."""
    return f"{share * 100:.3g} %"


def _objects(report: Report) -> str:
    if not report.lost_objects:
        return ""
    lost = f"{counted(report.lost_objects, 'object')} lost"
    if not report.emptied.count:
        return f"{lost}; their pictures stay with their other objects"
    pictures = counted(report.emptied.count, "picture")
    verb = "stays as a picture" if report.emptied.count == 1 else "stay as pictures"
    return f"{lost}; {pictures} {verb} without objects: {_first(report.emptied)}"


def _orphans(report: Report) -> str:
    if not report.lost_orphans:
        return ""
    return f"{counted(report.lost_orphans, 'object')} lost; the source has no picture for them"


def _labels(report: Report) -> str:
    if not report.lost_labels:
        return ""
    stay = "its file stays" if report.lost_labels == 1 else "their files stay"
    return f"{counted(report.lost_labels, 'label')} lost; {stay} without a label"


def _pictures(report: Report) -> str:
    lost = report.lost_pictures
    if not lost.pictures:
        return ""
    parts = [
        counted(count, noun)
        for count, noun in ((lost.objects, "object"), (lost.labels, "label"))
        if count
    ]
    whose = "its" if lost.pictures == 1 else "their"
    gone = f" with {whose} {' and '.join(parts)}" if parts else ""
    return f"{counted(lost.pictures, 'picture')} left out{gone}"


def _shapes(kind: str, count: int) -> str:
    stays = "its object stays" if count == 1 else "their objects stay"
    noun = counted(count, _SINGULARS.get(kind, kind), _PLURALS.get(kind, ""))
    return f"{noun} left out; {stays}"


def _first(named: NamedCount) -> str:
    more = named.count - _NAMED
    # A name from a foreign archive may hold what moves a terminal's cursor.
    names = [name if name.isprintable() else ascii(name)[1:-1] for name in named.names[:_NAMED]]
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
