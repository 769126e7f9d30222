"""Starts the services before Django's settings are read (loaded by `-p tests.plugin`)."""

import os
from collections.abc import Generator

import pytest

from tests.services import FOLDER_VARIABLE, TestServices, claim_worker_share, start_services

_running: list[TestServices] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config,
) -> Generator[None, object, object]:
    """Export the services' addresses; a wrapper, so that it runs before pytest-django's hook."""
    known = early_config.known_args_namespace
    if not getattr(known, "help", False) and not getattr(known, "version", 0):
        if FOLDER_VARIABLE not in os.environ:
            _running.append(start_services())
        claim_worker_share()
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Stop the services that this process started."""
    while _running:
        _running.pop().stop()
        os.environ.pop(FOLDER_VARIABLE, None)
