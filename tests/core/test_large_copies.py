"""Objects that S3 does not copy in one request."""

from __future__ import annotations

import os

import pytest
from boto3.s3.transfer import TransferConfig

from atom.core import storage
from atom.core.ids import uuid7
from atom.core.storage import ObjectMissing


def test_an_object_above_the_limit_of_one_copy_is_copied_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As S3 has it for 5 GiB, whose parts are 5 MiB at least.
    monkeypatch.setattr(storage, "_COPY_BYTES", 1 << 20)
    parts = TransferConfig(multipart_threshold=1, multipart_chunksize=5 << 20)
    monkeypatch.setattr(storage, "_IN_PARTS", parts)
    source, target = f"tests/{uuid7()}/a", f"tests/{uuid7()}/b"
    data = os.urandom(11 << 20)
    objects = storage.objects()
    objects.put(source, data)

    objects.copy(source, target)

    assert objects.get(target) == data
    assert objects.head(target).etag.endswith("-3")
    objects.delete(source)
    with pytest.raises(ObjectMissing):
        objects.copy(source, target)
