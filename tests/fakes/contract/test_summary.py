"""Lists what the contract tests do not compare, so that each run says it."""

from __future__ import annotations

import pytest

from tests.fakes.kubelet.unrecorded import UNRECORDED as KUBELET_UNRECORDED
from tests.fakes.kubernetes.unrecorded import UNRECORDED

from .not_compared import KUBELET, NOT_COMPARED, STORIES
from .transcripts import FOLDER, load

FILES = (
    "discovery",
    "create-and-errors",
    "update-patch-apply",
    "list-select-page-watch",
    "delete-finalizers-owners",
    "custom-resources",
    "access",
    "limits",
    "jobs",
)


def test_the_run_lists_what_is_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["", "Kubernetes stand-in: not compared with a real server"]
    lines += [f"  {' / '.join(key)}: {reason}" for key, reason in NOT_COMPARED.items()]
    lines += [f"  jobs / {scenario}: {reason}" for scenario, reason in STORIES.items()]
    lines += [f"  kubelet / {scenario}: {reason}" for scenario, reason in KUBELET.items()]
    lines += ["Kubernetes stand-in: unrecorded"]
    lines += [f"  {area}: {what}" for area, what in (UNRECORDED | KUBELET_UNRECORDED).items()]
    with capsys.disabled():
        print("\n".join(lines))
    assert all(NOT_COMPARED.values())


@pytest.mark.skipif(not FOLDER.exists(), reason="the transcripts stand outside of the repository")
def test_each_exception_names_a_recorded_line() -> None:
    recorded = {line.key for file in FILES for line in load(file)}
    assert set(NOT_COMPARED) <= recorded
