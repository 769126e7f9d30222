"""Fields of preferences in bodies of requests."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.core.names import TextField
from atom.notifications.engines.timing import time_zones, zones_like


class TimeZoneField(TextField):
    """The IANA name of a time zone, as `Europe/Berlin`."""

    def __init__(self, **options: Any) -> None:
        """The options of a CharField."""
        super().__init__(max_length=64, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Refuse what is the name of no zone, with those that may be meant."""
        name = super().run_validation(data)
        if isinstance(name, str) and name not in time_zones():
            meant = " or ".join(zones_like(name)) or "an IANA name, as Europe/Berlin"
            said = f"There is no such time zone. Give {meant}."
            raise serializers.ValidationError(said, code="not_a_time_zone")
        return name
