"""Whose side counts where both changed: for each conflict that is named, and for the others."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rest_framework import serializers

from atom.core.names import TextField
from atom_sdk.manifests.merge.resolution import Resolution
from atom_sdk.packs.paths import MAX_PATH_BYTES
from atom_sdk.sentences import Sentence

MAX_RESOLUTIONS = 10_000
# The fields by which a file's conflict may differ; the file is settled as a whole.
_OF_FILES = {"", "attributes", "media_type"}


class ResolutionSerializer(serializers.Serializer[Any]):
    """Whose side counts for a path, or for one of its labels."""

    path = TextField(
        max_length=MAX_PATH_BYTES,
        trim_whitespace=False,
        allow_blank=True,
        help_text="As the conflict tells it; empty for labels that are of two kinds.",
    )
    layer = TextField(
        max_length=255,
        allow_blank=True,
        default="",
        help_text="Which labels or split; empty for the file and all of its labels.",
    )
    field = TextField(
        max_length=255,
        allow_blank=True,
        default="",
        help_text="Which column of the layer; empty for all of them.",
    )
    take = serializers.ChoiceField(choices=["ours", "theirs"])

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that something is named; of a file, drop what only says how it differs."""
        if not attrs["path"] and not attrs["layer"]:
            raise serializers.ValidationError({"path": ["Name a path."]}, code="blank")
        if attrs["layer"]:
            return attrs
        if attrs["field"] not in _OF_FILES:
            said = "Name the layer of this field; a file is settled as a whole."
            raise serializers.ValidationError({"field": [said]})
        return {**attrs, "field": ""}


class SettlingSerializer(serializers.Serializer[Any]):
    """What settles conflicts."""

    on_conflict = serializers.ChoiceField(
        choices=["fail", "ours", "theirs"],
        default="fail",
        help_text="Whose side counts where both changed: ours is the branch's.",
    )
    resolutions = ResolutionSerializer(
        many=True,
        default=list,
        max_length=MAX_RESOLUTIONS,  # type: ignore[call-arg]  # an argument of the list
        help_text="Whose side counts for single conflicts; the others follow `on_conflict`. "
        "A path without a conflict is refused with `not_in_conflict`.",
    )

    def validate_resolutions(self, given: list[dict[str, Any]]) -> tuple[Resolution, ...]:
        """Return them, none of them twice."""
        found = tuple(Resolution(**each) for each in given)
        named = Counter((each.path, each.layer, each.field) for each in found)
        twice = [name for name, count in named.items() if count > 1]
        if twice:
            what = ", ".join(": ".join(filter(None, name)) for name in twice[:3])
            raise serializers.ValidationError(
                [
                    Sentence(
                        "datasets.settled_twice",
                        "Settled more than once: {conflict}.",
                        conflict=what,
                    )
                ]
            )
        return found
