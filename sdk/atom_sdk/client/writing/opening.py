"""Opening writers and jobs, and going on with a writer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from atom_sdk.client.errors import WriterClosedError
from atom_sdk.client.writing.job import WriteJob
from atom_sdk.client.writing.writer import DatasetWriter, Site, WriterOptions, settled_head

if TYPE_CHECKING:
    from atom_sdk.client.datasets import Datasets
    from atom_sdk.client.transport.http import Http

_OPEN = {"writing", "uploading", "persisted"}


def open_writer(
    datasets: Datasets,
    http: Http,
    name: str,
    branch: str,
    message: str,
    options: WriterOptions | None,
) -> DatasetWriter:
    """Open a writer. Raises ApiError: too_many_writers, ref_not_found."""
    datasets.get_or_create(name)
    chosen = options or WriterOptions()
    site = Site(datasets, http, name)
    said = {"message": message or chosen.message, "provenance": dict(chosen.provenance)}
    body = {"branch": branch, **said}
    return DatasetWriter(site, http.post(f"{site.base}writers/", body), chosen)


def resume_writer(
    datasets: Datasets, http: Http, name: str, writer_id: str, options: WriterOptions | None
) -> DatasetWriter:
    """Go on with a writer, after what it sent last is settled. Raises WriterClosedError."""
    site = Site(datasets, http, name)
    address = f"{site.base}writers/{writer_id}/"
    head = settled_head(http, address)
    row = http.get(address)
    if row["state"] not in _OPEN:
        raise WriterClosedError(f"The writer {writer_id} is {row['state']}.")
    return DatasetWriter(site, {**row, "head": head}, options or WriterOptions())


def open_write_job(
    datasets: Datasets,
    http: Http,
    name: str,
    asked: tuple[str, str, str],
    options: WriterOptions | None,
) -> WriteJob:
    """Open or find the job (name, branch, message). Raises ApiError."""
    datasets.get_or_create(name)
    chosen = options or WriterOptions()
    site = Site(datasets, http, name)
    job, branch, message = asked
    said = {"message": message or chosen.message, "provenance": dict(chosen.provenance)}
    body = {"name": job, "branch": branch, **said}
    row = http.post(f"{site.base}write-jobs/", body)
    return WriteJob(site, row, replace(chosen, message=""))
