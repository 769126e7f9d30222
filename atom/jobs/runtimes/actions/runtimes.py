"""Runtimes: requirements → digest → environment, built once by a worker."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections import deque
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from blake3 import blake3
from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from atom.core import live
from atom.core.leases import kept
from atom.jobs import effects, states
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record
from atom.jobs.models import Run, Runtime
from atom.jobs.runtimes.engines.requirements import normalise
from atom.jobs.runtimes.pipelines import runtime_build
from atom.jobs.runtimes.pipelines.builder import builder_of, ensure_pip
from atom.jobs.runtimes.pipelines.interpreter import (
    base_python,
    can_isolate,
    require_open,
    version_of,
)
from atom.jobs.runtimes.pipelines.runtime_build import BuildBusyError, BuildFailedError, RuntimeSpec
from atom.jobs.runtimes.pipelines.sdk_wheel import ensure_wheel, sdk_digest

log = structlog.get_logger(__name__)

CLAIM = timedelta(seconds=60)
_LOOK_AGAIN = timedelta(seconds=2)
_RENEW_EVERY_S = 15.0
_REPORT_EVERY_S = 1.0
_FIRST_LINE_MAX = 200


def folder() -> Path:
    """Return the folder of the environments, which other installations may use too."""
    return Path(settings.ATOM_RUNTIMES_DIR or settings.ATOM_HOME / "runtimes")


def _parts() -> Path:
    """Return the folder of what environments are made from: it stays as long as they do."""
    return Path(settings.ATOM_RUNTIMES_DIR or settings.ATOM_HOME)


def job_python() -> Path:
    """Return the interpreter that runtimes start from."""
    return base_python(_parts(), isolated=can_isolate(Path(settings.ATOM_HOME)))


def digest_of(requirements: str) -> tuple[str, str]:
    """Return the digest of a runtime with these requirements, and its Python version."""
    python = version_of(job_python())
    parts = (normalise(requirements), python, sdk_digest(), *pip_options())
    return blake3("\0".join(parts).encode()).hexdigest(), python


def pip_options() -> tuple[str, ...]:
    """Return the installation's own options of `pip install`."""
    return tuple(shlex.split(getattr(settings, "ATOM_RUNTIME_PIP_OPTIONS", "")))


def find_runtime(requirements: str) -> tuple[str, Runtime | None]:
    """Return the digest that these requirements have, and the runtime if it is known."""
    digest, _ = digest_of(requirements)
    return digest, Runtime.objects.filter(digest=digest).first()


def ensure_runtime(requirements: str) -> Runtime:
    """Return the runtime row of these requirements."""
    digest, python = digest_of(requirements)
    runtime, _ = Runtime.objects.get_or_create(
        digest=digest, defaults={"requirements": normalise(requirements), "python": python}
    )
    return runtime


def path_of(runtime: Runtime) -> Path:
    """Return the folder of the environment."""
    return folder() / runtime.digest[:32]


def request_build(runtime: Runtime) -> None:
    """Have the runtime built unless it is there; one that failed or vanished is tried again."""
    if runtime.state == states.READY and runtime_build.is_ready(path_of(runtime)):
        return
    again = Runtime.objects.filter(pk=runtime.pk, state__in=[states.FAILED, states.READY])
    again.update(state=states.PENDING, log_tail="")
    effects.build(runtime.pk)


def nudge_build(runtime: Runtime) -> None:
    """Request a build that no live worker does; called every second, so it asks rarely."""
    if runtime.state == states.READY:
        request_build(runtime)
        return
    idle = Q(claimed_until__isnull=True) | Q(claimed_until__lt=Now())
    unattended = Runtime.objects.filter(idle, pk=runtime.pk, state=states.BUILDING)
    lost = unattended.update(state=states.PENDING, claimed_until=Now() + CLAIM)
    waiting = Runtime.objects.filter(idle, pk=runtime.pk, state=states.PENDING)
    if lost or waiting.update(claimed_until=Now() + CLAIM):
        effects.build(runtime.pk)


def claim(runtime_id: UUID) -> Runtime | None:
    """Claim a runtime to build; None if it is built, or a live worker builds it."""
    mine = Runtime.objects.filter(pk=runtime_id).filter(
        Q(state=states.PENDING) | Q(state=states.BUILDING, claimed_until__lt=Now())
    )
    if not mine.update(state=states.BUILDING, claimed_until=Now() + CLAIM):
        return None
    return Runtime.objects.get(pk=runtime_id)


def build(runtime_id: UUID) -> None:
    """Build a runtime, unless it is there, reporting pip's lines to the runs that wait for it."""
    runtime = claim(runtime_id)
    if runtime is None:
        return
    with kept(lambda: _renew(runtime), _RENEW_EVERY_S):
        _build(runtime)
    effects.wake()


