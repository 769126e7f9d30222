"""Record address and time of each session's use, and limit the rate of requests."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse

from atom.accounts.authentication import PREFIX, bearer_of, carried_token
from atom.accounts.models import Session, User
from atom.accounts.sessions import SessionStore
from atom.core.errors import Throttled
from atom.core.problems import problem_response
from atom.core.rate_limits import Limit, Standing, network_of, take
from atom_sdk.sentences import Sentence

_AGENT_CHARACTERS = 400
_LIMITED = ("/api/v1/", "/api/mlflow/")
# Runners send heartbeats, log lines and metrics at the pace of their jobs, hundreds of them from
# one address, each with the token of one attempt; to refuse them would stop or blind the runs.
# Outside of `_LIMITED` nothing is counted: probes decide whether this process lives; static files,
# the portal and media do not come here.
# `/state/` reports faults, so it must not look up the caller in a database that may be away.
_UNLIMITED = ("/api/v1/runner/", "/api/v1/state/")
_MLFLOW = "/api/mlflow/"


class NoteSession:
    """After each request: the session's browser, address and time, once a minute."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, then note."""
        response = self._get_response(request)
        session = getattr(request, "session", None)
        if isinstance(session, SessionStore) and session.is_to_be_noted:
            agent = request.headers.get("User-Agent", "")[:_AGENT_CHARACTERS]
            Session.objects.filter(session_key=session.session_key).update(
                last_seen_at=Now(),
                user_agent=agent.replace("\0", ""),
                ip_address=request.META.get("REMOTE_ADDR") or None,
            )
        return response


class LimitRequests:
    """Refuses a caller above the rate limit, and sends the others their remaining requests."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 429 to a caller without remaining requests."""
        if not _is_limited(request):
            return self._get_response(request)
        standing = take(_limit_of(request))
        if standing is None:
            return self._get_response(request)
        if standing.is_allowed:
            response = self._get_response(request)
        else:
            response = problem_response(_refusal(standing), request)
        for name, value in standing.as_headers().items():
            # The narrower limit of signing in has set the headers already.
            response.headers.setdefault(name, value)
        return response


def _is_limited(request: HttpRequest) -> bool:
    """Whether a request counts; the command of a run is exempt, as its runner is."""
    if request.path.startswith(_MLFLOW):
        text = bearer_of(request)
        return text is None or text.startswith(f"{PREFIX}_")
    return request.path.startswith(_LIMITED) and not request.path.startswith(_UNLIMITED)


def _limit_of(request: HttpRequest) -> Limit:
    """Return who pays: the token, so that a runaway program stops only itself; else the person.

    A request with a wrong token counts as anonymous, as one without a token does.
    """
    if bearer_of(request) is not None:
        token = carried_token(request)
        if token is not None:
            return Limit("token", str(token.pk), settings.ATOM_RATE_SIGNED_IN)
    elif isinstance(request.user, User):
        return Limit("user", str(request.user.pk), settings.ATOM_RATE_SIGNED_IN)
    address = request.META.get("REMOTE_ADDR", "")
    return Limit("address", network_of(address), settings.ATOM_RATE_ANONYMOUS)


def _refusal(standing: Standing) -> Throttled:
    wait_s = standing.wait_s
    return Throttled(
        Sentence(
            "accounts.too_many_requests_at_once",
            "More than {limit} requests came at once.",
            limit=standing.limit,
        ),
        headers={"Retry-After": str(wait_s)},
        retry_after_s=wait_s,
    )
