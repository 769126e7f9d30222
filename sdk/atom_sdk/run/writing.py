"""Datasets that a run writes: through a token that it has when it was started with the right."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from atom_sdk.errors import AtomError
from atom_sdk.run.context import is_in_run
from atom_sdk.run.datasets import references

if TYPE_CHECKING:
    from atom_sdk.client import Client
    from atom_sdk.client.writing import DatasetWriter, WriterOptions

_NEEDED = ("ATOM_URL", "ATOM_TOKEN", "ATOM_PROJECT")


class MayNotWriteError(AtomError):
    """A run's writer was asked for outside a run, or in a run without the right to write."""

    code = "run_may_not_write"
    hint = (
        "Start the script with `atom run --may-write -- python …`; outside a run, use "
        "atom_sdk.client.Client().datasets.writer()."
    )


def client() -> Client:
    """Return a client of the run's project, for all that `writer` has no words for.

    Raises MayNotWriteError.
    """
    _check()
    # Here and not above: importing it takes half a second.
    from atom_sdk.client import Client

    return Client(*(os.environ[name] for name in _NEEDED))


def writer(
    name: str,
    branch: str = "main",
    message: str = "",
    options: WriterOptions | None = None,
    *,
    resume: str | None = None,
) -> DatasetWriter:
    """Open a writer of a dataset of the project; its version names this run and what it read.

    The dataset is made if there is none. `inputs` in the provenance of `options` replaces the
    list of the run's datasets. Raises MayNotWriteError, ApiError, WriterClosedError.
    """
    _check()
    from atom_sdk.client.writing import WriterOptions

    chosen = options or WriterOptions()
    origin = {"inputs": references(), **chosen.provenance, "run": os.environ["ATOM_RUN_ID"]}
    return _shared(os.getpid()).datasets.writer(
        name, branch, message, resume=resume, options=replace(chosen, provenance=origin)
    )


def origin_of(token: str) -> dict[str, Any]:
    """Return what the versions that this token writes say of a run: nothing if it is not a run's.

    A person's own token, used by a script in a run, writes for the person.
    """
    if not is_in_run() or not token or token != os.environ.get("ATOM_TOKEN"):
        return {}
    return {"inputs": references(), "run": os.environ["ATOM_RUN_ID"]}


def _check() -> None:
    if not is_in_run():
        raise MayNotWriteError("This is not a run, so there is no run to write for.")
    if not all(os.environ.get(name) for name in _NEEDED):
        raise MayNotWriteError("This run was not started with the right to write datasets.")


@lru_cache(maxsize=1)
def _shared(_process: int) -> Client:
    """Return the client of all writers of a process; a forked child has its own connections."""
    return client()
