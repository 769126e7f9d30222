"""Turn errors of services that are away or cannot work into problems, without the framework.

The API (`atom.core.problems`) and the gateway answer with them.
"""

from __future__ import annotations

import re

import structlog
from botocore.exceptions import BotoCoreError, ClientError
from django.db import DataError, InterfaceError, OperationalError
from obstore.exceptions import BaseError as StoreError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from atom.core import faults
from atom.core.errors import (
    AtomError,
    Invalid,
    StoreAway,
    StoreRefuses,
    Unavailable,
    WritesRefused,
)
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

# PostgreSQL or Valkey cannot be reached, or closed a connection: the launcher has them back within
# seconds.
_SERVICE_IS_AWAY = (OperationalError, InterfaceError, RedisConnectionError, RedisTimeoutError)
_BACK_AFTER_S = 2
# Clients wait longer for a fault that a person has to repair first.
_REPAIRED_AFTER_S = 30
_STORE_FAILED = (StoreError, BotoCoreError, ClientError)
_STORE_DETAIL_CHARS = 300
_STORE_PLACE = re.compile(r"https?://[^/\s]+")
_STORE_STATUS = re.compile(r"status code: (\d{3})")


def of_services(exc: BaseException) -> AtomError | None:
    """Translate an error of a service that is away or cannot work; return None for others."""
    if (fault := faults.fault_of(exc)) is not None:
        return _of_fault(fault, exc)
    if isinstance(exc, DataError):
        # A JSON document has no field that could refuse it earlier.
        log.warning("value_cannot_be_stored", error=str(exc))
        return Invalid(
            Sentence(
                "core.value_not_storable",
                "A value is larger than can be stored, or holds a NUL character.",
            )
        )
    if isinstance(exc, _SERVICE_IS_AWAY):
        log.warning("service_is_away", error=str(exc))
        return Unavailable(headers={"Retry-After": str(_BACK_AFTER_S)})
    if isinstance(exc, _STORE_FAILED):
        log.warning("object_store_failed", error=str(exc))
        return _of_store(exc)
    return None


def _of_fault(fault: str, exc: BaseException) -> AtomError:
    log.warning("writes_refused", fault=fault, error=str(exc))
    faults.note(fault)
    is_busy = fault == faults.DATABASE_BUSY
    headers = {"Retry-After": str(_BACK_AFTER_S if is_busy else _REPAIRED_AFTER_S)}
    return WritesRefused(faults.SAYS[fault][0], headers=headers, fault=fault)


def _of_store(exc: BaseException) -> AtomError:
    said = str(exc).split("\n", 1)[0]
    # The caller learns the object, and not the address of the store.
    detail = _STORE_PLACE.sub("", said).split(": <", 1)[0][:_STORE_DETAIL_CHARS]
    found = _STORE_STATUS.search(said)
    status = int(found.group(1)) if found else 0
    if isinstance(exc, ClientError):
        status = exc.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    is_refused = 400 <= status < 500 and status not in {408, 429}
    if is_refused:
        return StoreRefuses(detail)
    faults.note(faults.OBJECT_STORE_FAILING)
    return StoreAway(detail, headers={"Retry-After": str(_BACK_AFTER_S)})
