"""Drafts, immutable revisions of labels, and the verdicts on them."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from atom.core.clock import RowTimeField
from atom.core.ids import uuid7
from atom.core.models import TimestampedModel
from atom.labeling import states
from atom.labeling.engines import documents
from atom.labeling.models.ontologies import OntologyVersion
from atom.labeling.models.work import WorkItem, WorkSlot

HUMAN: Final = "human"
IMPORT: Final = "import"


class Draft(TimestampedModel):
    """The unsent work of one person on one slot; it outlives the lease."""

    slot = models.ForeignKey(WorkSlot, on_delete=models.CASCADE, related_name="drafts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    seq = models.PositiveBigIntegerField()
    document = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["slot", "user"], name="draft_slot_user"),
        ]

    def __str__(self) -> str:
        """Return the sequence number."""
        return f"draft {self.seq}"

    @property
    def decoded(self) -> dict[str, Any]:
        """The document as JSON."""
        return documents.decode(bytes(self.document))


class AnnotationRevision(models.Model):
    """One submitted document; never changed and never deleted.

    `accepted` says that it arrived under a valid lease; a stale one is kept with False, as is what
    a version brought along (`source` import). An auditor's correction is one of the audit slot.
    Indexes serve reads and the deletion of a task; people and ontology versions with work stay.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = RowTimeField(auto_now_add=True)
    work_item = models.ForeignKey(
        WorkItem, on_delete=models.CASCADE, related_name="revisions", db_index=False
    )
    slot = models.ForeignKey(WorkSlot, on_delete=models.CASCADE, related_name="revisions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    lease_no = models.PositiveIntegerField()
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    source = models.CharField(max_length=20, default=HUMAN)
    ontology_version = models.ForeignKey(
        OntologyVersion, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    label_ids = ArrayField(models.SmallIntegerField())
    n_objects = models.PositiveIntegerField(default=0)
    document = models.BinaryField()
    sha256 = models.BinaryField(max_length=32)
    active_ms = models.PositiveIntegerField(default=0)
    # Counts by the names of `engines.edit_distance.COUNTS`; null where no pre-label was compared.
    pre_label_edits = models.JSONField(null=True, editable=False)
    accepted = models.BooleanField()
    # A UUID as it was sent; of any other text, the UUID that `engines.keys` makes of it.
    idempotency_key = models.UUIDField(unique=True)

    class Meta:
        constraints: ClassVar = [
            # One counted submission per hand-over, whatever races.
            models.UniqueConstraint(
                fields=["slot", "lease_no"],
                condition=Q(accepted=True),
                name="revision_accepted_once_per_lease",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["work_item", "created_at"]),
            models.Index(
                fields=["parent"], condition=Q(parent__isnull=False), name="revision_parent"
            ),
        ]

    def __str__(self) -> str:
        """Return the id."""
        return str(self.pk)

    @property
    def decoded(self) -> dict[str, Any]:
        """The document as JSON."""
        return documents.decode(bytes(self.document))

    @property
    def label_id(self) -> int | None:
        """The label of a classification; None for a document of objects."""
        return self.label_ids[0] if len(self.label_ids) == 1 and not self.n_objects else None

    @property
    def sha256_hex(self) -> str:
        """The digest of the canonical JSON, as answers show it."""
        return bytes(self.sha256).hex()


class AuditDecision(models.Model):
    """An auditor's verdict on one revision."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = RowTimeField(auto_now_add=True)
    revision = models.OneToOneField(
        AnnotationRevision, on_delete=models.CASCADE, related_name="audit_decision"
    )
    slot = models.ForeignKey(WorkSlot, on_delete=models.CASCADE, related_name="audit_decisions")
    lease_no = models.PositiveIntegerField()
    auditor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    verdict = models.CharField(max_length=10, choices=[(v, v) for v in states.VERDICTS])
    error_code = models.CharField(max_length=60, blank=True)
    comment = models.TextField(blank=True)
    # The auditor's own revision, where they corrected and accepted in one go.
    correction = models.OneToOneField(
        AnnotationRevision, on_delete=models.PROTECT, null=True, related_name="corrects"
    )

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(verdict__in=states.VERDICTS), name="audit_decision_verdict"
            ),
            models.CheckConstraint(
                condition=Q(correction__isnull=True) | Q(verdict=states.ACCEPT),
                name="audit_decision_correction_accepts",
            ),
        ]

    def __str__(self) -> str:
        """Return the verdict."""
        return self.verdict
