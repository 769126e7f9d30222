"""Saving, changing and removing views. Data that was made with a view keeps the query's text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.datasets.browsing.queries import view_query
from atom.datasets.catalog import catalogue_log
from atom.datasets.errors import ViewEmpty, ViewNameTaken, ViewNotFound
from atom.datasets.models import Dataset, SavedView
from atom_sdk.sentences import Sentence


def create_view(dataset: Dataset, fields: Mapping[str, Any], user: User) -> SavedView:
    """Save a view of `name`, `where`, `prefix` and `splits`.

    Raises ViewNameTaken, ViewEmpty, QueryInvalid.
    """
    view = SavedView(dataset=dataset, created_by=user, **fields)
    _store(view, user, "view.created")
    return view


def change_view(dataset: Dataset, name: str, fields: Mapping[str, Any], user: User) -> SavedView:
    """Rename a view or change what it asks; what is not in `fields` stays.

    Raises ViewNotFound, ViewNameTaken, ViewEmpty, QueryInvalid.
    """
    with transaction.atomic():
        view = _locked(dataset, name)
        for field, value in fields.items():
            setattr(view, field, value)
        _store(view, user, "view.changed", was=name)
    return view


def delete_view(dataset: Dataset, name: str, user: User) -> None:
    """Take a view away. Raises ViewNotFound."""
    with transaction.atomic():
        view = _locked(dataset, name)
        catalogue_log.write_saved_view(view, is_deleted=True)
        audit.record(user, "view.deleted", view, dataset.project, dataset, **_audit_details(view))
        view.delete()


def _store(view: SavedView, user: User, verb: str, **said: str) -> None:
    if view_query(view) is None:
        raise ViewEmpty
    try:
        with transaction.atomic():
            view.save()
            catalogue_log.write_saved_view(view)
            named = {**_audit_details(view), **said}
            audit.record(user, verb, view, view.dataset.project, view.dataset, **named)
    except IntegrityError as exc:
        raise ViewNameTaken(
            Sentence(
                "datasets.view_exists",
                "{dataset} already has a view {view}.",
                dataset=view.dataset.name,
                view=view.name,
            )
        ) from exc


def _audit_details(view: SavedView) -> dict[str, Any]:
    asked = {"where": view.where, "prefix": view.prefix, "splits": view.splits}
    return {"dataset": view.dataset.name, "name": view.name, **asked}


def _locked(dataset: Dataset, name: str) -> SavedView:
    rows = SavedView.objects.select_for_update(of=("self",)).select_related("created_by")
    view = rows.filter(dataset=dataset, name=name).first()
    if view is None:
        raise ViewNotFound(
            Sentence(
                "datasets.view_unknown",
                "{dataset} has no view {view}.",
                dataset=dataset.name,
                view=name,
            )
        )
    view.dataset = dataset
    return view
