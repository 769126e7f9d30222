"""Failures of background work keep the code and the parameters of their detail."""

from __future__ import annotations

import pytest

from atom.accounts.models import Project
from atom.core.errors import AtomError
from atom.core.stored_failures import stored_failure
from atom.datasets.models import GarbageRun
from atom_sdk.sentences import Sentence
from tests.factories.accounts import make_project

pytestmark = pytest.mark.django_db

GONE = Sentence("datasets.version_gone", "The version {version} is gone.", version='a"{b}\0')


@pytest.fixture
def project() -> Project:
    return make_project()


def _stored(project: Project, detail: str) -> str:
    run = GarbageRun.objects.create(project=project, state="failed", error_detail=detail)
    again = GarbageRun.objects.values_list("error_detail", flat=True).get(pk=run.pk)
    assert GarbageRun.objects.get(pk=run.pk).error_detail == again
    return again


def test_a_sentence_comes_back_with_its_code_and_parameters(project: Project) -> None:
    again = _stored(project, GONE)

    assert again == GONE
    assert isinstance(again, Sentence)
    assert again.as_code() == GONE.as_code()
    # A row that is written again keeps it.
    assert _stored(project, again) == GONE


@pytest.mark.parametrize("text", ["", "A text.", '{"sentence": 1}', '{"sentence": "a", "code"'])
def test_other_text_comes_back_as_it_is(project: Project, text: str) -> None:
    again = _stored(project, text)

    assert again == text
    assert type(again) is str


def test_a_failure_shows_its_detail_by_code() -> None:
    failure = stored_failure("version_gone", GONE)

    assert failure == {
        "code": "version_gone",
        "detail": GONE,
        "detail_code": "datasets.version_gone",
        "detail_params": {"version": 'a"{b}\0'},
        "action": failure and failure["action"],
    }
    assert stored_failure("", "") is None
    assert stored_failure("of_tomorrow", "Text.") == {
        "code": "of_tomorrow",
        "detail": "Text.",
        "action": AtomError.action,
    }
