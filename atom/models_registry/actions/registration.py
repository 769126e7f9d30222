"""Making model versions from what runs left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from rest_framework.exceptions import ErrorDetail

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import live, outbox
from atom.core.bodies import MAX_DEPTH, is_deeper_than
from atom.core.foreign_json import read_json
from atom.core.storage import objects
from atom.jobs import states as job_states
from atom.jobs.models import Artifact, Run
from atom.models_registry.engines.digests import (
    FileDigest,
    digests_of_set,
    digests_of_stream,
)
from atom.models_registry.engines.evaluations import finite_metrics
from atom.models_registry.errors import (
    ArtifactDamaged,
    ArtifactNotFound,
    ArtifactNotReady,
    ModelNameTaken,
    RunNotOver,
)
from atom.models_registry.models import Model, ModelFile, ModelVersion
from atom_sdk.runner.evidence import storable
from atom_sdk.sentences import Sentence

DESCRIPTION_FILE = "atom.json"
_MAX_DESCRIPTION_BYTES = 1 << 20


@dataclass(frozen=True)
class Described:
    """A model as its run described it in `atom.json`."""

    framework: str
    metrics: dict[str, float]
    signature: dict[str, Any]


@dataclass(frozen=True)
class Registration:
    """Everything of a version but its number and its files.

    The same files of the same run are one version. With `again_since` they are another one, unless
    `user` has registered them since then.
    """

    run: Run
    path: str
    user: User | None
    description: str = ""
    again_since: datetime | None = None

    def find_version(self, model: Model) -> ModelVersion | None:
        """Return the version that stands for this registration, the newest one."""
        same = model.versions.filter(run=self.run, artifact_path=self.path)
        if self.again_since is not None:
            same = same.filter(created_at__gte=self.again_since, created_by=self.user)
        return same.order_by("-number").first()


def create_model(project: Project, user: User | None, name: str, description: str = "") -> Model:
    """Make a model without versions. Raises ModelNameTaken."""
    try:
        with transaction.atomic():
            model = Model.objects.create(
                project=project, name=name, description=description, created_by=user
            )
            audit.record(user, "model.created", model, project, name=name)
    except IntegrityError as exc:
        raise ModelNameTaken(
            errors={"name": [ErrorDetail("This name is taken.", code="unique")]}
        ) from exc
    return model


def get_or_create_model(project: Project, user: User | None, name: str) -> Model:
    """Return the model of this name, made if it is missing."""
    found = Model.objects.filter(project=project, name=name).first()
    if found is not None:
        return found
    try:
        return create_model(project, user, name)
    except ModelNameTaken:
        return Model.objects.get(project=project, name=name)


def register(
    model: Model, run: Run, artifact_path: str, user: User | None, description: str = ""
) -> ModelVersion:
    """Make the next version from the run's stored files at or below `artifact_path`.

    Every byte is read and compared with its digests first. Registering the same again returns
    the version that there is.
    Raises RunNotOver, ArtifactNotFound, ArtifactNotReady, ArtifactDamaged.
    """
    new = Registration(run, artifact_path.strip("/"), user, description)
    existing = new.find_version(model)
    if existing is not None:
        return existing
    return insert_version(model, new, verified_files(new))[0]


def verified_files(new: Registration) -> dict[str, Artifact]:
    """Return the files of a version by their paths in it, after every byte was compared.

    Raises RunNotOver, ArtifactNotFound, ArtifactNotReady, ArtifactDamaged.
    """
    # A tracked run may go on: its stored files never change, and a replacement is another file.
    if new.run.origin == job_states.EXECUTED and new.run.state not in job_states.TERMINAL:
        raise RunNotOver
    files = artifacts_at(new.run, new.path)
    for artifact in files.values():
        _check_bytes(artifact)
    return files


def artifacts_at(run: Run, path: str) -> dict[str, Artifact]:
    """Return `{path within the model: artifact}` of the newest attempt that left any.

    Raises ArtifactNotFound, ArtifactNotReady.
    """
    rows = run.artifacts.filter(path__startswith=path).select_related("attempt")
    newest_last = list(rows.order_by("attempt__number", "created_at", "id"))
    below = [a for a in newest_last if a.path == path or a.path.startswith(f"{path}/") or not path]
    if not below:
        raise ArtifactNotFound(
            errors={
                "artifact_path": [
                    Sentence(
                        "models.output_missing", "The run left nothing at {path}.", path=repr(path)
                    )
                ]
            }
        )
    last_attempt = below[-1].attempt_id
    latest = {a.path: a for a in below if a.attempt_id == last_attempt}
    waiting = [a.path for a in latest.values() if a.state != job_states.PERSISTED]
    if waiting:
        raise ArtifactNotReady(
            Sentence(
                "models.file_not_stored",
                "Not stored yet: {files}.",
                files=", ".join(sorted(waiting)[:5]),
            )
        )
    return {_within(artifact.path, path): artifact for artifact in latest.values()}


def _within(path: str, base: str) -> str:
    return path.rsplit("/", 1)[-1] if path == base else path.removeprefix(f"{base}/")


def _check_bytes(artifact: Artifact) -> None:
    found = digests_of_stream(objects().views(artifact.key))
    if (found.sha256, found.blake3) != (artifact.sha256, artifact.digest):
        raise ArtifactDamaged(
            Sentence(
                "models.digest_differs",
                "{path} does not have the digest that was recorded.",
                path=artifact.path,
            )
        )


def _described(files: dict[str, Artifact]) -> Described:
    artifact = files.get(DESCRIPTION_FILE)
    loaded: Any = {}
    if artifact is not None and artifact.size_bytes <= _MAX_DESCRIPTION_BYTES:
        try:
            loaded = read_json(objects().get(artifact.key))
        except ValueError:
            # A user's own file of this name is no reason to refuse the model.
            loaded = {}
    is_ours = isinstance(loaded, dict) and not is_deeper_than(loaded, MAX_DEPTH)
    found = storable(loaded) if is_ours else {}
    signature = found.get("signature")
    return Described(
        framework=str(found.get("framework") or "")[:60],
        metrics=finite_metrics(found.get("metrics")),
        signature=signature if isinstance(signature, dict) else {},
    )


@transaction.atomic
def insert_version(
    model: Model, new: Registration, files: dict[str, Artifact]
) -> tuple[ModelVersion, bool]:
    """Make the version, unless there is one of this registration; return whether it is new."""
    described = _described(files)
    # Lock first: two registrations must not take one number.
    model = Model.objects.select_for_update(of=("self",)).select_related("project").get(pk=model.pk)
    existing = new.find_version(model)
    if existing is not None:
        return existing, False
    digests = digests_of_set([FileDigest(p, a.sha256, a.digest) for p, a in files.items()])
    last = model.versions.aggregate(last=Max("number"))["last"] or 0
    version = ModelVersion.objects.create(
        model=model,
        number=max(last, model.numbers_used) + 1,
        run=new.run,
        artifact_path=new.path,
        size_bytes=sum(artifact.size_bytes for artifact in files.values()),
        sha256=digests.sha256,
        digest=digests.blake3,
        framework=described.framework,
        metrics=described.metrics,
        signature=described.signature,
        description=new.description,
        created_by=new.user,
    )
    ModelFile.objects.bulk_create(
        ModelFile(version=version, artifact=artifact, path=p) for p, artifact in files.items()
    )
    model.save(update_fields=["updated_at"])
    named = {"model": model.name, "number": version.number}
    audit.record(new.user, "model.registered", version, model.project, **named)
    live.publish(f"project.{model.project_id}", {"type": "model", "id": str(model.pk)})
    outbox.emit(
        model.project_id,
        "model_version.registered",
        model=model.name,
        number=version.number,
        run=str(new.run.pk),
    )
    return version, True
