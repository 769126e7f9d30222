"""Names, labels and paths that Atom's objects have in a cluster."""

from __future__ import annotations

import re
from typing import Final

from atom.jobs.runtimes.engines.image_paths import ENVIRONMENT, RUNNER

PREFIX: Final = "atom.dev/"
INSTALLATION: Final = f"{PREFIX}installation"
PROJECT: Final = f"{PREFIX}project"
RUN: Final = f"{PREFIX}run"
PLACEMENT: Final = f"{PREFIX}placement"
# The digest of what was asked for, as an annotation: controllers may change the rest.
SPEC_SHA256: Final = f"{PREFIX}spec-sha256"
MANAGED_BY: Final = "app.kubernetes.io/managed-by"
MANAGER: Final = "atom"
# Set by the Job controller on each pod.
JOB_INDEX: Final = "batch.kubernetes.io/job-completion-index"

# Kueue's queue of a Job.
QUEUE: Final = "kueue.x-k8s.io/queue-name"
# Names of gates, with commas between them, that keep a Job from being admitted; and ours.
GATES: Final = "kueue.x-k8s.io/admission-gated-by"
DATA_GATE: Final = f"{PREFIX}warmup"

# The account of a run's pods: it has no rights, only a token that says which pod it is.
ACCOUNT: Final = "atom-run"
# Credentials of registries, in the namespace of a project that has some.
PULL_SECRET: Final = "atom-pull"
# The limits of a project's namespace.
QUOTA: Final = "atom-runs"
MAIN: Final = "main"
RUNNER_LAYER: Final = "runner"

# Scripts of an environment name its path: where it is built is where runs have it.
ENVIRONMENT_DIR: Final = f"/{ENVIRONMENT}"
LAYER_DIR: Final = "/atom/layer"
# The runner in the image of an environment.
IMAGE_RUNNER: Final = f"/{RUNNER}"
WORK_DIR: Final = "/atom/work"
TOKEN_DIR: Final = "/var/run/secrets/atom.dev"
TOKEN_FILE: Final = f"{TOKEN_DIR}/token"

# Where pods find the packs of their inputs that the node has.
VOLUMES_DIR: Final = "/atom/volumes"
VOLUME_DRIVER: Final = "csi.atom.dev"

_MAX_NAMESPACE: Final = 63
_WRONG: Final = re.compile(r"[^a-z0-9-]+")


def namespace_of(base: str, project: str) -> str:
    """Return the namespace of a project's runs: that of the cluster, and the project's slug."""
    slug = _WRONG.sub("-", project.lower()).strip("-")
    return f"{base}-{slug}"[:_MAX_NAMESPACE].rstrip("-")


def volume_of(number: int) -> str:
    """Return the name of the volume of an input, by its place among the aliases."""
    return f"input-{number}"


def volume_dir(name: str) -> str:
    """Return the folder of an input's volume in a pod."""
    return f"{VOLUMES_DIR}/{name}"
