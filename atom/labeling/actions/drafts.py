"""Unsent work, saved every few seconds."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from atom.accounts.models import User
from atom.labeling import states
from atom.labeling.engines import documents
from atom.labeling.errors import DocumentTooLarge, StaleLease
from atom.labeling.models import Draft, WorkSlot
from atom_sdk.sentences import Sentence


def save_draft(slot: WorkSlot, user: User, seq: int, document: dict[str, Any]) -> Draft:
    """Keep the newest document of `user` on `slot`; an older `seq` changes nothing.

    A person who lost the lease may still save if they had a draft, so that no input is lost.
    Raises StaleLease for a person who never worked here or has submitted since, DocumentTooLarge
    over the limit.
    """
    encoded = documents.encode(document)
    if encoded.size_bytes > documents.MAX_DOCUMENT_BYTES:
        raise DocumentTooLarge(
            Sentence(
                "labeling.document_too_large",
                "At most {max_bytes} bytes.",
                max_bytes=documents.MAX_DOCUMENT_BYTES,
            )
        )
    with transaction.atomic():
        locked = WorkSlot.objects.select_for_update().get(pk=slot.pk)
        if locked.user_id == user.pk and locked.state not in states.SLOT_HELD:
            # It was on its way when the work was submitted; with returned work it would come back.
            raise StaleLease(
                Sentence("labeling.submitted_already", "You have submitted this item already."),
                slot=str(slot.pk),
            )
        draft = Draft.objects.filter(slot=slot, user=user).first()
        if draft is None and locked.user_id != user.pk:
            raise StaleLease(slot=str(slot.pk))
        if draft is None:
            return Draft.objects.create(slot=slot, user=user, seq=seq, document=encoded.data)
        if seq > draft.seq:
            draft.seq, draft.document = seq, encoded.data
            draft.save(update_fields=["seq", "document", "updated_at"])
    return draft
