"""Name, tags, notes and star of a run; a change of an older revision is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import live
from atom.core.errors import NotFound
from atom.jobs import states
from atom.jobs.errors import NotCancellable, RunChanged, TooManyTags
from atom.jobs.events import announce
from atom.jobs.models import Run
from atom.jobs.runs.actions.runs import cancel_run
from atom.jobs.tracking.actions.tracked import set_archived
from atom_sdk.sentences import Sentence

MAX_TAGS = 30
MAX_NOTES = 20_000
# As many as a page of the list has at most.
MAX_RUNS = 200


@dataclass(frozen=True, slots=True)
class Description:
    """Changes of a run's description; None leaves a field as it is."""

    name: str | None = None
    notes: str | None = None
    tags: Sequence[str] | None = None
    starred: bool | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a change of many runs: changed ones, and refused ones with the reason.

    Runs in neither list needed no change.
    """

    changed: list[UUID]
    refused: list[tuple[Run, str]]


def describe_run(run_id: UUID, user: User, said: Description, expected: int | None) -> Run:
    """Change the description of a run, if its revision is `expected`; None takes any.

    Raises RunChanged with the present values, so that both changes can be put together.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).select_related("project").get(pk=run_id)
        if expected is not None and run.revision != expected:
            raise _changed(run)
        changed = _apply(run, said)
        if changed:
            _save(run, changed)
            audit.record(user, "run.described", run, run.project, name=run.name, changed=changed)
            announce(run)
            # Its page reads it again at an event.
            live.publish(f"run.{run.pk}", {"type": "event", "seq": 0})
    return run


def _changed(run: Run) -> RunChanged:
    current = {
        "name": run.name, "notes": run.notes, "tags": run.tags, "starred": run.starred,
        "revision": run.revision,
    }  # fmt: skip
    return RunChanged(
        Sentence(
            "jobs.run_changed",
            "Run {run} has revision {revision} by now.",
            run=run.number,
            revision=run.revision,
        ),
        current=current,
    )


def _apply(run: Run, said: Description) -> list[str]:
    """Set the new values, and return the names of the fields that changed."""
    wanted = {
        "name": said.name,
        "notes": said.notes,
        "tags": None if said.tags is None else list(dict.fromkeys(said.tags)),
        "starred": said.starred,
    }
    changed = [
        name for name, value in wanted.items() if value is not None and value != getattr(run, name)
    ]
    for name in changed:
        setattr(run, name, wanted[name])
    return changed


def _save(run: Run, changed: Sequence[str]) -> None:
    run.revision += 1
    run.save(update_fields=[*changed, "revision", "updated_at"])


@transaction.atomic
def tag_runs(
    project: Project, user: User, run_ids: Iterable[UUID], add: Sequence[str], remove: Sequence[str]
) -> Outcome:
    """Add tags to runs and take others away: what others add meanwhile stays.

    Raises NotFound, TooManyTags.
    """
    changed = []
    for run in _locked(project, run_ids):
        tags = [tag for tag in run.tags if tag not in remove]
        tags += [tag for tag in dict.fromkeys(add) if tag not in tags]
        if len(tags) > MAX_TAGS:
            raise TooManyTags(
                Sentence(
                    "jobs.too_many_tags",
                    "Run {run} would have {count} tags.",
                    run=run.number,
                    count=len(tags),
                )
            )
        if tags != run.tags:
            run.tags = tags
            _save(run, ["tags"])
            audit.record(user, "run.described", run, project, name=run.name, changed=["tags"])
            live.publish(f"run.{run.pk}", {"type": "event", "seq": 0})
            changed.append(run.pk)
    if changed:
        live.publish(f"project.{project.pk}", {"type": "run"})
    return Outcome(changed, [])


@transaction.atomic
def archive_runs(project: Project, user: User, run_ids: Iterable[UUID]) -> Outcome:
    """Take runs that are over out of the list; nothing of them is lost. Raises NotFound."""
    changed: list[UUID] = []
    refused: list[tuple[Run, str]] = []
    for run in _locked(project, run_ids):
        if run.state not in states.TERMINAL:
            refused.append((run, "still_active"))
            continue
        if set_archived(run, user, archived=True):
            changed.append(run.pk)
    return Outcome(changed, refused)


@transaction.atomic
def restore_runs(project: Project, user: User, run_ids: Iterable[UUID]) -> Outcome:
    """Bring archived runs back into the list. Raises NotFound."""
    found = _locked(project, run_ids)
    changed = [run.pk for run in found if set_archived(run, user, archived=False)]
    return Outcome(changed, [])


def cancel_runs(project: Project, user: User, run_ids: Iterable[UUID]) -> Outcome:
    """Ask runs to stop, each for itself: one that is over does not keep the others going."""
    changed: list[UUID] = []
    refused: list[tuple[Run, str]] = []
    for run in _of(project, run_ids):
        try:
            cancel_run(run.pk, user)
        except NotCancellable as error:
            refused.append((run, error.code))
        else:
            changed.append(run.pk)
    return Outcome(changed, refused)


def _of(project: Project, run_ids: Iterable[UUID]) -> list[Run]:
    wanted = set(run_ids)
    # In one order: two who change the same runs must not wait for each other.
    found = list(Run.objects.filter(project=project, pk__in=wanted).order_by("pk"))
    if len(found) < len(wanted):
        raise NotFound(Sentence("jobs.runs_unknown", "Some of these are no runs of the project."))
    return found


def _locked(project: Project, run_ids: Iterable[UUID]) -> list[Run]:
    found = _of(project, run_ids)
    locked = Run.objects.select_for_update(of=("self",)).filter(pk__in=[one.pk for one in found])
    return list(locked.select_related("project").order_by("pk"))
