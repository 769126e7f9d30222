"""A second factor: set up, asked for, turned off by its owner, or reset by an administrator."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import segno
import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.http import HttpRequest
from rest_framework.exceptions import ErrorDetail

from atom.accounts import audit
from atom.accounts.actions.sessions import end_sessions
from atom.accounts.actions.signing_in import check_password, counted_attempt, limit_of_address
from atom.accounts.engines import one_time_codes as codes
from atom.accounts.errors import (
    BadCredentials,
    SecondFactorKept,
    SecondFactorOff,
    SignInAgain,
)
from atom.accounts.events import notify_owner
from atom.accounts.models import RecoveryCode, SecondFactor, Session, User
from atom.accounts.permissions import PROOF, demands_second_factor
from atom.core import clock
from atom.core.crypto import decrypt, encrypt, hash_token
from atom.core.errors import Invalid
from atom.core.rate_limits import Limit

log = structlog.get_logger(__name__)

_ISSUER = "Atom"
_RECENT = timedelta(minutes=10)
_CHANGED = "account.second_factor_changed"


@dataclass(frozen=True)
class Offer:
    """A new secret for an authenticator app: as text, as an address and as a picture."""

    secret: str
    uri: str
    picture: str


@dataclass(frozen=True)
class Proof:
    """The proof of a signed-in person for a sensitive change: the password, or a code."""

    password: str = ""
    code: str = ""


def has_second_factor(user: User) -> bool:
    """Return whether codes are asked of this person."""
    return SecondFactor.objects.filter(user=user, confirmed_at__isnull=False).exists()


def begin(request: HttpRequest, user: User, proof: Proof) -> Offer:
    """Offer a new secret; what is in force stays until a code confirms the new one."""
    check_proof(request, user, proof)
    secret = codes.new_secret()
    SecondFactor.objects.update_or_create(
        user=user, defaults={"encrypted_pending": encrypt(secret)}
    )
    uri = codes.provisioning_uri(secret, user.username, _ISSUER)
    # The picture has its own white ground and border, since scanners fail on dark pages.
    picture = segno.make_qr(uri, error="m").svg_data_uri(scale=4, border=4, light="#fff")
    return Offer(secret, uri, picture)


def confirm(request: HttpRequest, user: User, code: str) -> list[str]:
    """Put the secret in force that was offered last; returns recovery codes, shown this once.

    All other sessions end: they were begun without it. Raises SecondFactorOff and Invalid.
    """
    with transaction.atomic():
        found = SecondFactor.objects.select_for_update().filter(user=user).first()
        if found is None or not found.encrypted_pending:
            raise SecondFactorOff
        now = clock.now()
        step = codes.matching_step(
            decrypt(found.encrypted_pending), codes.plain(code), now.timestamp()
        )
        if step is None:
            raise wrong_code()
        found.encrypted_secret, found.encrypted_pending = found.encrypted_pending, ""
        found.confirmed_at, found.last_step = now, step
        found.save()
        made = _renew(user)
        audit.record(user, "user.second_factor_enabled", user, name=user.username)
        notify_owner(user, _CHANGED, change="enabled")
        end_sessions(user, user, except_key=request.session.session_key)
    request.session[PROOF] = "code"
    # A new key: a thief who read the old one loses the session.
    request.session.cycle_key()
    return made


def renew_recovery_codes(request: HttpRequest, user: User, proof: Proof) -> list[str]:
    """Make new recovery codes in place of the old ones; returns them, shown this once."""
    if not has_second_factor(user):
        raise SecondFactorOff
    check_proof(request, user, proof)
    with transaction.atomic():
        made = _renew(user)
        audit.record(user, "user.recovery_codes_renewed", user, name=user.username)
        notify_owner(user, _CHANGED, change="codes_renewed")
    return made


def turn_off(request: HttpRequest, user: User, proof: Proof) -> None:
    """Ask for no codes any more. Raises SecondFactorKept where one is demanded."""
    if not has_second_factor(user):
        raise SecondFactorOff
    if demands_second_factor(user):
        raise SecondFactorKept
    check_proof(request, user, proof)
    with transaction.atomic():
        _forget(user)
        audit.record(user, "user.second_factor_disabled", user, name=user.username)
        notify_owner(user, _CHANGED, change="disabled")


@transaction.atomic
def reset_second_factor(user: User, actor: User | None) -> bool:
    """Forget somebody's second factor, and end their sessions; False if there was none.

    The next sign-in needs the password only, or sets up a new one where one is demanded.
    """
    if not _forget(user):
        return False
    audit.record(actor, "user.second_factor_removed", user, name=user.username)
    notify_owner(user, _CHANGED, change="removed")
    end_sessions(user, actor or user)
    return True


def check_proof(request: HttpRequest, user: User, proof: Proof) -> None:
    """Raise Invalid unless the person behind a session is who signed in."""
    if proof.code:
        check_code(request, user, proof.code)
    elif not user.has_usable_password():
        _check_recent(request, user)
    elif not proof.password:
        raise Invalid(errors={"password": [ErrorDetail("This is required.", code="required")]})
    else:
        try:
            check_password(request, user.username, proof.password)
        except BadCredentials:
            said = ErrorDetail("This is not your password.", code="wrong_password")
            raise Invalid(errors={"password": [said]}) from None


def check_code(request: HttpRequest, user: User, code: str) -> None:
    """Use a code up. Raises Invalid for a wrong one, and TooManyAttempts."""
    # By person too: knowing the password must not allow guesses from many addresses.
    mine = Limit("second-factor", str(user.pk), settings.ATOM_RATE_SECOND_FACTOR)
    with counted_attempt(mine, limit_of_address(request)):
        if not _use(user, codes.plain(code)):
            log.warning("second_factor_wrong", user_id=str(user.pk))
            raise wrong_code()


def wrong_code() -> Invalid:
    """Return the error for a code that is wrong or was used; it does not say which."""
    said = ErrorDetail("The code is wrong, or was used already.", code="wrong_code")
    return Invalid(errors={"code": [said]})


def _use(user: User, code: str) -> bool:
    if codes.is_of_authenticator(code):
        return _use_of_authenticator(user, code)
    unused = RecoveryCode.objects.filter(user=user, code_hash=hash_token(code), used_at=None)
    with transaction.atomic():
        # One statement, so that two requests at once cannot use the same code.
        if not unused.update(used_at=Now(), updated_at=Now()):
            return False
        audit.record(user, "user.recovery_code_used", user, name=user.username)
        notify_owner(user, _CHANGED, change="code_used")
    return True


def _use_of_authenticator(user: User, code: str) -> bool:
    found = SecondFactor.objects.filter(user=user, confirmed_at__isnull=False).first()
    if found is None:
        return False
    step = codes.matching_step(decrypt(found.encrypted_secret), code, clock.now().timestamp())
    if step is None:
        return False
    later = SecondFactor.objects.filter(pk=found.pk, last_step__lt=step)
    return bool(later.update(last_step=step, updated_at=Now()))


def _check_recent(request: HttpRequest, user: User) -> None:
    since = clock.now() - _RECENT
    key = request.session.session_key or ""
    if not Session.objects.filter(session_key=key, user=user, created_at__gt=since).exists():
        raise SignInAgain


def _renew(user: User) -> list[str]:
    made = codes.new_recovery_codes()
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(user=user, code_hash=hash_token(codes.plain(code))) for code in made
    )
    return made


def _forget(user: User) -> bool:
    RecoveryCode.objects.filter(user=user).delete()
    deleted, _ = SecondFactor.objects.filter(user=user).delete()
    return bool(deleted)
