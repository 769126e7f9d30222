"""Code from git: a person requests a commit, and a worker fetches it as a snapshot."""

from __future__ import annotations

import hashlib
import os
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from blake3 import blake3
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock, storage
from atom.core.background import enqueue
from atom.core.errors import Invalid
from atom.core.leases import kept
from atom.core.states import check_transition
from atom.jobs.code.actions import code
from atom.jobs.code.engines.git_addresses import BadAddressError, parse_address
from atom.jobs.code.errors import ERRORS, CodeFetchActive, GitAddressInvalid, GitSecretMissing
from atom.jobs.code.pipelines.git_fetch import GitFetchError, GitRequest, fetch
from atom.jobs.errors import SecretsMissing
from atom.jobs.models import CodeFetch, CodeSnapshot, GitHost, ProjectSecret
from atom.jobs.models.code import FAILED, FETCH_STATES, FETCHING, READY, WAITING
from atom.jobs.secrets.actions import secrets
from atom.settings.environment import BASE_DIR
from atom_sdk.runner.evidence import storable
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

MAX_OPEN = 20
TIMEOUT_S = 600.0
LEASE = timedelta(seconds=30)
_RENEW_EVERY_S = 10.0
# Time for several attempts of the longest allowed duration.
LONGEST = timedelta(hours=1)


def request_fetch(project: Project, user: User, *, url: str, ref: str, secret: str) -> CodeFetch:
    """Ask for a commit. Raises GitAddressInvalid, Invalid, CodeFetchActive."""
    try:
        address = parse_address(url)
    except BadAddressError as error:
        raise GitAddressInvalid(errors={"url": [str(error)]}) from error
    if secret and not ProjectSecret.objects.filter(project=project, name=secret).exists():
        raise Invalid(
            errors={
                "secret": [
                    Sentence("jobs.secret_unknown", "The project has no secret of this name.")
                ]
            }
        )
    if address.is_ssh and not secret:
        said = Sentence(
            "jobs.ssh_needs_key",
            (
                "A server that is reached by ssh needs a private key: choose the "
                "secret that holds it."
            ),
        )
        raise Invalid(errors={"secret": [said]})
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        is_open = Q(state__in=(WAITING, FETCHING))
        if CodeFetch.objects.filter(is_open, project=project).count() >= MAX_OPEN:
            raise CodeFetchActive
        made = CodeFetch.objects.create(
            project=project, url=address.url, ref=ref, secret=secret, created_by=user
        )
        audit.record(user, "code.fetch_requested", made, project, url=address.url, ref=ref)
        enqueue("atom.jobs.tasks.fetch_code", str(made.pk))
    return made


def resume_fetches() -> None:
    """Send fetches again that no worker handles, because a message or a worker was lost.

    A fetch that has not ended after LONGEST fails, whatever stops it each time.
    """
    lapsed = CodeFetch.objects.filter(state=FETCHING, claimed_until__lt=Now())
    for one in lapsed.filter(created_at__lt=Now() - LONGEST):
        said = "Each try was cut off, for an hour; the worker's log says by what."
        _end(one, FAILED, failure_code="git_timeout", failure_text=said)
    lost = Q(state=FETCHING, claimed_until__lt=Now()) | Q(
        state=WAITING, created_at__lt=clock.now() - LEASE
    )
    for fetch_id in CodeFetch.objects.filter(lost).values_list("pk", flat=True)[:100]:
        enqueue("atom.jobs.tasks.fetch_code", str(fetch_id), expires_s=LEASE.total_seconds())


