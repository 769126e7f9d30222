"""ATOM_EMAIL_URL becomes Django's settings of mail."""

from __future__ import annotations

import pytest

from atom.settings.mail import mail_from_url


@pytest.mark.parametrize(
    ("url", "port", "tls", "ssl"),
    [
        ("smtp://me:p%40ss@mail.example.org", 587, True, False),
        ("smtps://me:p%40ss@mail.example.org", 465, False, True),
        ("smtp+plain://me:p%40ss@mail.example.org:2525", 2525, False, False),
    ],
)
def test_an_address_says_how_mail_is_sent(url: str, port: int, tls: bool, ssl: bool) -> None:
    mail = mail_from_url(url)
    assert (mail.host, mail.user, mail.password) == ("mail.example.org", "me", "p@ss")
    assert (mail.port, mail.use_tls, mail.use_ssl) == (port, tls, ssl)


def test_without_an_address_nothing_is_sent() -> None:
    assert (mail_from_url("").host, "dummy" in mail_from_url("").backend) == ("", True)


@pytest.mark.parametrize("url", ["http://mail.example.org", "smtp://", "mail.example.org"])
def test_another_address_is_refused_when_the_process_starts(url: str) -> None:
    with pytest.raises(ValueError, match="ATOM_EMAIL_URL"):
        mail_from_url(url)
