"""Starts the services before Django's settings are read (loaded by `-p tests.plugin`)."""

import os
import sys
from collections.abc import Generator

import pytest
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]

from tests import tiers
from tests.services import FOLDER_VARIABLE, TestServices, claim_worker_share, start_services
from tests.timing import Timing

_running: list[TestServices] = []
_RUNS_NOTHING = ("help", "version", "collectonly")
# Tests that share one running stack or server run in one worker; the longest prefix counts.
_GROUPS = {
    "tests/browser/": "stack",
    "tests/e2e/": "stack",
    "tests/e2e/test_doctor": "faults",
    "tests/e2e/test_faults": "faults",
    "tests/e2e/test_launcher": "faults",
    "tests/e2e/test_detector_training": "main job",
    "tests/e2e/test_gang_training": "main job",
    "tests/e2e/test_main_job": "main job",
    "tests/e2e/test_street": "main job",
    "tests/e2e/test_two_clusters": "main job",
    "tests/e2e/test_web_processes": "main job",
    "tests/datasets/test_fsspec_abstract": "fsspec",
}
# The longest first: each occupies one worker for minutes, and single tests fill up the end. The
# main job begins with the database that the tests of fsspec leave as a template.
_ORDER = ("stack", "faults", "fsspec", "main job")


class ByStack(LoadGroupScheduling):  # type: ignore[misc]  # untyped base
    """Groups by path: `xdist_group` is without effect in pytest 9.2 with xdist 3.8."""

    def _split_scope(self, nodeid: str) -> str:
        return _group_of(nodeid) or nodeid

    def schedule(self) -> None:
        """Hand out groups in their order, then single tests in the order of the collection."""
        self.config.option.loadscopereorder = False
        super().schedule()


def _group_of(nodeid: str) -> str:
    """Return the group of a test; empty if it may run in any worker."""
    found = [prefix for prefix in _GROUPS if nodeid.startswith(prefix)]
    return _GROUPS[max(found, key=len)] if found else ""


def _turn_of(item: pytest.Item) -> tuple[int, bool]:
    """Return when a test begins: groups, then slow tests, then the others."""
    group = _group_of(item.nodeid)
    turn = _ORDER.index(group) if group else len(_ORDER)
    return turn, item.get_closest_marker("slow") is None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByStack:
    """Return how tests are handed to workers."""
    return ByStack(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that chooses a tier; without it every test runs, with few examples."""
    parser.addoption(
        "--tier", choices=tiers.TIERS, default="all", help="run fast tests, deep tests or all"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the profile of properties; tell of times where several workers run."""
    tier = config.getoption("tier")
    tiers.load_profile(tier)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Timing(), "atom-timing")


def pytest_report_header(config: pytest.Config) -> str:
    """Return the tier, and of the deep one the tenth."""
    tier, tenth = config.getoption("tier"), tiers.chosen_tenth()
    part = f", tenth {tenth} of 0 to 9" if tier == "deep" and tenth is not None else ""
    return f"tier: {tier}{part}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the chosen tier; the longest come first."""
    tier, tenth = config.getoption("tier"), tiers.chosen_tenth()
    kept = [item for item in items if tiers.in_tier(item, tier, tenth)]
    chosen = set(kept)
    left_out = [item for item in items if item not in chosen]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = sorted(kept, key=_turn_of)


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
