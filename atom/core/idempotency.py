"""`Idempotency-Key`: a request that was sent twice is carried out once.

The key is claimed before the work and the answer is stored with it. A second request with the
same key and body gets the stored answer; with another body it is refused. A claim whose work
failed with an exception is released, so that the client may try again.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.errors import IdempotencyKeyReused, Invalid, RequestInProgress
from atom.core.models import IdempotencyRecord

_MAX_KEY = 200
# A claim older than this belongs to a process that died: its request may run again.
_CLAIM_EXPIRES = timedelta(minutes=5)

View = Callable[..., Response]


def idempotent(view: View) -> View:
    """Decorate a DRF method (`self, request, …`) that creates something."""

    @functools.wraps(view)
    def wrapper(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get("Idempotency-Key", "")
        if not key:
            return view(self, request, *args, **kwargs)
        if len(key) > _MAX_KEY:
            raise Invalid(errors={"Idempotency-Key": [f"At most {_MAX_KEY} characters."]})
        record, is_new = _claim(request, key)
        if not is_new:
            return Response(record.body, status=record.status or 200)
        try:
            response = view(self, request, *args, **kwargs)
        except BaseException:
            record.delete()
            raise
        _store(record, response)
        return response

    return wrapper


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
    if record is None:
        raise RequestInProgress
    if record.request_sha256 != digest:
        raise IdempotencyKeyReused
    if record.status is not None:
        return record, False
    stale = IdempotencyRecord.objects.filter(
        pk=record.pk, status=None, created_at__lt=timezone.now() - _CLAIM_EXPIRES
    )
    if not stale.update(created_at=timezone.now()):
        raise RequestInProgress
    return record, True


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
