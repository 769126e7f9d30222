"""The token by which a run pushes datasets: only for those that may write.

A workflow declares that it writes; for a command, the person who starts the run requests it. The
token belongs to that person, for the run's project alone, and it ends with the attempt. With it a
run reads the project and adds versions to its datasets. It starts no runs, merges and labels
nothing, and makes no keys. It deletes only an empty dataset that its person made. A run without the
token can read only its inputs.

Every version that is made with it names the run, its code and its environment in its provenance
(`made_by`). The server writes that, not the code that runs.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from atom.accounts.actions import create_token, revoke_token
from atom.accounts.models import ApiToken
from atom.core import clock
from atom.jobs.models import Attempt

SCOPES = ["push"]
# An attempt revokes its token when it ends; this limit is for ends that were never recorded.
_LONGEST = timedelta(days=7)


def grant(attempt: Attempt, api_url: str) -> dict[str, str]:
    """Return the variables by which the SDK reaches the project; {} for a run that only reads."""
    run = attempt.run
    if run.created_by is None or not run.writes_datasets:
        return {}
    life = _LONGEST if run.timeout_s is None else timedelta(seconds=run.timeout_s) * 2
    expires_at = clock.now() + life
    new = create_token(run.created_by, _name(attempt), SCOPES, run.project, expires_at)
    # Before anybody has the secret.
    new.token.made_by = json.dumps(made_by(attempt))
    new.token.save(update_fields=["made_by", "updated_at"])
    return {"ATOM_URL": api_url, "ATOM_TOKEN": new.secret, "ATOM_PROJECT": run.project.slug}


def made_by(attempt: Attempt) -> dict[str, Any]:
    """Return the facts about the attempt that its versions record; the digests are in hex."""
    run = attempt.run
    said: dict[str, Any] = {"run": str(run.pk), "number": run.number, "attempt": attempt.number}
    if run.code is not None:
        git = run.code.git or {}
        of_git = {name: git[name] for name in ("commit", "dirty") if name in git}
        said["code"] = {"digest": run.code.digest, **of_git}
    if run.workflow is not None:
        version = run.workflow_version or run.workflow.version
        said["workflow"] = {"name": run.workflow.slug, "version": version}
    if run.runtime is not None:
        said["environment"] = {"digest": run.runtime.digest, "python": run.runtime.python}
    return said


def withdraw(attempt: Attempt) -> None:
    """Revoke the attempt's tokens; safe to repeat."""
    # By its name, which the attempt's id is part of: whoever started the run may be gone since.
    mine = ApiToken.objects.filter(project=attempt.run.project, revoked_at=None)
    for token in mine.filter(name=_name(attempt)).select_related("user"):
        revoke_token(token, token.user)


def _name(attempt: Attempt) -> str:
    return f"run {attempt.run.number}, attempt {attempt.pk}"
