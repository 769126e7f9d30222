"""Failures of background work, as pages show them: a code, a detail and what to do next."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.core.errors import AtomError, action_of, detail_parts


class FailureSerializer(serializers.Serializer[Any]):
    """Why a piece of work in the background failed."""

    code = serializers.CharField()
    detail = serializers.CharField()
    detail_code = serializers.CharField(
        required=False, help_text="The code of the detail's sentence, stable, where it has one."
    )
    detail_params = serializers.DictField(
        required=False, help_text="The values that the detail names, by name."
    )
    action = serializers.CharField(help_text="The next step for a person.")


def stored_failure(
    code: str, detail: str, otherwise: str = AtomError.action
) -> dict[str, Any] | None:
    """Return what a `FailureSerializer` shows; None without a code.

    `otherwise` is what to do next if the code is not of an error that says so itself.
    """
    if not code:
        return None
    return {"code": code, **detail_parts(detail), "action": action_of(code) or otherwise}
