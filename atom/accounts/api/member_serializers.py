"""Shapes of members and their roles."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.accounts.models import ROLES, RoleBinding, User
from atom.accounts.reads import highest
from atom.core.names import NameField


class UnitShortSerializer(serializers.Serializer[Any]):
    """A unit beside a thing that belongs to it."""

    id = serializers.UUIDField()
    name = serializers.CharField()


class RoleSourceSerializer(serializers.Serializer[Any]):
    """A role, and the unit above that gives it; null: it was given here."""

    role = serializers.ChoiceField(choices=ROLES)
    through = UnitShortSerializer(allow_null=True)


class MemberSerializer(serializers.Serializer[Any]):
    """A person with a role: the one that counts, the one that was given here, and all sources."""

    id = serializers.UUIDField()
    username = serializers.CharField()
    full_name = serializers.CharField()
    email = serializers.CharField()
    is_active = serializers.BooleanField()
    role = serializers.ChoiceField(choices=ROLES)
    direct_role = serializers.ChoiceField(choices=ROLES, allow_null=True)
    sources = RoleSourceSerializer(many=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Tell apart what was given here from what comes from above."""
        place = self.context["place"]
        reaching: list[RoleBinding] = instance.reaching
        own = [one.role for one in reaching if place.pk in (one.project_id, one.unit_id)]
        return {
            "id": str(instance.pk),
            "username": instance.username,
            "full_name": instance.full_name,
            "email": instance.email,
            "is_active": instance.is_active,
            "role": highest(one.role for one in reaching),
            "direct_role": own[0] if own else None,
            "sources": [_source(one, place) for one in reaching],
        }


def _source(binding: RoleBinding, place: Any) -> dict[str, Any]:
    unit = binding.unit if binding.unit_id != place.pk else None
    through = {"id": str(unit.pk), "name": unit.name} if unit else None
    return {"role": binding.role, "through": through}


class NewMemberSerializer(serializers.Serializer[Any]):
    """An existing person, by name, and the role that they get."""

    username = NameField(max_length=150)
    role = serializers.ChoiceField(choices=ROLES)


class NewRoleSerializer(serializers.Serializer[Any]):
    """The role that a member gets."""

    role = serializers.ChoiceField(choices=ROLES)


class CandidateSerializer(serializers.ModelSerializer[User]):
    """Somebody who could be added."""

    class Meta:
        model = User
        fields = ("id", "username", "full_name")
