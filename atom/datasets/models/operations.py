"""Operations that people have dismissed from their lists."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models


class DismissedOperation(models.Model):
    """A person has seen how an operation ended, or does not want to."""

    id = models.BigAutoField(primary_key=True)
    request = models.ForeignKey(
        "datasets.CommitRequest", on_delete=models.CASCADE, related_name="dismissals"
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["request", "user"], name="operation_dismissed_once"),
        ]
