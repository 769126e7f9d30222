"""Failures of environments' images: the base image, or the registry that images are pushed to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from atom.jobs.failures.engines.failure_codes import RUNTIME_BUILD, FailureCode
from atom.jobs.failures.engines.failures import Failure

_SET_THE_SECRET: Final = "set the project's secret DOCKER_AUTH_CONFIG"
# The reason and the next step.
IMAGE_FAILURES: Final[Mapping[FailureCode, tuple[str, str]]] = {
    FailureCode.BASE_IMAGE_DENIED: (
        "The registry does not let Atom read the image {image}, or has no such image.",
        f"Check the image's name. If it is private, {_SET_THE_SECRET}. Then start the run again.",
    ),
    FailureCode.BASE_IMAGE_MISSING: (
        "The registry has no image {image} with the version {version}.",
        "Correct the image's name or tag and start the run again.",
    ),
    FailureCode.BASE_IMAGE_UNFIT: (
        "The image {image} has no version for Linux on {machine} that Atom can add to.",
        "Name an image for this processor, pushed in the form of OCI or of Docker's schema 2.",
    ),
    FailureCode.REGISTRY_DENIED: (
        "The registry {registry} did not let Atom push to {repository}: {said}",
        "Ask an administrator to correct the credentials in the cluster's profile, or "
        f"{_SET_THE_SECRET}. Then retry the run.",
    ),
    FailureCode.REGISTRY_FULL: (
        "The registry {registry} has no room left in {repository}: {said}",
        "Ask an administrator of the registry for a larger quota, or to delete old images. Then "
        "retry the run.",
    ),
    FailureCode.REGISTRY_AWAY: (
        "The registry {registry} did not answer for over an hour: {said}",
        "Check that the registry runs and that Atom's workers reach it. Then retry the run.",
    ),
    FailureCode.REGISTRY_NOT_PUBLIC: (
        "The registry {registry} is in a network that Atom may not reach: {said}",
        "Ask an administrator to list its network in ATOM_REGISTRY_NETWORKS. Then retry the run.",
    ),
    FailureCode.REGISTRY_REFUSED: (
        "The registry {registry} refused the environment's image: {said}",
        "Show this to an administrator of the registry. Then retry the run.",
    ),
}


def image_failure(code: str, params: Mapping[str, str]) -> Failure:
    """Return the failure of an attempt whose environment did not become an image."""
    reason, suggestion = IMAGE_FAILURES[FailureCode(code)]
    return Failure(
        RUNTIME_BUILD, reason.format(**params), suggestion, FailureCode(code), dict(params)
    )
