"""Shapes of invitations."""

from __future__ import annotations

import re
from typing import Any

from django.contrib.auth.validators import UnicodeUsernameValidator
from rest_framework import serializers

from atom.accounts.engines.user_names import is_of_program
from atom.accounts.models import ROLES, Invitation
from atom.core.names import NameField, TextField

MAIL_STATES = ("sent", "failed", "off", "none")
# A longer link would outlive its purpose and stay a risk.
MAX_DAYS = 30
# The longest that is hashed.
MAX_PASSWORD = 1000


def require_username(value: str) -> None:
    """Raise ValidationError for characters that a user name must not have."""
    if not re.match(UnicodeUsernameValidator.regex, value):
        said = "Use letters, digits and @ . + - _ only: a user name has no spaces or other signs."
        raise serializers.ValidationError(said, code="username_characters")


def refuse_programs_name(value: str) -> None:
    """Raise ValidationError for a name that others would take for a service account."""
    if is_of_program(value):
        said = (
            "Names like this are of service accounts. Leave the part from @ on out,"
            " or use a whole e-mail address."
        )
        raise serializers.ValidationError(said, code="programs_name")


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """A pending invitation, without its link."""

    invited_by = serializers.CharField(
        source="invited_by.username", allow_null=True, default=None, read_only=True
    )

    class Meta:
        model = Invitation
        fields = ("id", "email", "role", "invited_by", "expires_at", "mailed_at", "created_at")


class NewInvitationSerializer(serializers.Serializer[Any]):
    """Whom to invite as what; without an address it is a link to hand over."""

    email = serializers.EmailField(max_length=254, required=False, allow_blank=True, default="")
    role = serializers.ChoiceField(choices=ROLES)
    days = serializers.IntegerField(min_value=1, max_value=MAX_DAYS, default=7)


class RenewalSerializer(serializers.Serializer[Any]):
    """For how long the new link works."""

    days = serializers.IntegerField(min_value=1, max_value=MAX_DAYS, default=7)


class MadeInvitationSerializer(InvitationSerializer):
    """An invitation as it is answered once, with its link and what became of the mail."""

    link = serializers.CharField(read_only=True)
    mail = serializers.ChoiceField(choices=MAIL_STATES, read_only=True)

    class Meta(InvitationSerializer.Meta):
        fields = (*InvitationSerializer.Meta.fields, "link", "mail")  # type: ignore[assignment]  # more


class LinkSerializer(serializers.Serializer[Any]):
    """The token of a link, after `/invite/` or `/reset/`."""

    token = TextField(max_length=400)


class OpenInvitationSerializer(serializers.Serializer[Any]):
    """An invitation as the holder of its link sees it."""

    place = serializers.CharField()
    kind = serializers.ChoiceField(choices=("project", "unit"))
    role = serializers.ChoiceField(choices=ROLES)
    invited_by = serializers.CharField()
    email = serializers.CharField()
    expires_at = serializers.DateTimeField()


class NewPersonSerializer(LinkSerializer):
    """The account that a link is accepted with."""

    username = NameField(max_length=150, validators=[require_username, refuse_programs_name])
    full_name = NameField(max_length=200, required=False, allow_blank=True, default="")
    email = serializers.EmailField(max_length=254, required=False, allow_blank=True, default="")
    password = TextField(max_length=MAX_PASSWORD, trim_whitespace=False, write_only=True)


class AcceptedSerializer(serializers.Serializer[Any]):
    """Where the role is now; the project to open, if it is one."""

    place = serializers.CharField()
    project = serializers.CharField(allow_null=True)
    unit = serializers.UUIDField(allow_null=True)
