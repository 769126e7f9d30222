"""Mail that accounts send."""

from __future__ import annotations

import smtplib

import structlog
from django.conf import settings
from django.core.mail import send_mail

log = structlog.get_logger(__name__)

# Subject and text by language; the reader has no page of ours open yet.
_INVITATION = {
    "en": (
        "You are invited to {place} on Atom",
        "{inviter} invites you to {place} as {role}.\n\nOpen this link to accept:\n{link}\n\n"
        "It works once, until {until} (UTC). If you expected nothing of this kind, ignore it.\n",
    ),
    "zh": (
        "邀请您加入 Atom 上的 {place}",
        "{inviter} 邀请您以 {role} 身份加入 {place}。\n\n打开此链接接受邀请：\n{link}\n\n"
        "链接只能使用一次，有效期至 {until}（UTC）。如果您没有预料到此邮件，请忽略。\n",
    ),
}
_RESET = {
    "en": (
        "Set a new password for Atom",
        "Somebody asked to set a new password for {username}.\n\n"
        "Open this link to do so:\n{link}\n\n"
        "It works once, for a day. If it was not you, ignore it: nothing has changed.\n",
    ),
    "zh": (
        "设置 Atom 的新密码",
        "有人请求为 {username} 设置新密码。\n\n打开此链接进行设置：\n{link}\n\n"
        "链接只能使用一次，一天内有效。如果不是您本人操作，请忽略：一切都没有改变。\n",
    ),
}


def mail_invitation(address: str, language: str, **said: str) -> bool:
    """Send the link of an invitation; return whether the mail server took it."""
    return _send(address, _INVITATION.get(language, _INVITATION["en"]), said)


def mail_reset_link(address: str, language: str, **said: str) -> bool:
    """Send a link to set a new password; return whether the mail server took it."""
    return _send(address, _RESET.get(language, _RESET["en"]), said)


def _send(address: str, words: tuple[str, str], said: dict[str, str]) -> bool:
    subject, text = (part.format(**said) for part in words)
    try:
        # A subject is one line: names of places may hold none of its ends, by their fields.
        send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [address])
    except (smtplib.SMTPException, OSError) as error:
        log.warning("mail_not_sent", error=type(error).__name__)
        return False
    return True