def run_fetch(fetch_id: UUID) -> None:
    """Fetch the commit, unless that is done or another worker fetches it."""
    free = Q(state=WAITING) | Q(state=FETCHING, claimed_until__lt=Now())
    mine = CodeFetch.objects.filter(free, pk=fetch_id)
    if not mine.update(state=FETCHING, claimed_until=Now() + LEASE):
        return
    found = CodeFetch.objects.select_related("project").get(pk=fetch_id)
    try:
        with kept(lambda: _renew(fetch_id), _RENEW_EVERY_S):
            _fetch(found)
    except GitFetchError as error:
        log.info("code_fetch_failed", fetch_id=str(fetch_id), code=error.code)
        _end(found, FAILED, failure_code=error.code, failure_text=storable(str(error)))


def _renew(fetch_id: UUID) -> None:
    CodeFetch.objects.filter(pk=fetch_id, state=FETCHING).update(claimed_until=Now() + LEASE)


def _fetch(one: CodeFetch) -> None:
    address = parse_address(one.url)
    host = GitHost.objects.filter(project=one.project, name=address.host).first()
    with tempfile.TemporaryDirectory(prefix="atom-code-") as folder:
        archive = Path(folder) / "code.tar.gz"
        request = GitRequest(
            url=address.url,
            ref=one.ref,
            archive=str(archive),
            secret=_secret_of(one),
            host_key=host.key if host else "",
            allowed=settings.ATOM_SOURCE_ALLOW,
        )
        facts = fetch(request, BASE_DIR, dict(os.environ), TIMEOUT_S)
        snapshot = _keep(one, archive, facts)
    if facts["host_key"] and host is None:
        GitHost.objects.get_or_create(
            project=one.project, name=address.host, defaults={"key": facts["host_key"]}
        )
    _end(one, READY, snapshot=snapshot, facts=facts)


def _secret_of(one: CodeFetch) -> str:
    if not one.secret:
        return ""
    found = ProjectSecret.objects.filter(project=one.project, name=one.secret).first()
    if found is None:
        raise GitFetchError(GitSecretMissing.code, f"The secret {one.secret} was removed.")
    try:
        value = secrets.value_of(found)
    except SecretsMissing as error:
        raise GitFetchError(GitSecretMissing.code, str(error)) from error
    ProjectSecret.objects.filter(pk=found.pk).update(last_used_at=clock.now())
    return value


def _keep(one: CodeFetch, archive: Path, facts: dict[str, Any]) -> CodeSnapshot:
    """Store the archive as a snapshot of the project; the same files are the same snapshot."""
    data = archive.read_bytes()
    git = {
        "commit": facts["commit"],
        "branch": one.ref,
        "remote": one.url,
        "message": facts["message"],
        "author": facts["author"],
        "dirty": False,
    }
    snapshot = code.announce(
        one.project,
        digest=blake3(data).hexdigest(),
        size_bytes=len(data),
        files_count=facts["files_count"],
        git=git,
    )
    if not snapshot.ready:
        storage.objects().put(snapshot.key, data)
        code.mark_ready(snapshot, hashlib.sha256(data).hexdigest())
    return snapshot


def _end(one: CodeFetch, state: str, **fields: Any) -> None:
    with transaction.atomic():
        locked = CodeFetch.objects.select_for_update().get(pk=one.pk)
        if locked.state != FETCHING:
            return
        check_transition(FETCH_STATES, locked.state, state)
        locked.state, locked.finished_at, locked.claimed_until = state, clock.now(), None
        for name, value in fields.items():
            setattr(locked, name, value)
        locked.save()


def problem_of(one: CodeFetch) -> dict[str, Any] | None:
    """Return why it failed, as a problem: code, title, detail, what to do."""
    error = ERRORS.get(one.failure_code)
    if error is None:
        return None
    return {
        "code": error.code,
        "title": error.title,
        "detail": one.failure_text,
        "action": error.action,
    }


def forget_host_key(project: Project, user: User, host: str) -> bool:
    """Forget the key that a host had at first; whether there was one."""
    with transaction.atomic():
        found = GitHost.objects.filter(project=project, name=host).first()
        if found is None:
            return False
        audit.record(user, "git_host.removed", found, project, host=host, key=found.key)
        found.delete()
    return True
