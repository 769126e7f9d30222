"""Every failure that a user can meet says what to do next."""

from __future__ import annotations

import re

import pytest

from atom.accounts import errors as account_errors
from atom.core.errors import AtomError, action_of
from atom.datasets import errors as dataset_errors
from atom.datasets.archives import errors as archive_errors
from atom.datasets.retention import errors as garbage_errors
from atom.datasets.sources import errors as source_errors
from atom.datasets.writers import errors as writer_errors
from atom.gateway import errors as gateway_errors
from atom.gateway.s3 import errors as s3_errors
from atom.labeling import errors as labeling_errors

MODULES = (
    account_errors,
    archive_errors,
    dataset_errors,
    garbage_errors,
    source_errors,
    writer_errors,
    labeling_errors,
    gateway_errors,
    s3_errors,
)
ERRORS = sorted(
    {
        found
        for module in MODULES
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, AtomError) and found.code != AtomError.code
    },
    key=lambda found: found.__name__,
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_it_has_an_action_of_its_own_kind(error: type[AtomError]) -> None:
    assert error.action != AtomError.action
    assert error().as_problem()["action"] == error.action


def test_a_stored_code_finds_its_action_again() -> None:
    assert action_of("head_moved") == dataset_errors.HeadMoved.action
    assert action_of("no such code") is None


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_the_action_is_for_every_caller_not_for_one_program(error: type[AtomError]) -> None:
    # An S3 tool shows no more than this; what manage.py does, nothing else can do.
    if error.__module__ != s3_errors.__name__ and "manage.py" not in error.action:
        assert re.search(r"\batom [a-z]+ |--[a-z]|\b[a-z]+_[a-z]+: ", error.action) is None
