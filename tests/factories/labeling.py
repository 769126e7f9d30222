"""Label tasks over small versions."""

from typing import Any

from atom.accounts.models import Project, User
from atom.datasets.models import Version
from atom.labeling.actions.label_tasks import TaskPlan, create_task, start_task
from atom.labeling.models import LabelTask
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version

DIGITS = tuple({"name": str(digit)} for digit in range(10))


def unlabelled(n: int) -> dict[str, str | None]:
    """Return `n` paths without a label."""
    return {f"unlabelled/{index:05d}.png": None for index in range(n)}


def make_task(
    n_items: int = 4,
    *,
    project: Project | None = None,
    creator: User | None = None,
    version: Version | None = None,
    started: bool = True,
    **plan: Any,
) -> LabelTask:
    """Return a task over `n_items` unlabelled files, started unless told otherwise."""
    project = project or make_project()
    creator = creator or make_member(project, "researcher")
    files = {**unlabelled(n_items), "0/known.png": "0"}
    version = version or make_version(make_dataset(project), files)
    plan = {"name": f"task of {version.dataset.name}", "labels": DIGITS, "audit_percent": 0, **plan}
    task = create_task(project, creator, TaskPlan(version=version, **plan))
    return start_task(task, creator) if started else task
