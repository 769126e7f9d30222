"""Model versions are made from stored files whose bytes are what was recorded."""

from __future__ import annotations

import hashlib

import pytest

from atom.core.storage import objects
from atom.jobs import states as job_states
from atom.jobs.models import Artifact
from atom.jobs.workflows.actions import workflows
from atom.models_registry import actions, reads
from atom.models_registry.engines.digests import FileDigest, digests_of_set
from atom.models_registry.engines.evaluability import DESCRIPTION, why_not_evaluable
from atom.models_registry.engines.evaluability import WEIGHTS as WEIGHTS_FILE
from atom.models_registry.errors import (
    AliasReserved,
    ArtifactDamaged,
    ArtifactNotFound,
    ArtifactNotReady,
    ModelNotFound,
    RunNotOver,
)
from atom.models_registry.inputs import resolve_model
from atom.models_registry.models import AliasChange, ModelVersion
from tests.factories.jobs import make_attempt, make_run
from tests.factories.models_registry import WEIGHTS, make_trained_run, store_file

pytestmark = pytest.mark.django_db


def test_a_version_takes_the_files_below_the_path_with_their_description() -> None:
    run = make_trained_run()
    model = actions.create_model(run.project, None, "digits")
    version = actions.register(model, run, "model/", None)
    assert version.number == 1
    assert (version.framework, version.metrics) == ("pytorch", {"accuracy": 0.75})
    files = {file.path: file.artifact for file in version.files.select_related("artifact")}
    assert set(files) == {"weights.pt", "atom.json"}
    assert version.size_bytes == sum(artifact.size_bytes for artifact in files.values())


def test_one_file_keeps_its_own_digests() -> None:
    run = make_trained_run()
    model = actions.create_model(run.project, None, "digits")
    version = actions.register(model, run, "model/weights.pt", None)
    assert version.sha256 == hashlib.sha256(WEIGHTS).hexdigest()
    assert [file.path for file in version.files.all()] == ["weights.pt"]


def test_a_model_that_the_evaluation_could_not_read_says_what_it_lacks() -> None:
    assert why_not_evaluable(["model.json", "weights.pt", "atom.json"]) is None
    assert why_not_evaluable(["sub/model.json", "sub/weights.pt"]) is None
    assert why_not_evaluable(["weights.pt"]) == "no_description"
    assert why_not_evaluable(["model/detector.json", "model/detector.pt"]) is None
    assert why_not_evaluable(["model/detector.json", "weights.pt"]) == "no_weights"
    assert why_not_evaluable(["sub/model.json", "weights.pt"]) == "no_weights"


def test_the_workflow_writes_what_its_evaluation_looks_for() -> None:
    source = workflows.BUILT_IN / "image_classification"
    said = (source / "artifacts.py").read_text("utf-8")
    assert f'DESCRIPTION, WEIGHTS = "{DESCRIPTION}", "{WEIGHTS_FILE}"' in said


def test_the_digest_of_several_files_does_not_depend_on_their_order() -> None:
    files = [FileDigest("b", "2" * 64, "4" * 64), FileDigest("a", "1" * 64, "3" * 64)]
    lines = f"{'1' * 64}  a\n{'2' * 64}  b\n".encode()
    assert digests_of_set(files).sha256 == hashlib.sha256(lines).hexdigest()
    assert digests_of_set(files) == digests_of_set(files[::-1])


def test_registering_the_same_files_again_is_the_same_version() -> None:
    run = make_trained_run()
    model = actions.create_model(run.project, None, "digits")
    first = actions.register(model, run, "model/", None)
    assert actions.register(model, run, "model", None) == first
    other = make_trained_run(project=run.project)
    assert actions.register(model, other, "model", None).number == 2


def test_a_damaged_file_is_named_and_not_registered() -> None:
    run = make_trained_run()
    model = actions.create_model(run.project, None, "digits")
    objects().put(Artifact.objects.get(path="model/weights.pt").key, b"x" * len(WEIGHTS))
    with pytest.raises(ArtifactDamaged, match=r"model/weights\.pt"):
        actions.register(model, run, "model", None)
    assert not ModelVersion.objects.exists()


