"""The action items of a person in one project, each with its next step, in few bounded reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.core.cache import cache
from django.db.models import CharField, Count, Exists, Max, OuterRef, Q
from django.db.models.functions import Cast, Now

from atom.accounts.models import RANK, ApiToken, Invitation, Project, S3KeyPair, User
from atom.accounts.permissions import role_in
from atom.datasets.models import CommitRequest, DismissedOperation, Source, Writer
from atom.datasets.states import CANCELLABLE_OPERATIONS
from atom.jobs import states as job_states
from atom.jobs.models import Run
from atom.labeling import states as label_states
from atom.labeling.models import WorkSlot
from atom.labeling.permissions import AUDIT, LABEL, may
from atom.labeling.reads import assigned_to, available_to
from atom.notifications.models import Notification
from atom.observability import all_findings

SHOWN: Final = 3
LEVELS: Final = ("problem", "warning", "todo")
LATELY: Final = timedelta(days=7)
SOON: Final = timedelta(days=7)
# A writer that has said nothing for so long was forgotten, or its program died.
_SILENT: Final = timedelta(hours=1)
_FINDINGS_KEPT_S: Final = 60


@dataclass(frozen=True, slots=True)
class ActionItem:
    """One thing to do: `code` says what, `id` and `name` of which thing, `count` of how many."""

    code: str
    level: str
    name: str
    id: str = ""
    count: int = 1
    at: datetime | None = None
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Person:
    """The person who asks, with the role in the project."""

    user: User
    project: Project
    role: str

    def may(self, role: str) -> bool:
        """Return whether the role is at least `role`."""
        return RANK[self.role] >= RANK[role]


def action_items_of(user: User, project: Project) -> list[ActionItem]:
    """Return what needs the user, what is worst first."""
    asked = Person(user, project, role_in(user, project) or "viewer")
    found = [need for read in _READERS for need in read(asked)]
    return sorted(found, key=lambda need: LEVELS.index(need.level))


def _findings(asked: Person) -> Iterator[ActionItem]:
    """Yield findings of the health page, for administrators of the installation."""
    if not asked.user.is_superuser:
        return
    found = cache.get("needs.findings")
    if found is None:
        found = [(one.code, one.level, one.detail) for one in all_findings() if one.level != "ok"]
        cache.set("needs.findings", found, _FINDINGS_KEPT_S)
    for code, level, detail in sorted(found, key=lambda one: one[1])[:SHOWN]:
        yield ActionItem("finding", level, code, id=code, data={"detail": detail})


def _failed_runs(asked: Person) -> Iterator[ActionItem]:
    """Runs of the user that failed lately and that they have not looked at."""
    # Failed twice: what was read of the first time says nothing of the second.
    looked_at = Notification.objects.filter(
        user=asked.user,
        kind="run.failed",
        subject=Cast(OuterRef("pk"), CharField()),
        read_at__isnull=False,
        at__gte=OuterRef("finished_at") - timedelta(minutes=1),
    )
    failed = Run.objects.filter(
        project=asked.project,
        created_by=asked.user,
        archived_at=None,
        state=job_states.FAILED,
        finished_at__gte=Now() - LATELY,
    ).order_by("-finished_at")
    for run in failed.filter(~Exists(looked_at))[:SHOWN]:
        data = {"failure_class": run.failure_class, "number": run.number}
        yield ActionItem(
            "run_failed", "problem", run.name, str(run.pk), at=run.finished_at, data=data
        )


def _operations(asked: Person) -> Iterator[ActionItem]:
    """Changes to data that the user asked for and that failed, until they are dismissed."""
    dismissed = DismissedOperation.objects.filter(request=OuterRef("pk"), user=asked.user)
    ended = CommitRequest.objects.filter(
        dataset__project=asked.project,
        dataset__deleted_at=None,
        created_by=asked.user,
        operation__in=CANCELLABLE_OPERATIONS,
        writer=None,
        state__in=["failed", "conflict"],
        updated_at__gte=Now() - LATELY,
    )
    rows = ended.filter(~Exists(dismissed)).select_related("dataset").order_by("-updated_at")
    for row in rows[:SHOWN]:
        code = "conflict" if row.state == "conflict" else "operation_failed"
        data = {"branch": row.branch, "operation": row.operation, "code": row.error_code}
        yield ActionItem(
            code, "problem", row.dataset.name, str(row.pk), at=row.updated_at, data=data
        )


def _sources(asked: Person) -> Iterator[ActionItem]:
    """Sources that drifted or could not be read, for who registered them and administrators."""
    rows = Source.objects.in_project(asked.project).filter(state__in=["drifted", "failed"])
    if not asked.may("admin"):
        rows = rows.filter(created_by=asked.user)
    for row in rows.order_by("-updated_at")[:SHOWN]:
        code = "source_drifted" if row.state == "drifted" else "scan_failed"
        data = {"code": row.error_code, "dataset": row.dataset.name}
        yield ActionItem(code, "problem", row.name, row.name, at=row.updated_at, data=data)


def _returned(asked: Person) -> Iterator[ActionItem]:
    """Items that came back to the user, who may still label."""
    if not may(asked.role, LABEL):
        return
    mine = WorkSlot.objects.filter(user=asked.user, state=label_states.RETURNED)
    yield from _by_task("label_returned", "warning", mine, asked)


def _audits(asked: Person) -> Iterator[ActionItem]:
    """Items that the user may audit: labelled by somebody else."""
    if not may(asked.role, AUDIT):
        return
    waiting = available_to(asked.user).filter(role=label_states.AUDIT_ROLE, state=label_states.OPEN)
    yield from _by_task("audit", "todo", waiting, asked)


def _labels(asked: Person) -> Iterator[ActionItem]:
    """Items that the user could label: theirs to do, neither skipped nor audited by them."""
    if not may(asked.role, LABEL):
        return
    waiting = assigned_to(asked.user).filter(state=label_states.OPEN)
    yield from _by_task("label", "todo", waiting, asked)


def _by_task(code: str, level: str, slots: Any, asked: Person) -> Iterator[ActionItem]:
    task = {
        "label_task__project": asked.project,
        "label_task__state": label_states.ACTIVE,
    }
    rows = slots.filter(**task).values_list("label_task", "label_task__name")
    for task_id, name, count in rows.annotate(n=Count("pk")).order_by("-n")[:SHOWN]:
        yield ActionItem(code, level, name, str(task_id), count)


def _writers(asked: Person) -> Iterator[ActionItem]:
    """Staging branches of the user that nobody writes to any more, by dataset."""
    rows = Writer.objects.filter(
        dataset__project=asked.project,
        dataset__deleted_at=None,
        created_by=asked.user,
        state__in=["writing", "persisted"],
        updated_at__lt=Now() - _SILENT,
    )
    counted = rows.values_list("dataset__name").annotate(n=Count("pk"), last=Max("updated_at"))
    for name, count, last in counted.order_by("-last")[:SHOWN]:
        yield ActionItem("staging", "warning", name, name, count, last)


def _invitations(asked: Person) -> Iterator[ActionItem]:
    """Invitations to the project that nobody has accepted."""
    if not asked.may("admin"):
        return
    pending = Invitation.objects.pending().filter(project=asked.project)
    found = pending.aggregate(
        open=Count("pk", filter=Q(expires_at__gt=Now())),
        over=Count("pk", filter=Q(expires_at__lte=Now())),
    )
    for code, level in (("over", "warning"), ("open", "todo")):
        if found[code]:
            yield ActionItem(f"invitations_{code}", level, asked.project.name, count=found[code])


def _keys(asked: Person) -> Iterator[ActionItem]:
    """Tokens and key pairs of the user that end soon."""
    soon = {"user": asked.user, "revoked_at": None, "expires_at__gt": Now()}
    until = Now() + SOON
    keys: Iterable[tuple[str, Any]] = (("token_expires", ApiToken), ("s3_key_expires", S3KeyPair))
    for code, model in keys:
        rows = model.objects.filter(**soon, expires_at__lt=until).order_by("expires_at")
        for row in rows[:SHOWN]:
            yield ActionItem(code, "warning", row.name, str(row.pk), at=row.expires_at)


def active_runs(user: User, project: Project) -> Any:
    """Return the user's runs that have not ended, newest first."""
    mine = Run.objects.filter(
        project=project, created_by=user, archived_at=None, state__in=sorted(job_states.ACTIVE)
    )
    return mine.for_lists().order_by("-created_at", "-id")


_READERS: Final[tuple[Callable[[Person], Iterator[ActionItem]], ...]] = (
    _findings,
    _failed_runs,
    _operations,
    _sources,
    _returned,
    _writers,
    _keys,
    _audits,
    _labels,
    _invitations,
)
