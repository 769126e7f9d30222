"""Requests that tests make of an S3 client."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError


def refusal(call: Any, **arguments: Any) -> tuple[int, str]:
    """Return status and code of a call that must fail."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    response = caught.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


def listed(client: Any, **arguments: Any) -> tuple[list[str], list[str]]:
    """Return all keys and folders of a listing, over all its pages."""
    keys, folders = [], []
    for page in client.get_paginator("list_objects_v2").paginate(Bucket="digits", **arguments):
        keys += [row["Key"] for row in page.get("Contents", [])]
        folders += [row["Prefix"] for row in page.get("CommonPrefixes", [])]
    return keys, folders