def test_a_file_that_is_still_being_stored_is_waited_for() -> None:
    run = make_trained_run()
    store_file(run.attempts.get(), "model/late.bin", b"late", state=job_states.LOCAL)
    model = actions.create_model(run.project, None, "digits")
    with pytest.raises(ArtifactNotReady, match=r"late\.bin"):
        actions.register(model, run, "model", None)


@pytest.mark.parametrize("state", [job_states.RUNNING, job_states.FINALIZING])
def test_a_run_that_is_not_over_is_not_registered(state: str) -> None:
    run = make_trained_run()
    make_attempt(run, state)
    model = actions.create_model(run.project, None, "digits")
    with pytest.raises(RunNotOver):
        actions.register(model, run, "model", None)


def test_a_run_without_a_model_is_registered_only_by_the_path_of_a_file() -> None:
    run = make_run()
    store_file(make_attempt(run, job_states.SUCCEEDED), "evaluation.json", b"{}")
    model = actions.create_model(run.project, None, "digits")
    with pytest.raises(ArtifactNotFound):
        actions.register(model, run, "model/", None)
    assert actions.register(model, run, "evaluation.json", None).number == 1


@pytest.mark.parametrize("path", ["nothing", "mod", "model/weights"])
def test_a_path_without_files_is_refused(path: str) -> None:
    run = make_trained_run()
    model = actions.create_model(run.project, None, "digits")
    with pytest.raises(ArtifactNotFound):
        actions.register(model, run, path, None)


def test_the_files_of_the_last_attempt_count() -> None:
    run = make_trained_run()
    second = make_attempt(run, job_states.SUCCEEDED)
    store_file(second, "model/weights.pt", b"better")
    model = actions.create_model(run.project, None, "digits")
    version = actions.register(model, run, "model", None)
    assert version.size_bytes == len(b"better")


def test_an_alias_moves_and_remembers_where_it_was() -> None:
    run = make_trained_run()
    model = actions.create_model(run.project, None, "digits")
    one = actions.register(model, run, "model", None)
    two = actions.register(model, make_trained_run(project=run.project), "model", None)
    for version in (one, one, two):
        actions.set_alias(model, "production", version, None)
    actions.remove_alias(model, "production", None)
    steps = AliasChange.objects.order_by("created_at").values_list("old__number", "new__number")
    assert list(steps) == [(None, 1), (1, 2), (2, None)]
    with pytest.raises(ModelNotFound):
        actions.remove_alias(model, "production", None)


@pytest.mark.parametrize("name", ["history", "v1", "12", "latest"])
def test_names_that_read_otherwise_cannot_be_aliases(name: str) -> None:
    run = make_trained_run()
    model = actions.create_model(run.project, None, "digits")
    version = actions.register(model, run, "model", None)
    with pytest.raises(AliasReserved):
        actions.set_alias(model, name, version, None)


@pytest.mark.parametrize(
    ("reference", "number"),
    [("digits@v1", 1), ("digits@1", 1), ("digits@best", 1), ("digits", 2)],
)
def test_a_reference_names_a_version(reference: str, number: int) -> None:
    run = make_trained_run()
    model = actions.create_model(run.project, None, "digits")
    actions.set_alias(model, "best", actions.register(model, run, "model", None), None)
    actions.register(model, make_trained_run(project=run.project), "model", None)
    assert reads.find_version(run.project, reference).number == number


@pytest.mark.parametrize("reference", ["", "@", "digits@v9", "digits@none", "other@v1", "\x00"])
def test_a_reference_to_nothing_is_not_found(reference: str) -> None:
    run = make_trained_run()
    model = actions.create_model(run.project, None, "digits")
    actions.register(model, run, "model", None)
    with pytest.raises(ModelNotFound):
        reads.find_version(run.project, reference)


def test_jobs_get_the_files_of_a_model_parameter() -> None:
    run = make_trained_run()
    model = actions.create_model(run.project, None, "digits")
    actions.register(model, run, "model", None)
    resolved = resolve_model(run.project, "digits")
    assert resolved.reference == "digits@v1"
    assert resolved.files["weights.pt"].path == "model/weights.pt"
