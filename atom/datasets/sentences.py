"""Sentences that several capabilities of datasets say."""

from __future__ import annotations

from atom_sdk.sentences import Sentence


def branch_unknown(dataset: str, branch: str) -> Sentence:
    """Return that a dataset lacks a branch."""
    return Sentence(
        "datasets.branch_unknown",
        "{dataset} has no branch {branch}.",
        dataset=dataset,
        branch=branch,
    )


def file_and_folder(path: str) -> Sentence:
    """Return that a path would be both."""
    return Sentence("datasets.file_and_folder", "{path} would be a file and a folder.", path=path)


def file_unknown(dataset: str, ref: str, path: str) -> Sentence:
    """Return that a version lacks a file."""
    return Sentence(
        "datasets.file_unknown",
        "{dataset}@{ref} has no file {path}.",
        dataset=dataset,
        ref=ref,
        path=repr(path),
    )


def listing_stuck() -> Sentence:
    """Return that a source repeats a page of its listing."""
    return Sentence("datasets.listing_stuck", "The source's listing does not go on.")


def no_answer_from(place: str) -> Sentence:
    """Return that a host or an address does not answer."""
    return Sentence("datasets.no_answer_from", "There is no answer from {place}.", place=place)


def write_job_is(job: str, state: str) -> Sentence:
    """Return the state of a write job that refuses the request."""
    return Sentence("datasets.write_job_is", "The job {job} is {state}.", job=job, state=state)


def writer_is(state: str) -> Sentence:
    """Return the state of a writer that refuses the request."""
    return Sentence("datasets.writer_is", "The writer is {state}.", state=state)
