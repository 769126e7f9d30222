"""A run may write anything into its files: it is reported, and hides nothing of others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from atom.models_registry import actions, states, tasks
from atom.models_registry.models import Evaluation, ModelVersion, RunIntake
from tests.factories.accounts import make_member
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run
from tests.factories.models_registry import EVALUATION, make_trained_run, store_file
from tests.models_registry.test_intake import let_time_pass

pytestmark = pytest.mark.django_db

_STRANGE = {
    "framework": "torch\0",
    "metrics": {
        "note": "best", "loss": float("nan"), "huge": 10**400, "nested": {"a": 1}, "ok\0": 0.5,
    },
    "signature": {"text": "a\0b\ud800", "limit": float("inf")},
}  # fmt: skip


def test_strange_words_of_a_model_hide_no_list(client: Client) -> None:
    run = make_run()
    attempt = make_attempt(run, "succeeded")
    store_file(attempt, "model/weights.pt", b"weights")
    store_file(attempt, "model/atom.json", json.dumps(_STRANGE).encode())
    model = actions.create_model(run.project, None, "digits")
    version = actions.register(model, run, "model", None)
    assert version.metrics == {"ok\ufffd": 0.5}
    assert version.signature == {"text": "a\ufffdb\ufffd", "limit": "inf"}

    client.force_login(make_member(run.project))
    base = f"/api/v1/projects/{run.project.slug}/"
    # As versions have kept it that were registered before.
    ModelVersion.objects.update(metrics={"note": "best", "accuracy": 0.5})
    for path in ("models/", "models/digits/", "models/digits/versions/", "overview/"):
        answer = client.get(base + path)
        assert answer.status_code == 200, path
        assert "best" not in answer.content.decode()


@pytest.mark.parametrize(
    "change",
    [
        {"n": 2**31, "matrix": [[2**31, 0], [0, 0]], "accuracy": 1.0},
        {"labels": [["cat"], "dog"]},
        {"split": ["a"]},
    ],
)
def test_an_evaluation_that_no_table_holds_is_told_once(change: dict[str, Any]) -> None:
    run = _evaluated({**EVALUATION, **change})
    tasks.tick()
    intake = RunIntake.objects.get(run=run)
    assert (intake.state, intake.error_code) == (states.FAILED, "evaluation_malformed")
    assert run.events.filter(kind="registration_failed").count() == 1


def test_marks_and_numbers_that_cannot_be_kept_are_left_out_of_an_evaluation() -> None:
    strange = {"split": "te\0st", "labels": ["c\ud800", "dog"], "metrics": {"huge": 10**400}}
    run = _evaluated({**EVALUATION, **strange})
    tasks.tick()
    found = Evaluation.objects.get(run=run)
    assert (found.split, found.confusion["labels"][0], found.metrics) == (
        "te\ufffdst",
        "c\ufffd",
        {},
    )


def test_a_defect_met_by_a_run_is_counted_and_told_in_the_end() -> None:
    run = _evaluated(EVALUATION)
    # A rule of the table that no code knows of stands for any defect.
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE models_registry_evaluation ADD CONSTRAINT never CHECK (n < 0) NOT VALID"
        )
    for _ in range(12):
        tasks.tick()
        let_time_pass()
    intake = RunIntake.objects.get(run=run)
    assert (intake.state, intake.error_code) == (states.FAILED, "intake_failed")
    assert run.events.filter(kind="registration_failed").count() == 1


def _evaluated(evaluation: dict[str, Any]) -> Any:
    dataset = make_dataset()
    return make_trained_run(
        project=dataset.project,
        dataset_version=make_version(dataset, {"cat/1.png": "cat"}),
        parameters={"register_model": "digits"},
        evaluation=evaluation,
    )
