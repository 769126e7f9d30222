"""Shapes of units and of projects in the tree."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from atom.accounts.api.fields import SlugField
from atom.accounts.models import ROLES, Organisation, Project, Unit
from atom.core.names import NameField


class OrganisationSerializer(serializers.ModelSerializer[Organisation]):
    """An organisation."""

    name = NameField(max_length=200)

    class Meta:
        model = Organisation
        fields = ("id", "name")


class UnitSerializer(serializers.ModelSerializer[Unit]):
    """A unit, what hangs on it, and the caller's role."""

    organisation = OrganisationSerializer(read_only=True)
    parent = serializers.UUIDField(  # type: ignore[assignment]  # the name of a column
        source="parent_id", allow_null=True, read_only=True
    )
    depth = serializers.SerializerMethodField()
    role = serializers.SerializerMethodField()
    unit_count = serializers.IntegerField(read_only=True)
    project_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = Unit
        fields = (
            "id",
            "name",
            "organisation",
            "parent",
            "depth",
            "role",
            "unit_count",
            "project_count",
            "created_at",
        )

    def get_depth(self, unit: Unit) -> int:
        """Return how far below the top of its organisation it is; 0 is the top."""
        return len(unit.lineage_ids) - 1

    @extend_schema_field(serializers.ChoiceField(choices=ROLES))
    def get_role(self, unit: Unit) -> str:
        """Return the caller's role, looked up once for the page."""
        return self.context["roles"].on(unit.path) or "viewer"


class NewUnitSerializer(serializers.Serializer[Any]):
    """A unit below `parent`; without one, at the top of `organisation`."""

    name = NameField(max_length=200)
    # A column's name.
    parent = serializers.UUIDField(required=False, allow_null=True)  # type: ignore[assignment]
    organisation = serializers.UUIDField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Ask for the organisation where no parent says it."""
        if not attrs.get("parent") and not attrs.get("organisation"):
            said = "Name the unit above, or the organisation."
            raise serializers.ValidationError({"parent": [said]}, code="required")
        return attrs


class ChangedUnitSerializer(serializers.Serializer[Any]):
    """A new name, a new unit above (null: none), or both."""

    name = NameField(max_length=200, required=False)
    # A column's name.
    parent = serializers.UUIDField(required=False, allow_null=True)  # type: ignore[assignment]


class NewProjectSerializer(serializers.Serializer[Any]):
    """A project; without a unit it hangs on the only one at the top that the caller administers."""

    slug = SlugField()
    name = NameField(max_length=200, required=False)
    unit = serializers.UUIDField(required=False)


class ChangedProjectSerializer(serializers.Serializer[Any]):
    """A new name, another unit, or both."""

    name = NameField(max_length=200, required=False)
    unit = serializers.UUIDField(required=False)


class TreeProjectSerializer(serializers.ModelSerializer[Project]):
    """A project and where it hangs."""

    unit = serializers.UUIDField(source="unit_id", read_only=True)
    unit_name = serializers.CharField(source="unit.name", read_only=True)

    class Meta:
        model = Project
        fields = ("id", "slug", "name", "unit", "unit_name", "created_at")
