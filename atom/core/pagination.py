"""Keyset pagination: the cost of a page does not grow with its number."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError
from django.db.models import Model, Q
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.errors import Invalid
from atom.core.foreign_json import read_json
from atom.core.query import refuse_unknown
from atom.core.sentences import cursor_invalid, positive_number_to

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
# Python refuses to read a number of thousands.
_DIGITS = 9


def parse_limit(request: Request, default: int = DEFAULT_LIMIT, maximum: int = MAX_LIMIT) -> int:
    """Return the `limit` parameter. Raises Invalid when it is not a number in 1..maximum."""
    text = request.query_params.get("limit", str(default))
    if not text.isdecimal() or len(text) > _DIGITS or not 1 <= int(text) <= maximum:
        raise Invalid(errors={"limit": [positive_number_to(maximum)]})
    return int(text)


def encode_cursor(values: Sequence[Any]) -> str:
    """Return an opaque cursor for the last row's ordering values."""
    raw = json.dumps([v.isoformat() if isinstance(v, datetime) else str(v) for v in values])
    return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")


def decode_cursor(text: str, length: int, *, allow_nul: bool = False) -> list[str]:
    """Undo `encode_cursor`. Raises Invalid for anything we did not hand out.

    `allow_nul` is for lists that never ask the database, whose texts have no NUL: the first
    path after `a` is `a` and a NUL.
    """
    try:
        values = read_json(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        found = [str(value) for value in values] if isinstance(values, list) else []
        # Half of a character cannot be encoded.
        encoded = "".join(found).encode()
        is_clean = allow_nul or b"\0" not in encoded
    except ValueError:
        found, is_clean = [], False
    if not is_clean or len(found) != length:
        raise Invalid(errors={"cursor": [cursor_invalid()]})
    return found


class KeysetPagination(BasePagination):
    """`{"results": […], "next": cursor | null}` over a unique ordering.

    A view sets `keyset = ("-created_at", "-id")`; all fields share one direction. Its `filters`
    are the names of the other parameters that it reads.
    """

    ordering: tuple[str, ...] = ("-created_at", "-id")

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return one page and remember the cursor of the next."""
        ordering: tuple[str, ...] = getattr(view, "keyset", self.ordering)
        refuse_unknown(request, ("limit", "cursor", *getattr(view, "filters", ())))
        limit = parse_limit(request)
        cursor = request.query_params.get("cursor")
        rows = queryset.order_by(*ordering)
        if cursor:
            try:
                rows = rows.filter(_after(ordering, decode_cursor(cursor, len(ordering))))
                page = list(rows[: limit + 1])
            except (ValueError, TypeError, ValidationError, DataError) as exc:
                raise Invalid(errors={"cursor": [cursor_invalid()]}) from exc
        else:
            page = list(rows[: limit + 1])
        self.next_cursor = _cursor_of(page[limit - 1], ordering) if len(page) > limit else None
        return page[:limit]

    def get_paginated_response(self, data: Any) -> Response:
        """Wrap the serialized page."""
        return Response({"results": data, "next": self.next_cursor})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe the envelope for OpenAPI."""
        return {
            "type": "object",
            "required": ["results", "next"],
            "properties": {
                "results": schema,
                "next": {"type": "string", "nullable": True},
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Describe `limit` and `cursor` for OpenAPI."""
        limit_schema = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}
        return [
            {"name": "limit", "in": "query", "required": False, "schema": limit_schema},
            {"name": "cursor", "in": "query", "required": False, "schema": {"type": "string"}},
        ]


def _after(ordering: Sequence[str], values: Sequence[str]) -> Q:
    """Return the row-wise "comes after" condition, as OR of ANDs."""
    condition = Q()
    for index, name in enumerate(ordering):
        equal = Q(**{o.lstrip("-"): v for o, v in zip(ordering[:index], values, strict=False)})
        lookup = "lt" if name.startswith("-") else "gt"
        condition |= equal & Q(**{f"{name.lstrip('-')}__{lookup}": values[index]})
    return condition


def _cursor_of(row: Model, ordering: Sequence[str]) -> str:
    return encode_cursor([_value(row, name.lstrip("-")) for name in ordering])


def _value(row: Any, path: str) -> Any:
    for part in path.split("__"):
        row = getattr(row, part)
    return row
