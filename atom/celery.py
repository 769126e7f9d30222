"""The Celery application: tasks of every app and the schedule that beat follows."""

import ctypes
import os
import signal
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_process_init, worker_ready
from django_structlog.celery.steps import DjangoStructLogInitStep

from atom.web.composition import modules_of_apps

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atom.settings.development")

# A tick that nobody took in time is worthless: the next one does its work.
TICK_EXPIRES_S = 10
PR_SET_PDEATHSIG = 1

app = Celery("atom")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add(DjangoStructLogInitStep)


@app.on_after_finalize.connect
def collect_schedule(sender: Celery, **_: Any) -> None:
    """Merge `BEAT_SCHEDULE` of each app's tasks into one schedule."""
    for module in modules_of_apps("tasks"):
        for name, entry in getattr(module, "BEAT_SCHEDULE", {}).items():
            options = {"expires": TICK_EXPIRES_S, **entry.get("options", {})}
            sender.conf.beat_schedule[name] = {**entry, "options": options}


@worker_process_init.connect
def die_with_worker(**_: Any) -> None:
    """End this pool process when the worker is killed; it would otherwise wait for ever."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


@worker_ready.connect
@beat_init.connect
def tell_launcher(**_: Any) -> None:
    """Touch the file by which the launcher knows that this process works."""
    if ready_file := os.environ.get("ATOM_READY_FILE"):
        Path(ready_file).touch()
