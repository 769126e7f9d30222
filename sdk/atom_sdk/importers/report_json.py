"""A report as plain values: for `--json`, and for a server that asks with the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from atom_sdk.importers.effects import coverage, effects
from atom_sdk.importers.losses import share_to_allow
from atom_sdk.importers.report import Problem, Report


def report_json(report: Report, allowed_loss: float) -> dict[str, Any]:
    """Return plain values; `allowed_loss` is the share of objects that may be lost."""
    return {
        "source": report.source,
        "format": report.importer,
        "why": report.why,
        "files": report.files,
        "links": report.links,
        "size_bytes": report.size_bytes,
        "objects": report.objects,
        "labels": dict(report.labels.most_common()),
        "splits": dict(report.splits),
        "losses": _losses(report, allowed_loss),
        "skipped_total": report.skipped_total,
        "skipped": dict(report.skipped),
        "litter": report.litter,
        "problems": _problems(report.problems),
        "near_misses": _problems(report.near_misses),
        "near_miss_counts": dict(report.near_miss_counts),
        "unlisted": report.unlisted.as_json(),
        "missing": report.missing.as_json(),
        "unlabelled": report.unlabelled.as_json(),
        "notes": report.notes,
        "annotations": report.annotations,
        "first": report.first,
    }


def _losses(report: Report, allowed_loss: float) -> dict[str, Any]:
    return {
        "allowed": allowed_loss,
        "effects": effects(report),
        "coverage": coverage(report),
        "needed": share_to_allow(report.losses_above(allowed_loss)),
        "objects": report.lost_objects,
        "orphans": report.lost_orphans,
        "labels": report.lost_labels,
        "pictures": asdict(report.lost_pictures),
        "whole": [one.as_json() for one in report.losses()],
        "classes": [one.as_json() for one in report.class_losses()],
        "above": [one.as_json() for one in report.losses_above(allowed_loss)],
        "shapes": dict(report.shapes),
        "emptied": report.emptied.as_json(),
    }


def _problems(problems: Sequence[Problem]) -> list[dict[str, str]]:
    return [{"subject": one.subject, "reason": one.reason} for one in problems]
