"""Read-only tables for operators under `/admin/`, without secrets.

Writes are actions (rights, states, audit), so there is no form here that goes around them. A column
is left out when its name says that it holds a secret, or when it is opaque (JSON, binary), so that
a new column cannot leak a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator

from atom.core.admin_words import spoken
from atom.core.models import OutboxEvent

_SECRET = re.compile(
    r"encrypt|secret|hash|token|password|credential|signature|idempotency|body|url|(^|_)key$"
)
_OPAQUE = (models.JSONField, models.BinaryField)
_SEARCHED = (
    "name",
    "slug",
    "username",
    "full_name",
    "email",
    "verb",
    "object_id",
    "digest",
    "path",
)
_COLUMNS = 7
_SHORT = 8


class ReadOnlyAdmin(ModelAdmin):  # type: ignore[misc]  # untyped library
    """Rows to look at, newest first; lists are never counted, since some have millions of rows."""

    paginator = InfinitePaginator
    show_full_result_count = False
    list_per_page = 50
    ordering = ("-pk",)
    hidden: Sequence[str] = ()

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        """Return the rows without what is not shown: it is not even read."""
        found: models.QuerySet[Any] = super().get_queryset(request).defer(*self.hidden)
        return found

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        """Refuse: actions make rows."""
        return False

    def has_change_permission(self, request: HttpRequest, *_: Any) -> bool:
        """Refuse: actions change rows."""
        return False

    def has_delete_permission(self, request: HttpRequest, *_: Any) -> bool:
        """Refuse: actions delete rows."""
        return False


def show(
    model: type[models.Model],
    columns: Sequence[str] = (),
    search: Sequence[str] = (),
    filters: Sequence[str] = (),
    also: Iterable[str] = (),
) -> None:
    """Register a table. Columns, search and filters follow from its fields unless they are given.

    `also` names opaque columns that are known to hold no secret.
    """
    shown = [field for field in model._meta.fields if _is_shown(field, also)]
    names = [field.name for field in shown]
    listed = list(columns) or _columns(shown)
    known = (*_SEARCHED, *search)
    _speak(model, shown)
    links = {name: _link(model, name) for name in listed if _is_relation(model, name)}
    body = {
        "fields": names,
        "readonly_fields": names,
        "hidden": [f.name for f in model._meta.fields if f.name not in names],
        "list_display": [f"link_{name}" if name in links else name for name in listed],
        "list_select_related": list(links) or False,
        "list_filter": list(filters) or [f.name for f in shown if _is_filter(f)],
        "search_fields": ["id__startswith", *(name for name in known if name in names)],
        **{f"link_{name}": link for name, link in links.items()},
    }
    admin.site.register(model, type(f"{model.__name__}Admin", (ReadOnlyAdmin,), body))


def show_rest(app: str, *, apart_from: Iterable[type[models.Model]] = ()) -> None:
    """Register every table of an app that is not registered yet."""
    left_out = set(apart_from)
    for model in apps.get_app_config(app).get_models():
        if model not in left_out and not admin.site.is_registered(model):
            show(model)


def _speak(model: type[models.Model], shown: Sequence[models.Field[Any, Any]]) -> None:
    """Give the table, its app and its columns names in the language of their reader.

    Django translates the names of its own columns.
    """
    meta, app = model._meta, apps.get_app_config(model._meta.app_label)
    plural = _plural(model)
    meta.verbose_name = spoken("tables", str(meta.verbose_name), plural)
    meta.verbose_name_plural = spoken("tables", plural)
    if type(app.verbose_name) is str:
        app.verbose_name = spoken("apps", app.verbose_name)
    for field in shown:
        if type(field.verbose_name) is str:
            field.verbose_name = spoken("columns", field.verbose_name)


def _plural(model: type[models.Model]) -> str:
    """Return `branches` where Django would only add an s; it is shown here alone."""
    name, given = str(model._meta.verbose_name), str(model._meta.verbose_name_plural)
    if given != f"{name}s":
        return given
    if name.endswith(("series", "changes")):
        return name
    if re.search(r"[^aeiou]y$", name):
        return f"{name[:-1]}ies"
    return f"{name}es" if re.search(r"(s|x|ch|sh)$", name) else given


def _is_shown(field: models.Field[Any, Any], also: Iterable[str]) -> bool:
    if field.name in also:
        return True
    return not isinstance(field, _OPAQUE) and not _SECRET.search(field.name)


def _columns(shown: Sequence[models.Field[Any, Any]]) -> list[str]:
    """Return the columns of a list: what names a row, then the others as they are declared."""
    short = [f.name for f in shown if not isinstance(f, models.TextField)]
    first = [name for name in short if name in (*_SEARCHED, "state", "kind")]
    rest = [name for name in short if name not in first and name not in ("updated_at", "id")]
    listed = [*first, *rest][: _COLUMNS - 1]
    times = [name for name in ("created_at", "at") if name in short and name not in listed]
    return ["id", *listed[: _COLUMNS - 1 - len(times)], *times]


def _is_filter(field: models.Field[Any, Any]) -> bool:
    return bool(field.choices) or isinstance(field, models.BooleanField) or field.name in (
        "created_at", "at",
    )  # fmt: skip


def _is_relation(model: type[models.Model], name: str) -> bool:
    return any(f.name == name and f.is_relation for f in model._meta.fields)


def _link(model: type[models.Model], name: str) -> Any:
    """Return a column that leads to the row that a foreign key names."""

    @admin.display(description=model._meta.get_field(name).verbose_name, ordering=name)  # type: ignore[union-attr]  # a column
    def link(self: ModelAdmin, row: models.Model) -> SafeString | str:
        found = getattr(row, name)
        if found is None:
            return "–"
        # Django's own words name the table only.
        has_words = vars(type(found)).get("__str__") is not None
        words = str(found) if has_words else f"…{str(found.pk)[-_SHORT:]}"
        if not self.admin_site.is_registered(type(found)):
            return words
        meta = found._meta
        address = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[found.pk])
        return format_html('<a href="{}">{}</a>', address, words)

    return link


# Stored answers to idempotency keys may hold secrets that are shown once.
show(OutboxEvent)
