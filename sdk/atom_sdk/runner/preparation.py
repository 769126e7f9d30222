"""Everything that must be on disk before the command starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .api import Api, ApiError, UnreachableError
from .archive import ArchiveError
from .config import AttemptPaths, Job, parse_job
from .indexes import fetch_indexes
from .inputs import (
    ExpiredUrlError,
    InputError,
    StorageAwayError,
    fetch_code,
    fetch_environment,
    fetch_files,
)

NEW_JOB_WAIT_S = 60.0


# Errors that another attempt may well not meet.
_PASSING = (ExpiredUrlError, StorageAwayError, UnreachableError)


class PreparationError(Exception):
    """The command was not started; the message is a sentence for people.

    `passing`: a service did not answer, so another attempt may succeed.
    """

    def __init__(self, message: str, passing: bool = False) -> None:
        """Take the sentence."""
        super().__init__(message)
        self.passing = passing


def prepare(job: Job, paths: AttemptPaths, api: Api, must_stop: Callable[[], bool]) -> Path:
    """Fetch what the job needs and return the command's working folder. PreparationError."""
    try:
        try:
            _fetch(job, paths, must_stop)
            fetch_indexes(job.datasets, paths.datasets, api)
        except ExpiredUrlError:
            fresh = api.get("job/", deadline_s=NEW_JOB_WAIT_S)
            own = {"api_url": job.api_url, "environment_dir": job.environment_dir}
            _fetch(parse_job({**fresh, **own}), paths, must_stop)
    except (InputError, ArchiveError, ApiError, UnreachableError, OSError) as error:
        raise PreparationError(str(error), isinstance(error, _PASSING)) from error
    return _working_folder(job, paths)


def _fetch(job: Job, paths: AttemptPaths, must_stop: Callable[[], bool]) -> None:
    resume: dict[str, Any] = job.resume or {}
    temporary = paths.root / "tmp"
    steps: list[Callable[[], None]] = [
        lambda: _fetch_environment(job, temporary),
        lambda: fetch_code(job.code, paths.work, temporary) if job.code else None,
        lambda: fetch_files(job.inputs, paths.inputs),
        lambda: fetch_files(_resume_files(resume), paths.resume, _checkpoint_prefix(resume)),
    ]
    for step in steps:
        if must_stop():
            raise PreparationError("The run was ended before its command started.")
        step()


def _fetch_environment(job: Job, temporary: Path) -> None:
    """Unpack the environment, unless the image has it."""
    environment = job.environment or {"in_image": True}
    if not environment.get("in_image"):
        fetch_environment(environment, Path(job.environment_dir), temporary)


def _resume_files(resume: dict[str, Any]) -> list[dict[str, Any]]:
    return list(resume.get("files") or resume.get("checkpoint_files") or [])


def _checkpoint_prefix(resume: dict[str, Any]) -> str:
    """Return the folder part that all checkpoint files share: `checkpoints/step-<n>/`."""
    for file in _resume_files(resume):
        parts = str(file["path"]).split("/")
        if parts[0] == "checkpoints" and len(parts) > 2:
            return "/".join(parts[:2]) + "/"
    return ""


def _working_folder(job: Job, paths: AttemptPaths) -> Path:
    folder = (paths.work / job.workdir).resolve()
    if not str(folder).startswith(str(paths.work.resolve())) or not folder.is_dir():
        raise PreparationError(f"The working folder {job.workdir!r} is not in the code snapshot.")
    return folder
