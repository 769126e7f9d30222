"""Mail about notifications: text and HTML, with a way to end them in one click (RFC 8058)."""

from __future__ import annotations

import hashlib
import smtplib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.utils import DNS_NAME

from atom.notifications.engines import wording
from atom.notifications.engines.wording import say

log = structlog.get_logger(__name__)

_SUBJECT_CHARACTERS = 180


@dataclass(frozen=True, slots=True)
class Item:
    """One notification: `key` names it, `link` is an absolute address."""

    key: str
    kind: str
    topic: str
    data: Mapping[str, Any]
    count: int
    project: str
    link: str


@dataclass(frozen=True, slots=True)
class Letter:
    """One mail to one person; `stops` are the tokens that end mails, by topic."""

    address: str
    language: str
    items: Sequence[Item]
    stops: Mapping[str, str] = field(default_factory=dict)

    @property
    def message_id(self) -> str:
        """Return an id that is the same if the same is sent again."""
        digest = hashlib.sha256("\n".join(item.key for item in self.items).encode()).hexdigest()
        return f"<{digest[:32]}@{DNS_NAME}>"


def send(letter: Letter) -> bool:
    """Send it; return whether the mail server took it."""
    message = EmailMultiAlternatives(
        _subject(letter),
        _text(letter),
        settings.DEFAULT_FROM_EMAIL,
        [letter.address],
        headers={"Message-ID": letter.message_id, **_headers(letter)},
    )
    message.attach_alternative(_html(letter), "text/html")
    try:
        message.send()
    except (smtplib.SMTPException, OSError) as error:
        log.warning("mail_not_sent", error=type(error).__name__)
        return False
    return True


def _headers(letter: Letter) -> dict[str, str]:
    """Return what a mail program needs for its own button; only mail about one topic has one."""
    headers = {"Auto-Submitted": "auto-generated"}
    if len(letter.stops) == 1 and {item.topic for item in letter.items} == set(letter.stops):
        (token,) = letter.stops.values()
        at = f"{settings.ATOM_PUBLIC_URL}/api/v1/notifications/unsubscribe/{token}/"
        headers["List-Unsubscribe"] = f"<{at}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers


def _title(letter: Letter, item: Item) -> str:
    return wording.title_of(item.kind, item.data, item.count, letter.language)


def _subject(letter: Letter) -> str:
    if len(letter.items) > 1:
        return say(wording.SUBJECT_OF_MANY, letter.language, count=len(letter.items))
    # One line, by its making.
    return _title(letter, letter.items[0])[:_SUBJECT_CHARACTERS]


def _ends(letter: Letter) -> list[tuple[str, str]]:
    """Return lines with addresses: how to be mailed less."""
    public, language = settings.ATOM_PUBLIC_URL, letter.language
    lines = [(say(wording.SETTINGS, language), f"{public}/settings/notifications")]
    for topic, token in letter.stops.items():
        name = say(wording.TOPIC_NAMES[topic], language)
        lines.append((say(wording.STOP, language, topic=name), f"{public}/unsubscribe/{token}"))
    return lines


def _notes(letter: Letter, item: Item) -> list[str]:
    notes = []
    if item.project:
        notes.append(say(wording.IN_PROJECT, letter.language, project=item.project))
    if item.topic == "security":
        notes.append(say(wording.NOT_YOU, letter.language))
    return notes


def _text(letter: Letter) -> str:
    parts = [
        "\n".join([_title(letter, item), *_notes(letter, item), item.link]) for item in letter.items
    ]
    ends = [f"{said}\n{link}" for said, link in _ends(letter)]
    return "\n\n".join([*parts, "--", *ends]) + "\n"


def _html(letter: Letter) -> str:
    opened = escape(say(wording.OPEN, letter.language))
    blocks = [
        f'<p style="margin:0 0 16px"><strong>{escape(_title(letter, item))}</strong><br>'
        + "".join(f"{escape(note)}<br>" for note in _notes(letter, item))
        + f'<a href="{escape(item.link)}">{opened}</a></p>'
        for item in letter.items
    ]
    ends = "<br>".join(
        f'{escape(said)} <a href="{escape(link)}">{escape(link.split("/unsubscribe/")[0])}</a>'
        for said, link in _ends(letter)
    )
    style = "font-family:sans-serif;font-size:14px;line-height:1.5"
    body = "".join(blocks)
    return (
        f'<!doctype html><html lang="{escape(letter.language)}"><body style="{style}">{body}'
        f'<p style="color:#5c6370;font-size:12px">{ends}</p></body></html>'
    )
