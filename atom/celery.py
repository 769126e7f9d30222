"""The Celery application: tasks of every app and the schedule that beat follows."""

import ctypes
import gc
import os
import signal
import sys
from pathlib import Path
from typing import Any

import structlog
from celery import Celery, bootsteps
from celery.signals import (
    beat_init,
    before_task_publish,
    task_failure,
    task_postrun,
    task_prerun,
    worker_before_create_process,
    worker_init,
    worker_process_init,
    worker_ready,
)
from django.conf import settings
from django.db import close_old_connections
from django_structlog.celery.steps import DjangoStructLogInitStep
from PIL import Image

from atom.core import faults, heartbeats, task_counts, tracing
from atom.core.store_clients import signing_client
from atom.web.composition import modules_of_apps
from atom_sdk.block_pandas import leave_pandas_out

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atom.settings.development")
log = structlog.get_logger(__name__)

# A tick that nobody took in time is worthless: the next one does its work.
TICK_EXPIRES_S = 10
PR_SET_PDEATHSIG = 1
_WORKER_PID = "ATOM_WORKER_PID"

app = Celery("atom")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Celery would connect again for each task, which costs more than most of them. Django's
# CONN_MAX_AGE limits how long a connection is kept instead.
app.conf["CELERY_DB_REUSE_MAX"] = sys.maxsize
app.autodiscover_tasks()
app.steps["worker"].add(DjangoStructLogInitStep)


class TakeBackUnfinished(bootsteps.StartStopStep):  # type: ignore[misc]  # untyped base
    """Puts what a killed worker, or a broken connection, left unacknowledged back into the queue.

    Redis would do so only after the visibility timeout. Only where this is the broker's one
    worker (ATOM_ONLY_WORKER): another's tasks would be done twice at once.
    """

    requires = ("celery.worker.consumer.connection:Connection",)

    def include_if(self, consumer: Any) -> bool:
        """Take part only in the one worker of an installation."""
        return os.environ.get("ATOM_ONLY_WORKER") == "1"

    def start(self, consumer: Any) -> None:
        """Run at each connection, before the first message is taken; nothing is under way then."""
        channel = consumer.connection.default_channel
        with channel.conn_or_acquire() as client:
            tags = client.zrange(channel.unacked_index_key, 0, -1)
        for tag in tags:
            channel.qos.restore_by_tag(tag)
        if tags:
            log.warning("unfinished_tasks_taken_back", count=len(tags))


class GiveSigns(bootsteps.StartStopStep):  # type: ignore[misc]  # untyped base
    """Reports every few seconds that the worker's main process lives."""

    requires = ("celery.worker.components:Timer",)

    def start(self, worker: Any) -> None:
        """Begin with the worker; its timer ends with it."""
        signs = heartbeats.Signs(heartbeats.WORKER)
        signs()
        worker.timer.call_repeatedly(heartbeats.EVERY_S, signs)


app.steps["consumer"].add(TakeBackUnfinished)
app.steps["worker"].add(GiveSigns)


@app.on_after_finalize.connect
def collect_schedule(sender: Celery, **_: Any) -> None:
    """Merge `BEAT_SCHEDULE` of each app's tasks into one schedule."""
    for module in modules_of_apps("tasks"):
        for name, entry in getattr(module, "BEAT_SCHEDULE", {}).items():
            options = {"expires": TICK_EXPIRES_S, **entry.get("options", {})}
            sender.conf.beat_schedule[name] = {**entry, "options": options}


@worker_init.connect
def save_what_pandas_costs(**_: Any) -> None:
    """Do without pandas, here and in the pool: each of its processes would load it again."""
    leave_pandas_out()


@worker_init.connect
def load_what_tasks_need(**_: Any) -> None:
    """Load modules once in the worker, so that pool processes share them.

    The store's client takes a tenth of a second, the readers of pictures another half.
    """
    Image.preinit()
    signing_client(settings.S3_ENDPOINT_URL).close()


@worker_before_create_process.connect
def share_memory_with_pool(**_: Any) -> None:
    """Keep the collector off what is loaded now: marking it would copy every page to the child."""
    gc.collect()
    gc.freeze()
    # The child compares its parent's id with this one.
    os.environ[_WORKER_PID] = str(os.getpid())


@worker_process_init.connect
def die_with_worker(**_: Any) -> None:
    """End this pool process when the worker is killed; it would otherwise wait for ever."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.environ.get(_WORKER_PID) != str(os.getppid()):
        # The worker died before the call above, so no signal will come.
        os.kill(os.getpid(), signal.SIGKILL)


@worker_process_init.connect
def leave_broken_connections(**_: Any) -> None:
    """Have each task of this pool process begin with a connection that works, or none."""
    task_prerun.connect(close_connections_that_broke)


@worker_process_init.connect
def count_tasks(**_: Any) -> None:
    """Count what this pool process does."""
    task_prerun.connect(task_counts.begin)
    task_postrun.connect(task_counts.end)


@worker_process_init.connect
def note_task_faults(**_: Any) -> None:
    """Note task failures by full disks and the like, for all web processes."""
    task_failure.connect(note_fault)


def note_fault(exception: BaseException | None = None, **_: Any) -> None:
    """Note what a task failed by, if it is a fault of a service."""
    fault = faults.fault_of(exception) if exception is not None else None
    if fault is not None:
        faults.note_for_all(fault)


@worker_process_init.connect
def trace_tasks(**_: Any) -> None:
    """Trace what this pool process does, where a collector is named."""
    tracing.begin("worker")
    if tracing.is_on():
        task_prerun.connect(tracing.begin_task)
        task_postrun.connect(tracing.end_task)
        before_task_publish.connect(tracing.send_along)


@beat_init.connect
def give_signs_of_beat(**_: Any) -> None:
    """Report that beat lives whenever it sends something, which it does every few seconds."""
    # Celery keeps receivers weakly; the module's own name holds this one.
    before_task_publish.connect(_BEAT_SIGNS)


_BEAT_SIGNS = heartbeats.Signs(heartbeats.BEAT)


def close_connections_that_broke(**_: Any) -> None:
    """Close what failed or is too old; what the server has closed is noticed at its next use."""
    close_old_connections()


@worker_ready.connect
@beat_init.connect
def touch_ready_file(**_: Any) -> None:
    """Touch the file by which the launcher knows that this process works."""
    if ready_file := os.environ.get("ATOM_READY_FILE"):
        Path(ready_file).touch()
