"""Requirements that a run may have, checked when it is requested."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from atom.jobs.models import Run
from tests.jobs.asking import create

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-r /etc/passwd", "Other files are not read."),
        ("--requirement=/etc/passwd", "Other files are not read."),
        ("-c x.txt", "Other files are not read."),
        ("-e .", "Paths and addresses"),
        ("--index-url http://127.0.0.1:9/", "ATOM_RUNTIME_PIP_OPTIONS"),
        ("-i https://x", "ATOM_RUNTIME_PIP_OPTIONS"),
        ("--extra-index https://x", "ATOM_RUNTIME_PIP_OPTIONS"),
        ("--find-links /tmp", "ATOM_RUNTIME_PIP_OPTIONS"),
        ("--trusted-host x", "ATOM_RUNTIME_PIP_OPTIONS"),
        ("--pre -r /etc/passwd", "not taken"),
        ("../../etc/passwd", "Paths and addresses"),
        ("https://example.org/x.whl", "Paths and addresses"),
        ("six @ file:///etc/passwd", "Only https://"),
        ("six @ git+ssh://git@example.org/x", "Only https://"),
        ("six @ https://example.org/${PIP_INDEX_URL}", "Variables"),
        ("not a requirement !!", "This is no requirement."),
        ("six; os_name == 'a -r /etc/passwd b'", "This is no requirement."),
        ("six==1 --hash=sha256:00", "This is no hash."),
        ("six; " + "(" * 1500, "This is no requirement."),
    ],
)
def test_a_line_that_is_no_requirement_is_refused_when_the_run_is_asked_for(
    api: APIClient, line: str, said: str
) -> None:
    answer = create(api, command=["true"], requirements=f"# ours\nnumpy\n{line}\n")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_run")
    (told,) = answer.json()["errors"]["requirements"]
    assert told.startswith(f"Line 3, '{line[:100]}")
    assert said in told
    assert not Run.objects.exists()


def test_requirements_that_pip_takes_are_taken(api: APIClient) -> None:
    lines = [
        "--only-binary :all: --pre",
        "--no-binary=six,numpy",
        f"six==1.17.0 \\\n  --hash=sha256:{'a' * 64} \\\n  --hash=sha256:{'b' * 64}",
        "Torch [cpu] >= 2, < 3 ; python_version > '3'  # ours",
        "x @ git+https://example.org/x.git@main#subdirectory=y",
        "y @ https://example.org/y-1-py3-none-any.whl",
    ]
    body = {"command": ["true"], "requirements": "\n".join(lines)}
    assert api.post("/api/v1/projects/vision/runs/preview/", body).json()["errors"] == {}
