"""A run that has everything, and links to it."""

from __future__ import annotations

from typing import Any

from django.db.models.functions import Now
from django.test import Client
from rest_framework.test import APIClient

from atom.accounts.models import Project, User
from atom.jobs import states
from atom.jobs.logs.actions import logs
from atom.jobs.metrics.actions import metrics
from atom.jobs.models import Artifact, CodeSnapshot, Run, RunInput
from tests.factories.accounts import make_member
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run
from tests.jobs.logs.test_logs import body as log_body

AT = "/api/v1/shared-run/"
PLACES = (AT, f"{AT}metrics/", f"{AT}metrics/series/?key=loss", f"{AT}log/")
COMMIT = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def as_(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def shares_of(run: Run, share_id: str = "") -> str:
    return f"/api/v1/runs/{run.pk}/shares/" + (f"{share_id}/" if share_id else "")


def share(run: Run, maker: User, **body: Any) -> dict[str, Any]:
    answer = as_(maker).post(shares_of(run), body, format="json")
    assert answer.status_code == 201, answer.json()
    return dict(answer.json())


def look(token: str, path: str = AT, client: Any = None, **more: Any) -> Any:
    return (client or Client()).get(path, headers={"Atom-Share": token}, **more)


def make_maker(project: Project) -> User:
    """Return a member who may share runs, with a full name and an address."""
    user = make_member(project, "researcher", "ada-of-vision")
    user.full_name, user.email = "Ada L", "ada@secret.example"
    user.save()
    return user


def make_rich_run(project: Project, maker: User) -> Run:
    """Return a run with everything; what nobody outside may see has the word zirconium in it."""
    word = "zirconium"
    code = CodeSnapshot.objects.create(
        project=project, digest="b" * 64, size_bytes=1, key=f"{word}/key", ready=True,
        git={"commit": COMMIT, "remote": f"git@{word}:x", "branch": word, "message": word},
    )  # fmt: skip
    made = make_run(
        project, maker, name="the run", command=[word], env={word: word}, secrets=[word.upper()],
        parameters={"lr": 0.1}, logged_parameters={"seed": 7}, labels={word: word}, tags=[word],
        notes="Look at\nthe loss.", code=code, progress_text=word, started_at=Now(),
        running_since=Now(),
    )  # fmt: skip
    attempt = make_attempt(made, states.RUNNING, evidence={"tail": word})
    dataset = make_dataset(project, "digits")
    version = make_version(dataset, {f"{word}.png": "7"})
    RunInput.objects.create(
        run=made, alias=word, version=version, selector={"where": word}, view=word
    )
    Artifact.objects.create(
        run=made, attempt=attempt, path=word, size_bytes=1, kind="output", key=word
    )
    points = [("loss", 1, 5, 0.5), ("loss", 2, 6, 0.25), (f"system/{word}", 1, 5, 9.0)]
    metrics.ingest(attempt, 0, points)
    logs.append(attempt, 0, log_body(b"epoch 1\n", b"epoch 2\n"))
    made.refresh_from_db()
    return made
