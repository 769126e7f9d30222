"""Every task can be sent, and everything on the schedule exists."""

from __future__ import annotations

from atom.celery import app
from atom.settings import base


def test_every_task_has_a_soft_limit_below_its_hard_one() -> None:
    app.finalize()
    wrong = []
    for name, task in app.tasks.items():
        if name.startswith("celery."):
            continue
        soft = task.soft_time_limit or app.conf.task_soft_time_limit or 0
        hard = task.time_limit or base.CELERY_TASK_TIME_LIMIT
        if soft >= hard:
            wrong.append((name, soft, hard))
    assert wrong == []


def test_beat_knows_only_tasks_that_exist() -> None:
    app.finalize()
    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert scheduled <= set(app.tasks)
    assert {"jobs.tick", "models_registry.tick", "labeling.tick"} <= scheduled
