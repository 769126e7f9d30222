"""Errors of signing in, and of changing rights."""

from typing import Literal

from atom.core.errors import (
    AlreadyExists,
    AtomError,
    Conflict,
    NotAuthenticated,
    NotFound,
    PermissionDenied,
    Throttled,
)

SingleSignOnReason = Literal[
    # The browser did not begin this, or too long ago; the provider was refused by its own user.
    "sso_over",
    "sso_denied",
    # The provider is away or not set up as its settings say; what it says of a person is not valid.
    "sso_provider",
    "sso_invalid",
    # No invitation for this person; an account has the address; the account is deactivated.
    "sso_nobody",
    "sso_address",
    "sso_deactivated",
]


class BadCredentials(NotAuthenticated):
    """Wrong name or password; the answer does not say which."""

    code = "bad_credentials"
    title = "The name or the password is wrong."
    action = "Check both and try again."


class TooManyAttempts(Throttled):
    """Too many wrong passwords from one address, or for one name."""

    code = "too_many_attempts"
    title = "Too many failed attempts to sign in."
    action = "Wait as long as the Retry-After header says, then try again."


class SecondFactorRequired(NotAuthenticated):
    """The password is right, and the account has a second factor."""

    code = "second_factor_required"
    title = "A code of the second factor is missing."
    action = "Send the code that the authenticator shows, or a recovery code, within ten minutes."


class SecondFactorMissing(PermissionDenied):
    """The installation demands a second factor of this person, who has none."""

    code = "second_factor_missing"
    title = "This installation asks you for a second factor."
    action = "Set one up in the portal, then try again."


class SecondFactorOff(Conflict):
    """Nothing is set up that could be confirmed, or renewed."""

    code = "second_factor_off"
    title = "No second factor is set up."
    action = "Begin to set one up."


class SecondFactorKept(Conflict):
    """The installation demands one of this person."""

    code = "second_factor_kept"
    title = "This installation demands a second factor of you."
    action = "Set up another authenticator in its place instead of turning it off."


class SignInOver(AtomError):
    """The time between the steps of signing in was too long, or the account has changed."""

    status = 410
    code = "sign_in_over"
    title = "This sign-in is not valid any more."
    action = "Sign in again from the beginning."


class SignInAgain(PermissionDenied):
    """An account without a password must have signed in within the last minutes."""

    code = "sign_in_again"
    title = "This needs a sign-in of the last ten minutes."
    action = "Sign out, sign in again, then repeat it."


class SingleSignOnFailed(Exception):
    """An answer of the provider that signs nobody in; the sign-in page says why."""

    def __init__(self, reason: SingleSignOnReason, detail: str = "") -> None:
        super().__init__(detail or reason)
        self.reason = reason


class BadToken(NotAuthenticated):
    """An unknown bearer token; the answer does not say whether it ever existed."""

    code = "bad_token"
    title = "The API token is wrong, expired or revoked."
    action = "Make a new one in the portal under Access tokens, and send that."


class TooManyGuesses(Throttled):
    """Too many wrong links, or requests for mail, from one address."""

    code = "too_many_guesses"
    title = "Too many attempts from this address."
    action = "Wait five minutes, then try again."


class LastAdministrator(Conflict):
    """The change would leave the project or unit without an administrator."""

    code = "last_administrator"
    title = "This is the last administrator here."
    action = "Make somebody else an administrator first."


class RoleInherited(Conflict):
    """The role comes from a unit above, so it cannot be changed here."""

    code = "role_inherited"
    title = "This role comes from a unit above."
    action = "Change it in the unit that gives it."


class AlreadyMember(AlreadyExists):
    """The person has a role of their own here."""

    code = "already_member"
    title = "This person has a role here already."
    action = "Change the role in the list of members."


class UnitNotEmpty(Conflict):
    """A unit that holds something is not deleted."""

    code = "unit_not_empty"
    title = "The unit is not empty."
    action = "Move its units, projects and service accounts elsewhere first."


class UnitCycle(Conflict):
    """A unit cannot hang below itself."""

    code = "unit_cycle"
    title = "A unit cannot be moved below itself."
    action = "Choose a unit that is not below this one."


class UnitTooDeep(Conflict):
    """The tree has a greatest depth."""

    code = "unit_too_deep"
    title = "The tree of units would be too deep."
    action = "Choose a unit nearer to the organisation."


class InvitationUnknown(NotFound):
    """An unknown link; the answer does not say whether it ever existed."""

    code = "invitation_unknown"
    title = "This invitation link is not valid."
    action = "Check that the whole link was copied, or ask for a new one."


class InvitationOver(AtomError):
    """A link that was one: the three ways in which it ends differ in their words only."""

    status = 410
    code = "invitation_over"
    title = "This invitation cannot be used any more."
    action = "Ask whoever invited you for a new one."


class InvitationExpired(InvitationOver):
    """Its time is over."""

    code = "invitation_expired"
    title = "This invitation has expired."


class InvitationUsed(InvitationOver):
    """Somebody has accepted it."""

    code = "invitation_used"
    title = "This invitation has been used already."
    action = "If it was you, sign in; otherwise ask whoever invited you for a new one."


class InvitationRevoked(InvitationOver):
    """It was taken back, or whoever made it may not invite any more."""

    code = "invitation_revoked"
    title = "This invitation was taken back."


class InvitationNotPending(Conflict):
    """It was accepted or taken back, so it cannot be sent again."""

    code = "invitation_not_pending"
    title = "This invitation is not pending."
    action = "Make a new invitation."


class AccountExists(Conflict):
    """The invited address belongs to an account."""

    code = "account_exists"
    title = "There is an account with this e-mail address already."
    action = "Sign in with it, then open the link again."


class ResetLinkInvalid(AtomError):
    """A link to set a password is wrong, used or expired; the answer does not say which."""

    status = 410
    code = "reset_link_invalid"
    title = "This link to set a password is not valid any more."
    action = "Ask for a new one on the sign-in page, or from an administrator."


class OwnAccount(Conflict):
    """Administrators do not lock themselves out."""

    code = "own_account"
    title = "You cannot deactivate your own account."
    action = "Ask another administrator of the installation."


class MailOff(Conflict):
    """No mail server is configured."""

    code = "mail_off"
    title = "This installation sends no mail."
    action = "Ask an administrator for a link to set a new password."


class AccountInactive(Conflict):
    """A deactivated service account gets no tokens."""

    code = "account_inactive"
    title = "This service account is deactivated."
    action = "Activate it first."
