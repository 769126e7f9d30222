"""The shape of a file that a run left."""

from __future__ import annotations

from rest_framework import serializers

from atom.core import storage
from atom.jobs import states
from atom.jobs.models import (
    Artifact,
)


class ArtifactSerializer(serializers.ModelSerializer[Artifact]):
    """A file that a run left, with an address to download it."""

    attempt = serializers.IntegerField(source="attempt.number")
    download_url = serializers.SerializerMethodField()

    class Meta:
        model = Artifact
        fields = (
            "id", "path", "size_bytes", "sha256", "digest", "kind", "state", "step", "attempt",
            "download_url", "created_at",
        )  # fmt: skip

    def get_download_url(self, artifact: Artifact) -> str | None:
        """Return an address that is valid for an hour; None until the file is durable."""
        if artifact.state != states.PERSISTED:
            return None
        name = artifact.path.rsplit("/", 1)[-1]
        return storage.objects().presign_get(artifact.key, DOWNLOAD_EXPIRES_S, filename=name)


DOWNLOAD_EXPIRES_S = 3600
