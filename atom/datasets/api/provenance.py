"""What a client says of where files come from, beside what the server says of its own work."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

# The server's own words. It goes by some of them: a label task takes the version that names it
# for its own, lineage and activity show them as what has happened.
SERVERS_OWN = frozenset(
    {"label_task", "label_task_name", "source_version", "ontology", "cleaning_report"}
    | {"operation", "source_commit", "reverts", "conflicts_settled", "edits"}
    | {"write_job", "scan", "scanned_at", "brought_in"}
)


class ProvenanceField(serializers.DictField):
    """Any names and values but the server's own names."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Refuse the server's own names: who reads them must be able to believe them."""
        given: dict[str, Any] = super().to_internal_value(data)
        if taken := sorted(SERVERS_OWN.intersection(given)):
            said = f"Only the server says this of a version: {', '.join(taken)}. Use other names."
            raise serializers.ValidationError(said, code="servers_own")
        return given
