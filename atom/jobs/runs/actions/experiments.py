"""Experiments: named groups of runs."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import IntegrityError, transaction

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock
from atom.jobs.errors import ExperimentNameTaken
from atom.jobs.models.experiments import DEFAULT_EXPERIMENT, Experiment
from atom_sdk.sentences import Sentence


def create_experiment(
    project: Project, user: User, name: str, labels: Mapping[str, str]
) -> Experiment:
    """Make an experiment. Raises ExperimentNameTaken, also for an archived one's name."""
    if name == DEFAULT_EXPERIMENT:
        raise _name_taken(name)
    try:
        with transaction.atomic():
            made = Experiment.objects.create(
                project=project, name=name, labels=dict(labels), created_by=user
            )
            audit.record(user, "experiment.created", made, project, name=name)
    except IntegrityError as error:
        raise _name_taken(name) from error
    return made


def rename_experiment(experiment: Experiment, user: User, name: str) -> None:
    """Give it another name. Raises ExperimentNameTaken."""
    old = experiment.name
    if old == name:
        return
    try:
        if name == DEFAULT_EXPERIMENT:
            raise IntegrityError
        with transaction.atomic():
            experiment.name = name
            experiment.save(update_fields=["name", "updated_at"])
            audit.record(
                user, "experiment.renamed", experiment, experiment.project, name=name, old=old
            )
    except IntegrityError as error:
        raise _name_taken(name) from error


@transaction.atomic
def archive_experiment(experiment: Experiment, user: User, *, archived: bool) -> None:
    """Take an experiment and its runs out of the lists, or bring them back together."""
    at = clock.now() if archived else None
    rows = Experiment.objects.filter(pk=experiment.pk, archived_at__isnull=archived)
    if not rows.update(archived_at=at):
        return
    if archived:
        experiment.runs.filter(archived_at=None).update(archived_at=at)
        audit.record(
            user, "experiment.archived", experiment, experiment.project, name=experiment.name
        )
        return
    # Runs that were archived by themselves stay so.
    experiment.runs.filter(archived_at=experiment.archived_at).update(archived_at=None)
    audit.record(user, "experiment.restored", experiment, experiment.project, name=experiment.name)


@transaction.atomic
def label_experiment(experiment: Experiment, set_: Mapping[str, str], without: str = "") -> bool:
    """Set labels and take one away; return whether the one to take away was there."""
    locked = Experiment.objects.select_for_update().get(pk=experiment.pk)
    labels = {**locked.labels, **set_}
    had = labels.pop(without, None) is not None
    locked.labels = labels
    locked.save(update_fields=["labels", "updated_at"])
    return had


def default_experiment(project: Project) -> Experiment:
    """Return the row of the default experiment, made where it is missing.

    It is as old as its project: whoever reads it first changes nothing that others see.
    """
    times = {"created_at": project.created_at, "updated_at": project.created_at}
    experiment, _ = Experiment.objects.get_or_create(
        times, project=project, name=DEFAULT_EXPERIMENT
    )
    return experiment


def _name_taken(name: str) -> ExperimentNameTaken:
    return ExperimentNameTaken(
        Sentence(
            "jobs.experiment_exists",
            "Experiment {experiment} already exists.",
            experiment=repr(name),
        )
    )
