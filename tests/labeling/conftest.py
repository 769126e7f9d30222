"""A project and a researcher of it."""

import pytest

from atom.accounts.models import Project
from tests.factories.accounts import make_member, make_project
from tests.labeling.asking import Api


@pytest.fixture
def project() -> Project:
    """An empty project."""
    return make_project()


@pytest.fixture
def researcher(project: Project) -> Api:
    """The API as a researcher of the project."""
    return Api(make_member(project, "researcher"))
