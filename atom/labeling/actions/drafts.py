"""Unsent work, saved every few seconds: whole, or as what changed since the last time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from atom.accounts.models import User
from atom.core.errors import Invalid
from atom.labeling import states
from atom.labeling.actions.answers import too_large
from atom.labeling.engines import documents
from atom.labeling.engines.json_patch import PatchError, apply_patch
from atom.labeling.errors import DraftBaseUnknown, StaleLease
from atom.labeling.models import Draft, WorkSlot
from atom_sdk.sentences import Sentence


@dataclass(frozen=True)
class DraftPatch:
    """JSON Patch operations on the draft of the seq `base`."""

    base: int
    operations: Sequence[Mapping[str, Any]]


def save_draft(
    slot: WorkSlot, user: User, seq: int, content: Mapping[str, Any] | DraftPatch
) -> Draft:
    """Keep the newest document of `user` on `slot`; an older `seq` changes nothing.

    A person who lost the lease may still save if they had a draft, so that no input is lost.
    Raises StaleLease for a person who never worked here or has submitted since, DocumentTooLarge
    over the limit, DraftBaseUnknown for a patch on another draft than the kept one, Invalid for a
    patch that does not fit it.
    """
    if not isinstance(content, DraftPatch):
        _encoded(content)
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
        if draft is not None and seq <= draft.seq:
            return draft
        data = _encoded(_document(content, draft)).data
        if draft is None:
            return Draft.objects.create(slot=slot, user=user, seq=seq, document=data)
        draft.seq, draft.document = seq, data
        draft.save(update_fields=["seq", "document", "updated_at"])
    return draft


def _document(content: Mapping[str, Any] | DraftPatch, draft: Draft | None) -> Mapping[str, Any]:
    if not isinstance(content, DraftPatch):
        return content
    if draft is None or draft.seq != content.base:
        raise DraftBaseUnknown(seq=None if draft is None else draft.seq)
    try:
        patched = apply_patch(draft.decoded, content.operations)
    except PatchError as error:
        raise Invalid(errors={f"patch/{error.operation}": [error.sentence]}) from error
    if not isinstance(patched, dict):
        sentence = Sentence("labeling.patch_no_object", "The patched document is no JSON object.")
        raise Invalid(errors={"patch": [sentence]})
    return patched


def _encoded(document: Mapping[str, Any]) -> documents.EncodedDocument:
    encoded = documents.encode(document)
    if encoded.size_bytes > documents.MAX_DOCUMENT_BYTES:
        raise too_large()
    return encoded
