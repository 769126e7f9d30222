"""`pod`: joins the attempt of this pod, runs it in the foreground, returns its exit code."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

from .config import AttemptPaths, ConfigError, load_job, write_bytes, write_json
from .join import Assignment, PodConfig, RefusedError, StoppedError, join, pod_config, say
from .pod_exits import NO_LONGER_OURS, REFUSED, TERMINATED, exit_code_of
from .reporting import earlier_report
from .supervisor import Supervisor, announce


class _TerminatedError(BaseException):
    """SIGTERM arrived before the pod had an attempt."""


def pod() -> int:
    """Run the attempt of this pod and return the exit code of `pod_exits`."""
    os.umask(0o077)
    try:
        signal.signal(signal.SIGTERM, _end_waiting)
        config = pod_config(os.environ)
        assignment = join(config)
        # The attempt is ours now: a signal must reach its exit report.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    except _TerminatedError:
        return TERMINATED
    except StoppedError as stop:
        say(str(stop))
        return NO_LONGER_OURS
    except (ConfigError, RefusedError) as error:
        say(str(error))
        return REFUSED
    try:
        return _supervise(_write_attempt(config, assignment))
    except (ConfigError, OSError) as error:
        say(f"The attempt cannot be prepared: {error}")
        return REFUSED


def _end_waiting(*_: object) -> None:
    raise _TerminatedError


def _write_attempt(config: PodConfig, assignment: Assignment) -> AttemptPaths:
    """Make the attempt's folder with its job and token."""
    job: dict[str, Any] = {**assignment.job, "api_url": config.api_url}
    job["environment_dir"] = config.environment_dir
    # The image gives the command its PATH and more.
    job["inherit_env"] = True
    job["limits"] = {**(job.get("limits") or {}), "pod_grace_s": config.grace_s}
    attempt = job.get("attempt")
    name = str(attempt.get("id", "") if isinstance(attempt, dict) else attempt or "")
    root = config.work_dir.resolve() / ("attempt-" + re.sub(r"[^A-Za-z0-9-]", "", name))
    root.mkdir(parents=True, exist_ok=True)
    paths = AttemptPaths(root)
    write_json(paths.job, job, 0o600)
    write_bytes(paths.token, assignment.token.encode("utf-8"), 0o600)
    # A report that an earlier container left is not the report of this one.
    _forget(paths.exit_report)
    return paths


def _forget(path: Path) -> None:
    try:
        path.unlink()
    except FileNotFoundError:
        return


def _supervise(paths: AttemptPaths) -> int:
    job = load_job(paths)
    announce(paths, job)
    paths.make_folders()
    supervisor = Supervisor(job, paths)
    status = supervisor.supervise()
    return exit_code_of(
        earlier_report(paths), delivered=status == 0, terminated=supervisor.terminated
    )
