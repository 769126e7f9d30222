"""Endpoints for labelers: lease, keep, save, submit, give back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from atom.accounts.models import User
from atom.core.bodies import check
from atom.core.errors import AtomError, NotFound
from atom.core.schema import whole_list
from atom.labeling import permissions, reads
from atom.labeling.actions import drafts, leases, sizes, skips, submissions
from atom.labeling.actions.drafts import DraftPatch
from atom.labeling.actions.leases import Page
from atom.labeling.actions.submissions import Outcome, Submission
from atom.labeling.api.audit_serializers import RevisionSerializer
from atom.labeling.api.rendering import render_slot
from atom.labeling.api.results import results_of
from atom.labeling.api.scoped import MAX_LEASE, ItemView, SlotView, TaskView, lease_size
from atom.labeling.api.work_serializers import (
    BeatSerializer,
    DraftSerializer,
    HeartbeatSerializer,
    LeasedSlotSerializer,
    LeaseNoSerializer,
    LeaseRequestSerializer,
    LeaseSerializer,
    MyWorkSerializer,
    PageSerializer,
    SavedDraftSerializer,
    SkipReasonSerializer,
    SlotResultsSerializer,
    SubmitBatchSerializer,
    SubmitSerializer,
)
from atom.labeling.models import WorkSlot

LEASE_SIZE = OpenApiParameter("n", int, description=f"1 to {MAX_LEASE}")


def shown_slots(slots: Sequence[WorkSlot], user: User) -> list[dict[str, Any]]:
    """Return held label slots with the caller's drafts, and with the sizes of their pictures."""
    shown = reads.with_drafts(slots, user)
    sizes.know_sizes(shown)
    return [render_slot(slot) for slot in shown]


