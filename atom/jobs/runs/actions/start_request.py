"""The start that a request asks for, beside the ways in which its data gets there."""

from __future__ import annotations

from collections.abc import Collection

from atom.clusters.actions import AUTO
from atom.clusters.models import Cluster
from atom.jobs.deliveries import PACKS, STREAM
from atom.jobs.models import Run
from atom.jobs.runs.actions.requests import Errors, RunRequest
from atom.jobs.start_ways import DATA_THERE, NOW, SHARE, StartWay
from atom_sdk.sentences import Sentence


def start_of(run: Run) -> StartWay | None:
    """Return the start that was asked for, None if Atom chooses."""
    return StartWay(run.start_when, run.start_percent) if run.start_when else None


def delivery_of(request: RunRequest, cluster: Cluster | None, alias: str) -> str:
    """Return how an input gets there."""
    return request.deliveries.get(alias, default_delivery(cluster, request.start))


def default_delivery(cluster: Cluster | None, start: StartWay | None) -> str:
    """Return how data gets to a place; data that comes after the start is streamed."""
    comes_later = start is not None and start.when in (NOW, SHARE)
    return STREAM if cluster or comes_later else PACKS


def wrong_start(cluster: Cluster | None, request: RunRequest, aliases: Collection[str]) -> Errors:
    """Return why own machines cannot start a run so, by field; a cluster streams in any case.

    The place that Atom chooses decides the delivery, unless a person names one.
    """
    if cluster is not None or request.start is None or request.cluster == AUTO:
        return {}
    chosen = {alias: how for alias, how in request.deliveries.items() if alias in aliases}
    if request.start.when == DATA_THERE:
        streamed = sorted(alias for alias, how in chosen.items() if how == STREAM)
        return {"start": [_streams(streamed)]} if streamed else {}
    first = sorted(alias for alias, how in chosen.items() if how != STREAM)
    return {"start": [_comes_first(first)]} if first else {}


def _streams(aliases: Collection[str]) -> Sentence:
    return Sentence(
        "jobs.start_of_stream",
        "A start when all data is there needs another delivery than stream: {aliases}.",
        aliases=", ".join(aliases),
    )


def _comes_first(aliases: Collection[str]) -> Sentence:
    return Sentence(
        "jobs.start_needs_stream",
        "Data that comes after the start is streamed. Choose stream for {aliases}, or start when "
        "all data is there.",
        aliases=", ".join(aliases),
    )
