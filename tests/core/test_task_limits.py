"""Celery refuses, when it is sent, a task whose soft time limit is above its hard one."""

from atom.celery import app


def test_every_task_can_be_sent() -> None:
    app.finalize(auto=True)
    app.loader.import_default_modules()
    ours = {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}
    assert ours
    for name, task in ours.items():
        assert task.time_limit, name
        assert (task.soft_time_limit or 0) <= task.time_limit, name
