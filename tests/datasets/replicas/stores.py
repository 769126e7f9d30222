"""Second stores in buckets of the test store."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings

from atom.datasets.models import Store
from atom.datasets.replicas.actions.stores import NewStore
from atom.datasets.replicas.actions.stores import add_store as add
from atom.datasets.replicas.api.store_serializers import NewStoreSerializer
from tests.datasets.buckets import Bucket
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_user


def store_body(bucket: Bucket, name: str = "frankfurt", **more: Any) -> dict[str, Any]:
    """Return the body that adds a bucket as a second store."""
    return {
        "name": name,
        "endpoint": bucket.endpoint,
        "bucket": bucket.name,
        "access_key_id": settings.S3_ACCESS_KEY_ID,
        "secret_access_key": settings.S3_SECRET_ACCESS_KEY,
        **more,
    }


def add_store(bucket: Bucket, name: str = "frankfurt", **more: Any) -> Store:
    """Add a bucket as a second store, as an administrator does."""
    body = NewStoreSerializer(data=store_body(bucket, name, **more))
    body.is_valid(raise_exception=True)
    return add(NewStore(**body.validated_data), make_user(is_superuser=True))


def replicate(
    pusher: Pusher, ref: str, store: Store, *, pinned: bool = True, ends_at: datetime | None = None
) -> dict[str, Any]:
    """Have a version replicated as the API does; tasks run in place. Returns the replica."""
    body = {"store": store.name, "pinned": pinned, "ends_at": ends_at and ends_at.isoformat()}
    pusher.post(f"versions/{ref}/replicas/", body)
    replica: dict[str, Any] = pusher.get(f"versions/{ref}/replicas/{store.name}/")
    return replica
