"""Finished runs are looked at once: models registered, evaluations recorded."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from atom.core.storage import objects
from atom.jobs import states as job_states
from atom.jobs.models import Artifact, Run
from atom.models_registry import states, tasks
from atom.models_registry.actions import set_alias
from atom.models_registry.engines.evaluations import MalformedEvaluation, parse_evaluation
from atom.models_registry.models import Alias, Evaluation, Model, ModelVersion, RunIntake
from tests.factories.datasets import make_dataset, make_version
from tests.factories.models_registry import EVALUATION, make_trained_run

pytestmark = pytest.mark.django_db


def trained(**fields: Any) -> Run:
    fields = {"parameters": {"register_model": "digits"}, "evaluation": EVALUATION, **fields}
    if "dataset_version" not in fields:
        dataset = make_dataset(fields.get("project"))
        fields["dataset_version"] = make_version(dataset, {"cat/1.png": "cat"})
        fields["project"] = dataset.project
    return make_trained_run(**fields)


def let_time_pass() -> None:
    earlier = F("next_try_at") - timedelta(minutes=6)
    RunIntake.objects.filter(next_try_at__isnull=False).update(next_try_at=earlier)


def test_a_training_run_becomes_a_version_with_its_evaluation_and_no_alias() -> None:
    run = trained()
    tasks.tick()
    version = ModelVersion.objects.get(run=run)
    assert (version.model.name, version.number) == ("digits", 1)
    # An alias says something of quality: a person or a gate gives it.
    assert not Alias.objects.exists()
    evaluation = Evaluation.objects.get(model_version=version)
    assert (evaluation.n, evaluation.accuracy, evaluation.split) == (4, 0.75, "test")
    assert evaluation.dataset_version == run.inputs.get().version
    assert evaluation.confusion["matrix"] == [[2, 0], [1, 1]]
    kinds = set(run.events.values_list("kind", flat=True))
    assert {"model_registered", "evaluated"} <= kinds


def test_looking_again_changes_nothing() -> None:
    run = trained()
    tasks.tick()
    RunIntake.objects.update(state=states.PENDING)
    tasks.tick()
    assert ModelVersion.objects.filter(run=run).count() == 1
    assert Evaluation.objects.count() == 1


def test_the_next_run_moves_no_alias() -> None:
    first = trained()
    tasks.tick()
    version = ModelVersion.objects.get()
    set_alias(version.model, "candidate", version, None)
    trained(project=first.project, dataset_version=first.inputs.get().version)
    tasks.tick()
    assert ModelVersion.objects.count() == 2
    assert Alias.objects.get().version == version


def test_an_evaluation_run_is_recorded_with_the_model_that_it_names() -> None:
    first = trained(evaluation=None)
    tasks.tick()
    version = ModelVersion.objects.get()
    run = trained(
        project=first.project,
        dataset_version=first.inputs.get().version,
        parameters={"model_version": "digits@v1"},
    )
    tasks.tick()
    assert ModelVersion.objects.count() == 1
    assert Evaluation.objects.get().run == run
    assert Evaluation.objects.get().model_version == version


def test_a_run_that_asks_for_nothing_is_left_alone() -> None:
    run = trained(parameters={}, evaluation=None)
    tasks.tick()
    assert not Model.objects.exists()
    assert RunIntake.objects.get(run=run).state == states.DONE


@pytest.mark.parametrize("state", [job_states.FAILED, job_states.CANCELLED, job_states.RUNNING])
def test_only_succeeded_runs_are_looked_at(state: str) -> None:
    run = trained()
    Run.objects.filter(pk=run.pk).update(state=state)
    tasks.tick()
    assert not RunIntake.objects.exists()


def test_a_damaged_model_is_told_on_the_timeline_and_tried_again() -> None:
    run = trained()
    artifact = Artifact.objects.get(path="model/weights.pt")
    whole = objects().get(artifact.key)
    objects().put(artifact.key, b"broken")
    tasks.tick()
    assert RunIntake.objects.get(run=run).error_code == "artifact_damaged"
    assert not Model.objects.exists()
    objects().put(artifact.key, whole)
    tasks.tick()
    # Not at once: what is away stays away for a while.
    assert RunIntake.objects.get(run=run).tries == 1
    let_time_pass()
    tasks.tick()
    assert RunIntake.objects.get(run=run).state == states.DONE
    assert ModelVersion.objects.exists()


def test_a_store_that_is_away_for_minutes_costs_no_evaluation() -> None:
    run = trained()
    artifact = Artifact.objects.get(path="model/weights.pt")
    whole = objects().get(artifact.key)
    objects().delete(artifact.key)
    for _ in range(11):
        tasks.tick()
        let_time_pass()
    waiting = RunIntake.objects.get(run=run)
    assert (waiting.state, waiting.tries) == (states.PENDING, 11)

    objects().put(artifact.key, whole)
    tasks.tick()
    assert Evaluation.objects.get().run == run


def test_an_evaluation_that_is_still_being_stored_is_waited_for() -> None:
    run = trained()
    artifacts = Artifact.objects.filter(path="evaluation.json")
    assert artifacts.update(state=job_states.LOCAL) == 1
    tasks.tick()
    assert RunIntake.objects.get(run=run).error_code == "artifact_not_ready"

    artifacts.update(state=job_states.PERSISTED)
    let_time_pass()
    tasks.tick()
    assert Evaluation.objects.get().run == run


def test_what_never_comes_back_is_told_in_the_end() -> None:
    run = trained()
    objects().delete(Artifact.objects.get(path="model/weights.pt").key)
    for _ in range(12):
        tasks.tick()
        let_time_pass()
    assert RunIntake.objects.get(run=run).state == states.FAILED
    assert run.events.filter(kind="registration_failed").count() == 1


def test_one_bad_run_keeps_no_other_waiting() -> None:
    bad = trained(parameters={"register_model": "Not A Name!"})
    good = trained()
    tasks.tick()
    assert RunIntake.objects.get(run=bad).state == states.FAILED
    assert bad.events.filter(kind="registration_failed").exists()
    assert ModelVersion.objects.get().run == good


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n": 5}, "counts 4"),
        ({"n": -1}, "n is not"),
        ({"accuracy": 0.9}, "accuracy contradicts matrix"),
        ({"accuracy": "high"}, "accuracy is not a number"),
        ({"accuracy": float("nan")}, "accuracy is not a number"),
        ({"matrix": [[4]]}, "row and a column"),
        ({"matrix": [[2, 0], [1, "1"]]}, "a cell"),
        ({"labels": []}, "labels is not"),
    ],
)
def test_a_malformed_evaluation_says_where(change: dict[str, Any], said: str) -> None:
    with pytest.raises(MalformedEvaluation, match=said):
        parse_evaluation(json.dumps({**EVALUATION, **change}).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"null"])
def test_what_is_no_evaluation_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedEvaluation):
        parse_evaluation(data)