class LeaseView(TaskView):
    """Handing out items."""

    @extend_schema(
        request=LeaseRequestSerializer, responses=LeaseSerializer, parameters=[LEASE_SIZE]
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        """Lease up to `n` open items; an empty answer means that nothing is open."""
        n = lease_size(request, self.task.batch_size)
        body = LeaseRequestSerializer(data=request.data)
        check(body)
        page = Page(body.validated_data["page"], on_screen=not body.validated_data["prefetch"])
        slots = leases.lease_labels(self.task, self.user, n, page)
        return Response({"lease": shown_slots(slots, self.user)})


class MyWorkView(TaskView):
    """Items that the caller holds."""

    @extend_schema(responses=MyWorkSerializer, operation_id="labelx_tasks_my_work")
    def get(self, request: Request, task_id: UUID) -> Response:
        """Return returned work first, then leased items, with drafts."""
        held = reads.held_work(self.task, self.user)
        sizes.know_sizes(held)
        return Response({"results": [render_slot(slot) for slot in held], "next": None})


class SubmitBatchView(TaskView):
    """The grid's submit."""

    @extend_schema(request=SubmitBatchSerializer, responses=SlotResultsSerializer)
    def post(self, request: Request, task_id: UUID) -> Response:
        """Store every submission; each has its own result, one failure stops no other."""
        body = SubmitBatchSerializer(data=request.data)
        check(body)
        batch = [_submission(row["slot"], row) for row in body.validated_data["submissions"]]
        outcomes = submissions.submit(self.task.project, self.user, batch)
        return Response({"results": results_of(outcomes)})


class SubmitView(SlotView):
    """One submission."""

    @extend_schema(request=SubmitSerializer, responses={201: RevisionSerializer})
    def post(self, request: Request, slot_id: UUID) -> Response:
        """Store one submission; a lost lease answers 409 and the revision is still kept."""
        body = SubmitSerializer(data=request.data)
        check(body)
        submission = _submission(self.slot.pk, body.validated_data)
        project = self.slot.label_task.project
        [outcome] = submissions.submit(project, self.user, [submission])
        if outcome.error is not None or outcome.revision is None:
            raise _with_revision(outcome)
        stored = reads.revisions_of(self.slot.work_item).get(pk=outcome.revision.pk)
        return Response(RevisionSerializer(stored).data, status=status.HTTP_201_CREATED)


class HeartbeatView(SlotView):
    """Keeping a lease."""

    @extend_schema(request=BeatSerializer, responses=HeartbeatSerializer)
    def post(self, request: Request, slot_id: UUID) -> Response:
        """Move the end of the lease; send this every 30 s."""
        body = BeatSerializer(data=request.data)
        check(body)
        slot = leases.heartbeat(self.slot, self.user, **body.validated_data)
        return Response({"lease_no": slot.lease_no, "expires_at": slot.expires_at})


class ReleaseView(SlotView):
    """Giving an item back."""

    @extend_schema(request=LeaseNoSerializer, responses={204: None})
    def post(self, request: Request, slot_id: UUID) -> Response:
        """Open the item to others; the draft stays."""
        leases.release(self.slot, self.user, _lease_no(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SkipView(SlotView):
    """Passing an item on."""

    @extend_schema(request=SkipReasonSerializer, responses={204: None})
    def post(self, request: Request, slot_id: UUID) -> Response:
        """Open the item to others; the caller gets it again only by asking for it."""
        body = SkipReasonSerializer(data=request.data)
        check(body)
        skips.skip(self.slot, self.user, **body.validated_data)
        return Response(status=status.HTTP_204_NO_CONTENT)


class UnskipView(SlotView):
    """Taking a skip back."""

    @extend_schema(request=PageSerializer, responses=LeasedSlotSerializer)
    def post(self, request: Request, slot_id: UUID) -> Response:
        """Hold the item again; 409 when somebody else has it by now."""
        body = PageSerializer(data=request.data)
        check(body)
        slot = skips.unskip(self.slot, self.user, Page(body.validated_data["page"]))
        return Response(shown_slots([slot], self.user)[0])


class ReopenView(SlotView):
    """Take returned work from an absent person."""

    required_role = permissions.ROLE_FOR[permissions.AUDIT]

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, slot_id: UUID) -> Response:
        """Open a returned item to everybody."""
        leases.reopen_returned(self.slot)
        return Response(status=status.HTTP_204_NO_CONTENT)


class FreeView(SlotView):
    """Take held work from somebody who is away."""

    required_role = permissions.ROLE_FOR[permissions.AUDIT]

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, slot_id: UUID) -> Response:
        """Open a held item to everybody; its holder's draft stays, and their answer is kept."""
        leases.free_slot(self.slot, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class DraftView(SlotView):
    """Unsent work."""

    @extend_schema(request=DraftSerializer, responses=SavedDraftSerializer)
    def put(self, request: Request, slot_id: UUID) -> Response:
        """Save the newest document, whole or as a patch; an older `seq` changes nothing.

        Returns what is kept. A patch on another draft than the kept one answers 409
        `draft_base_unknown`: send the whole document then.
        """
        body = DraftSerializer(data=request.data)
        check(body)
        data = body.validated_data
        patch = DraftPatch(data["base"], data["patch"]) if "patch" in data else None
        content = patch or data["document"]
        draft = drafts.save_draft(self.slot, self.user, data["seq"], content)
        return Response({"seq": draft.seq, "document": None if patch else draft.decoded})


class ItemRevisionsView(ItemView):
    """The history of one item."""

    @extend_schema(
        responses=whole_list(RevisionSerializer, "RevisionList"),
        operation_id="labelx_items_revisions_list",
    )
    def get(self, request: Request, item_id: UUID) -> Response:
        """Return every submission, newest first, counted or not, with its verdict."""
        found = reads.revisions_of(self.item).order_by("-created_at", "-id")
        return Response({"results": RevisionSerializer(found, many=True).data, "next": None})


def _with_revision(outcome: Outcome) -> AtomError:
    """Return the outcome's error, naming the revision that was stored in spite of it."""
    error = outcome.error or NotFound()
    if outcome.revision is not None:
        error.extra["revision"] = str(outcome.revision.pk)
    return error


def _lease_no(request: Request) -> int:
    body = LeaseNoSerializer(data=request.data)
    check(body)
    return int(body.validated_data["lease_no"])


def _submission(slot_id: UUID, data: dict[str, Any]) -> Submission:
    return Submission(
        slot_id=slot_id,
        lease_no=data["lease_no"],
        idempotency_key=data["idempotency_key"],
        document=data["document"],
        active_ms=data["active_ms"],
        digest=data.get("digest", ""),
    )
