"""Passwords: changed by their owner, or set through a link that works once."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import (
    PasswordResetTokenGenerator,
    default_token_generator,
)
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from rest_framework.exceptions import ErrorDetail

from atom.accounts import audit
from atom.accounts.actions.keys import revoke_keys_of
from atom.accounts.actions.sessions import end_sessions
from atom.accounts.actions.signing_in import check_password
from atom.accounts.errors import BadCredentials, MailOff, ResetLinkInvalid
from atom.accounts.events import notify_owner
from atom.accounts.models import User
from atom.accounts.pipelines import mail_reset_link
from atom.accounts.reads import people
from atom.core import clock
from atom.core.background import enqueue
from atom.core.errors import Invalid

_MAIL_STEP_S = 60


class _MailedTokens(PasswordResetTokenGenerator):
    """Tokens of mailed links: using one proves that the person reads the account's mail."""

    key_salt = "atom.accounts.reset.mailed"


_mailed_tokens = _MailedTokens()


def check_new_password(password: str, user: User, field: str) -> None:
    """Raise Invalid, at `field`, for a password that is too weak for this person."""
    try:
        validate_password(password, user)
    except ValidationError as weak:
        said = [
            ErrorDetail(message, code=str(error.code))
            for error in weak.error_list
            for message in error.messages
        ]
        raise Invalid(errors={field: list(said)}) from None


def change_password(request: HttpRequest, user: User, current: str, new: str) -> None:
    """Change one's own password; all other sessions end. Raises Invalid and TooManyAttempts."""
    try:
        check_password(request, user.username, current)
    except BadCredentials:
        said = ErrorDetail("This is not your password.", code="wrong_password")
        raise Invalid(errors={"current_password": [said]}) from None
    with transaction.atomic():
        _set(user, new, "new_password")
        audit.record(user, "user.password_changed", user, name=user.username)
        notify_owner(user, "account.password_changed")
        update_session_auth_hash(request, user)
        # A new key for this one, then an end to all others.
        end_sessions(user, user, except_key=request.session.session_key)


def reset_link(user: User) -> str:
    """Return a link that sets a new password; it ends with the next change of it, or in a day."""
    return _link(user, default_token_generator)


def _link(user: User, tokens: PasswordResetTokenGenerator) -> str:
    token = tokens.make_token(user)
    return f"{settings.ATOM_PUBLIC_URL}/reset/{user.pk.hex}-{token}"


def make_reset_link(user: User, actor: User) -> str:
    """Return a link that an administrator hands over."""
    audit.record(actor, "user.reset_link_created", user, name=user.username)
    return reset_link(user)


def request_reset(email: str) -> None:
    """Mail a link to the account with this address, if there is one. Raises MailOff."""
    if not settings.ATOM_SENDS_MAIL:
        raise MailOff
    found = people().filter(email__iexact=email, is_active=True).first() if email else None
    # Accounts that sign in only through a provider have no password to forget. The cache limits
    # mails to one a minute.
    if (
        found is not None
        and found.has_usable_password()
        and cache.add(f"reset:{found.pk}", 1, _MAIL_STEP_S)
    ):
        enqueue("atom.accounts.tasks.send_reset_link", str(found.pk))


def mail_reset(user_id: UUID) -> bool:
    """Send the link; return whether the mail server took it."""
    user = people().filter(pk=user_id, is_active=True).exclude(email="").first()
    if user is None:
        return False
    said = {"username": user.username, "link": _link(user, _mailed_tokens)}
    return mail_reset_link(user.email, user.language, **said)


@transaction.atomic
def set_password_by_link(link: str, password: str) -> User:
    """Set a new password and end all sessions. Raises ResetLinkInvalid and Invalid.

    A mailed link proves the address. Until then the holder of the account had only claimed it, so
    all keys of the account end too.
    """
    user = find_by_link(link, lock=True)
    if user.email_proven_at is None and _mailed_tokens.check_token(user, _token_of(link)):
        prove_address(user, user)
        revoke_keys_of(user, user)
    _set(user, password, "password")
    end_sessions(user, user)
    audit.record(user, "user.password_changed", user, name=user.username, by="link")
    notify_owner(user, "account.password_changed")
    return user


def find_by_link(link: str, *, lock: bool = False) -> User:
    """Return whose password a link may set. Raises ResetLinkInvalid."""
    pk, _, token = link.partition("-")
    try:
        user_id = UUID(hex=pk)
    except ValueError:
        raise ResetLinkInvalid from None
    found = people().filter(pk=user_id, is_active=True)
    user = (found.select_for_update(of=("self",)) if lock else found).first()
    known = (default_token_generator, _mailed_tokens)
    if user is None or not any(tokens.check_token(user, token) for tokens in known):
        raise ResetLinkInvalid
    return user


def prove_address(user: User, actor: User | None) -> None:
    """Note that the account's address is its holder's."""
    user.email_proven_at = clock.now()
    user.save(update_fields=["email_proven_at"])
    audit.record(actor, "user.address_confirmed", user, name=user.username, email=user.email)


def _token_of(link: str) -> str:
    return link.partition("-")[2]


def _set(user: User, password: str, field: str) -> None:
    check_new_password(password, user, field)
    user.set_password(password)
    user.save(update_fields=["password"])
