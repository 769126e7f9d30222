"""Failures of images: each error of a registry has a sentence and a next step."""

from __future__ import annotations

import pytest

from atom.jobs.failures.engines.image_failures import IMAGE_FAILURES, image_failure
from atom.jobs.registries import errors
from atom.jobs.registries.errors import RegistryError

REGISTRY = {"registry": "r.example", "said": "DENIED no"}
EVERY = [
    errors.RegistryAway(**REGISTRY),
    errors.RegistryRefused(**REGISTRY),
    errors.RegistryForbidden(**REGISTRY),
    errors.RegistryDenied(**REGISTRY, repository="envs"),
    errors.RegistryFull(**REGISTRY, repository="envs"),
    errors.BaseDenied(image="r.example/a"),
    errors.BaseMissing(image="r.example/a", version="1"),
    errors.BaseUnfit(image="r.example/a", machine="s390x"),
]


def test_every_error_of_a_registry_is_a_failure() -> None:
    assert {type(one) for one in EVERY} == set(RegistryError.__subclasses__())
    assert {one.code for one in EVERY} == {str(code) for code in IMAGE_FAILURES}


@pytest.mark.parametrize("error", EVERY, ids=lambda error: error.code)
def test_a_failure_names_what_it_is_about_and_the_next_step(error: RegistryError) -> None:
    failure = image_failure(error.code, error.params)
    assert failure.failure_class == "RUNTIME_BUILD"
    assert (failure.code, failure.params) == (error.code, error.params)
    assert all(value in failure.reason for value in error.params.values())
    assert failure.suggestion
