"""`Idempotency-Key`: a request that was sent twice is carried out once.

The key, the work and the answer are one transaction: a process that is killed leaves all of them
or none, and a second request at the same time waits for the first. It then gets the stored answer;
with another body it is refused. Work that failed leaves no key, so that the client may try again.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.errors import IdempotencyKeyReused, Invalid, RequestInProgress
from atom.core.models import IdempotencyRecord
from atom_sdk.sentences import Sentence

_MAX_KEY = 200
_KEPT = timedelta(days=1)

View = Callable[..., Response]

_HEADER = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": _MAX_KEY},
    OpenApiParameter.HEADER,
    description="Any text of yours. Sent again with the same key within a day, the request is not "
    "carried out again: it gets the first answer. With another body or address it is refused with "
    "409 `idempotency_key_reused`; while the first is still running, with `request_in_progress`.",
)


def idempotent(view: View) -> View:
    """Decorate a DRF method (`self, request, …`) that creates something."""

    @extend_schema(parameters=[_HEADER])
    @functools.wraps(view)
    def wrapper(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get("Idempotency-Key", "")
        if not key:
            return view(self, request, *args, **kwargs)
        if len(key) > _MAX_KEY:
            raise Invalid(
                errors={
                    "Idempotency-Key": [
                        Sentence(
                            "core.key_too_long",
                            "At most {max_characters} characters.",
                            max_characters=_MAX_KEY,
                        )
                    ]
                }
            )
        with transaction.atomic():
            record, is_new = _claim(request, key)
            if not is_new:
                return Response(record.body, status=record.status or 200)
            response = view(self, request, *args, **kwargs)
            _store(record, response)
        return response

    return wrapper


def forget_old() -> int:
    """Delete the answers that are older than a day; return how many."""
    return IdempotencyRecord.objects.filter(created_at__lt=Now() - _KEPT).delete()[0]


def _claim(request: Request, key: str) -> tuple[IdempotencyRecord, bool]:
    digest = _digest(request)
    try:
        with transaction.atomic():
            fields: dict[str, Any] = {
                "user_id": request.user.pk,
                "key": key,
                "request_sha256": digest,
            }
            return IdempotencyRecord.objects.create(**fields), True
    except IntegrityError:
        return _reuse(request, key, digest)


def _reuse(request: Request, key: str, digest: str) -> tuple[IdempotencyRecord, bool]:
    record = IdempotencyRecord.objects.filter(user=cast("Any", request.user), key=key).first()
    if record is not None and record.request_sha256 != digest:
        raise IdempotencyKeyReused
    if record is None or record.status is None:
        raise RequestInProgress
    return record, False


def _store(record: IdempotencyRecord, response: Response) -> None:
    if response.status_code >= 500:
        record.delete()
        return
    record.status = response.status_code
    # Rendered and parsed again, so that UUIDs and times are stored as the client saw them.
    record.body = json.loads(JSONRenderer().render(response.data) or b"null")
    record.save(update_fields=["status", "body"])


def _digest(request: Request) -> str:
    body = json.dumps(request.data, sort_keys=True, default=str)
    text = f"{request.method} {request.path}\n{body}"
    return hashlib.sha256(text.encode()).hexdigest()
