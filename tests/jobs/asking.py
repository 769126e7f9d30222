"""Requests that tests of runs make over HTTP."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient


def create(api: APIClient, **body: Any) -> Any:
    """Ask for a run in the project `vision`; returns the response."""
    return api.post("/api/v1/projects/vision/runs/", body)
