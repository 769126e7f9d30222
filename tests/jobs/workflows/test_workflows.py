"""Built-in workflows: folders that are checked, stored and packed the same way each time."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from atom.core import storage
from atom.jobs.models import Workflow
from atom.jobs.runtimes.engines.requirements import normalise
from atom.jobs.workflows.actions import workflows
from atom.jobs.workflows.actions.workflows import BUILT_IN
from atom.jobs.workflows.engines.workflow_files import BadWorkflowError, load_workflow
from tests.factories.accounts import make_project

GOOD = {"title": "Train", "command": ["python", "train.py"], "parameters": []}


def folder_with(tmp_path: Path, definition: dict[str, Any]) -> Path:
    folder = tmp_path / "train_it"
    folder.mkdir()
    (folder / "workflow.json").write_text(json.dumps(definition))
    (folder / "train.py").write_text("print(1)\n")
    return folder


def test_a_folder_becomes_a_workflow(tmp_path: Path) -> None:
    found = load_workflow(folder_with(tmp_path, GOOD))
    assert (found.slug, found.title, found.code) == ("train-it", "Train", ["train.py"])


def test_its_version_changes_with_its_code(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, GOOD)
    before = load_workflow(folder).version
    assert load_workflow(folder).version == before
    (folder / "train.py").write_text("print(2)\n")
    assert load_workflow(folder).version != before


@pytest.mark.parametrize(
    "change",
    [
        {"titel": "x"},
        {"command": []},
        {"requirements": "missing.txt"},
        {"parameters": [{"name": "a", "type": "integer"}]},
        {"parameters": [{"name": "a", "type": "enum"}]},
    ],
)
def test_a_folder_with_a_mistake_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(BadWorkflowError, match=r"train_it/workflow\.json"):
        load_workflow(folder_with(tmp_path, {**GOOD, **change}))


@pytest.mark.django_db
def test_the_built_in_workflows_are_in_the_table_after_migrating() -> None:
    call_command("sync_workflows")
    assert {"image-classification", "evaluate-classifier"} <= set(
        Workflow.objects.values_list("slug", flat=True)
    )
    train = Workflow.objects.get(slug="image-classification")
    names = {one.name for one in workflows.parameters_of(train)}
    assert {"dataset", "epochs", "batch_size", "learning_rate", "register_model"} <= names
    assert "torch" in train.definition["requirements"]


@pytest.mark.django_db
def test_its_code_is_stored_once_per_project() -> None:
    call_command("sync_workflows")
    train = Workflow.objects.get(slug="evaluate-classifier")
    project = make_project()
    first = workflows.snapshot_of(train, project)
    assert workflows.snapshot_of(train, project) == first
    data = storage.objects().get(first.key)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        assert archive.getnames() == sorted(train.definition["code"])


def test_all_workflows_with_torch_share_one_environment() -> None:
    """Each environment with torch takes minutes to build and gigabytes of the disk."""
    texts = [file.read_text() for file in BUILT_IN.glob("*/requirements.txt")]
    assert len({normalise(text) for text in texts if "torch" in text}) == 1