def _renew(runtime: Runtime, for_: timedelta = CLAIM) -> None:
    rows = Runtime.objects.filter(pk=runtime.pk, state=states.BUILDING)
    rows.update(claimed_until=Now() + for_)


def _build(runtime: Runtime) -> None:
    report, started_s = BuildReport(runtime), time.monotonic()
    try:
        size_bytes = _ensure_built(runtime, report)
    except BuildFailedError as error:
        _finish(runtime, states.FAILED, error.tail, 0)
    except BuildBusyError:
        # The builder is another installation, or a worker that renewed its claim late. The tick
        # looks again.
        report.show("Another server is building the same environment.")
        _renew(runtime, _LOOK_AGAIN)
    except (OSError, subprocess.SubprocessError) as error:
        _finish(runtime, states.FAILED, f"{report.tail()}\n{error}".strip(), 0)
    except BaseException as error:
        Runtime.objects.filter(pk=runtime.pk, state=states.BUILDING).update(state=states.PENDING)
        log.warning("runtime_build_interrupted", digest=runtime.digest, error=repr(error))
        raise
    else:
        _finish(runtime, states.READY, report.tail(), size_bytes)
        if not report.has_begun:
            return
        took_s = time.monotonic() - started_s
        said = f"Its Python environment was built in {took_s:.0f} s ({size_bytes >> 20} MiB)."
        notify_waiting(runtime, EventKind.RUNTIME_BUILT, said, took_s=took_s, size_bytes=size_bytes)


def notify_waiting(runtime: Runtime, kind: EventKind, text: str, **data: Any) -> None:
    """Note it in the timelines of the runs that wait for the environment."""
    for run in Run.objects.filter(runtime=runtime, state=states.WARMING):
        record(run, kind, text, None, digest=runtime.digest, **data)


def _ensure_built(runtime: Runtime, report: BuildReport) -> int:
    """Return the size in bytes; another installation may have built it meanwhile.

    Raises BuildFailedError, BuildBusyError, OSError.
    """
    path = path_of(runtime)
    if runtime_build.is_ready(path):
        return runtime_build.size_bytes(path)
    return runtime_build.build(_spec(runtime), report.line)


def _spec(runtime: Runtime) -> RuntimeSpec:
    path, parts = path_of(runtime), _parts()
    isolated = can_isolate(Path(settings.ATOM_HOME))
    path.parent.mkdir(parents=True, exist_ok=True)
    if isolated:
        require_open(path.parent)
    return RuntimeSpec(
        path=path,
        python=job_python(),
        requirements=runtime.requirements,
        sdk_wheel=ensure_wheel(parts),
        pip=ensure_pip(parts),
        pip_options=pip_options(),
        timeout_s=settings.ATOM_RUNTIME_BUILD_TIMEOUT_S,
        builder=builder_of(path) if isolated else None,
    )


def _finish(runtime: Runtime, state: str, tail: str, size_bytes: int) -> None:
    log.info("runtime_built", digest=runtime.digest, state=state, size_bytes=size_bytes)
    Runtime.objects.filter(pk=runtime.pk, state=states.BUILDING).update(
        state=state,
        log_tail=tail,
        size_bytes=size_bytes,
        path=str(path_of(runtime)),
        built_at=Now(),
        claimed_until=None,
    )


class BuildReport:
    """Passes pip's lines on, at most once a second, and renews the builder's claim with them."""

    def __init__(self, runtime: Runtime) -> None:
        """Report for the runs that wait for `runtime`."""
        self._runtime = runtime
        self._lines: deque[str] = deque(maxlen=runtime_build.TAIL_LINES)
        self._reported_at = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether something was built."""
        return bool(self._lines)

    def line(self, text: str) -> None:
        """Note one line; the first one also in the timelines."""
        if not self.has_begun:
            said = "Its Python environment is being built; later runs start at once."
            notify_waiting(self._runtime, EventKind.RUNTIME, said)
        self._lines.append(text)
        if time.monotonic() - self._reported_at >= _REPORT_EVERY_S:
            self._reported_at = time.monotonic()
            self._report(text)

    def tail(self) -> str:
        """Return the last lines."""
        return "\n".join(self._lines)

    def _report(self, text: str) -> None:
        Runtime.objects.filter(pk=self._runtime.pk).update(
            log_tail=self.tail(), claimed_until=Now() + CLAIM
        )
        self.show(f"Building the environment: {text.strip()}"[:_FIRST_LINE_MAX])

    def show(self, said: str) -> None:
        """Show where things stand in the runs that wait."""
        waiting = Run.objects.filter(runtime=self._runtime, state=states.WARMING)
        waiting.update(progress_text=said)
        for run_id in waiting.values_list("pk", flat=True):
            live.publish(
                f"run.{run_id}",
                {
                    "type": "run",
                    "id": str(run_id),
                    "state": "warming",
                    "progress": 0,
                    "progress_text": said,
                },
            )
