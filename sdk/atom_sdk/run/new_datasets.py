"""Datasets that a run makes: one that gets no version does not stay behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError
from atom_sdk.client.refs import parse_ref
from atom_sdk.errors import AtomError

_NOT_FOUND = 404


@contextmanager
def no_empty_dataset(client: Client, reference: str) -> Iterator[None]:
    """Delete the dataset again if it was made inside and the block ends by an exception.

    One that has a version by then stays. Raises ApiError.
    """
    is_new = not _exists(client, reference)
    try:
        yield
    except BaseException:
        if is_new:
            _take_back(client, reference)
        raise


def _exists(client: Client, reference: str) -> bool:
    try:
        client.datasets.get(reference)
    except ApiError as error:
        if error.status != _NOT_FOUND:
            raise
        return False
    return True


def _take_back(client: Client, reference: str) -> None:
    name = parse_ref(reference).dataset
    with suppress(AtomError):
        if client.datasets.get(name)["latest"] is None:
            client.retention.delete(name)
