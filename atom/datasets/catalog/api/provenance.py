"""The provenance of files: what a client states, kept apart from what the server records."""

from __future__ import annotations

import json
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from atom.accounts.models import ApiToken

# The server's own words. It goes by some of them: a label task takes the version that names it
# for its own, lineage and activity show them as what has happened.
SERVERS_OWN = frozenset(
    {"label_task", "label_task_name", "source_version", "ontology", "cleaning_report"}
    | {"operation", "source_commit", "reverts", "conflicts_settled", "edits"}
    | {"write_job", "scan", "scanned_at", "brought_in", "made_by"}
)
HELP = (
    "Where the version came from: what its client said, and the server's own words. For a version "
    "that a run made these are `made_by`: `run`, `number` and `attempt`; `code`, the `digest` of "
    "its snapshot, with the `commit` and whether it was `dirty` where it came from git; "
    "`workflow`, its `name` and `version`; `environment`, the `digest` of its requirements and its "
    "`python`. Facts that a run lacks are left out."
)


def with_maker(given: dict[str, Any], request: Request) -> dict[str, Any]:
    """Return what a client says, with what the server knows of the run that it is."""
    token = request.auth
    if isinstance(token, ApiToken) and token.made_by:
        return {**given, "made_by": json.loads(token.made_by)}
    return given


class ProvenanceField(serializers.DictField):
    """Any names and values but the server's own names."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Refuse the server's own names: who reads them must be able to believe them."""
        given: dict[str, Any] = super().to_internal_value(data)
        if taken := sorted(SERVERS_OWN.intersection(given)):
            said = f"Only the server says this of a version: {', '.join(taken)}. Use other names."
            raise serializers.ValidationError(said, code="servers_own")
        return given
