"""Pictures that guidelines show; their bytes are objects of the store."""

from __future__ import annotations

import re
from typing import ClassVar, Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from atom.accounts.models import Project
from atom.core.models import TimestampedModel

MEDIA_TYPES: Final = ("image/jpeg", "image/png", "image/webp")
# The folder of a project's guideline pictures, relative to `p/<project id>/`.
FOLDER: Final = "guideline-pictures/"
_HEX: Final = "[0-9a-f]"
# A guideline names a picture by its id: `![a car](picture:0195a3f2-…)`.
_REFERENCE: Final = re.compile(
    f"picture:({_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}})", re.IGNORECASE
)


class GuidelinePicture(TimestampedModel):
    """One picture of a project, upright and without EXIF.

    `sha256` is the digest of the bytes that were sent, so that sending them again finds the row.
    `size_bytes`, `width` and `height` (in pixels) are those of the stored picture.
    """

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="guideline_pictures"
    )
    sha256 = models.BinaryField()
    media_type = models.CharField(max_length=20, choices=[(each, each) for each in MEDIA_TYPES])
    size_bytes = models.PositiveIntegerField()
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "sha256"], name="guideline_picture_sha256"),
            models.CheckConstraint(
                condition=Q(media_type__in=MEDIA_TYPES), name="guideline_picture_media_type"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["project", "-created_at", "-id"])]

    def __str__(self) -> str:
        """Return the id, which guidelines name."""
        return str(self.pk)

    @property
    def key(self) -> str:
        """The absolute key of its object."""
        # The prefix of `atom.core.storage.project_prefix`, from the id alone.
        return f"p/{self.project_id}/{FOLDER}{self.pk}"


def picture_ids(guideline: str) -> set[str]:
    """Return the ids of the pictures that a guideline names, in lower case."""
    return {name.lower() for name in _REFERENCE.findall(guideline)}
