"""Clients of the object store, and how long each of them waits."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from django.conf import settings
from obstore.store import S3Store

from atom.core.paced_connections import pace_connections
from atom_sdk.pace import Pace

if TYPE_CHECKING:
    from obstore.store import RetryConfig

_CONNECT_S = 5
_SILENCE_S = 300
_SIGNED_SILENCE_S = 30
# Limit for a whole answer, however slowly it comes. The store may send blanks for minutes while it
# joins parts.
_ANSWER_S = 300.0


def data_client(endpoint: str, retry_config: RetryConfig) -> S3Store:
    """Return what moves data."""
    return S3Store(
        settings.S3_BUCKET,
        endpoint=endpoint,
        region=settings.S3_REGION,
        access_key_id=settings.S3_ACCESS_KEY_ID,
        secret_access_key=settings.S3_SECRET_ACCESS_KEY,
        virtual_hosted_style_request=False,
        client_options={
            "allow_http": endpoint.startswith("http://"),
            "timeout": timedelta(seconds=_ANSWER_S),
            # Limit for silence; an object may take longer.
            "read_timeout": timedelta(seconds=_silence_s()),
        },
        retry_config=retry_config,
    )


def _silence_s() -> float:
    """How long a store may be silent: whoever waits in a browser or at a prompt gives up too."""
    return float(min(_SILENCE_S, 2 * settings.ATOM_STORE_PATIENCE_S))


def signing_client(endpoint: str) -> Any:
    """Return boto3's client, which signs addresses and drives multipart uploads."""
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name=settings.S3_REGION,
        aws_access_key_id=settings.S3_ACCESS_KEY_ID,
        aws_secret_access_key=settings.S3_SECRET_ACCESS_KEY,
        config=Config(
            signature_version="s3v4",
            s3={"addressing_style": "path"},
            connect_timeout=_CONNECT_S,
            # Limit for each of the three attempts.
            read_timeout=min(_SIGNED_SILENCE_S, settings.ATOM_STORE_PATIENCE_S),
            retries={"max_attempts": 3, "mode": "standard"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )
    pace_connections(client, Pace(grace_s=_ANSWER_S))
    return client
