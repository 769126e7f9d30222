"""Starts the services before Django's settings are read (loaded by `-p tests.plugin`)."""

import os
import sys
from collections.abc import Generator

import pytest
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]

from tests.services import FOLDER_VARIABLE, TestServices, claim_worker_share, start_services

_running: list[TestServices] = []
_RUNS_NOTHING = ("help", "version", "collectonly")
# What shares one running stack or server runs in one worker; the longest prefix counts.
_GROUPS = {
    "tests/datasets/test_fsspec_abstract": "fsspec",
    "tests/e2e/test_faults": "faults",
    "tests/e2e/test_main_job": "main job",
    "tests/e2e/": "stack",
    "tests/browser/": "stack",
    "tests/e2e/test_launcher": "faults",
}


class ByStack(LoadGroupScheduling):  # type: ignore[misc]  # untyped base
    """Groups by path: `xdist_group` is without effect in pytest 9.2 with xdist 3.8."""

    def _split_scope(self, nodeid: str) -> str:
        found = [prefix for prefix in _GROUPS if nodeid.startswith(prefix)]
        return _GROUPS[max(found, key=len)] if found else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByStack:
    """Return how tests are handed to workers."""
    return ByStack(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config,
) -> Generator[None, object, object]:
    """Export the services' addresses; a wrapper, so that it runs before pytest-django's hook."""
    keep_bytecode()
    known = early_config.known_args_namespace
    if not any(getattr(known, option, False) for option in _RUNS_NOTHING):
        if FOLDER_VARIABLE not in os.environ:
            _running.append(start_services())
        claim_worker_share()
    return (yield)


def keep_bytecode() -> None:
    """Have every process of the tests keep what it compiles: to do it anew costs each seconds."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Stop the services that this process started."""
    while _running:
        _running.pop().stop()
        os.environ.pop(FOLDER_VARIABLE, None)
