"""How pages of the portal hold work: coming, showing, leaving, waiting."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core.bodies import JSONParser, check
from atom.core.query import choice
from atom.labeling import reads, states
from atom.labeling.actions import pages, skips
from atom.labeling.actions.pages import Return
from atom.labeling.api.scoped import TaskView
from atom.labeling.api.serializers import SettledSerializer
from atom.labeling.api.views.work import shown_slots
from atom.labeling.api.work_serializers import (
    LeaveSerializer,
    MyWorkSerializer,
    ReturnSerializer,
    ShowSerializer,
    SlotResultsSerializer,
    WaitingSerializer,
)
from atom.labeling.errors import StaleLease


def back_of(request: Request) -> Return:
    """Return which page asks and what it takes up. Raises Invalid."""
    body = ReturnSerializer(data=request.data)
    check(body)
    return Return(**body.validated_data)


class TakeUpView(TaskView):
    """A page that opens, is loaded again or comes back."""

    @extend_schema(request=ReturnSerializer, responses=MyWorkSerializer)
    def post(self, request: Request, task_id: UUID) -> Response:
        """Hold the caller's work on this page, with its drafts, returned work first.

        Items on another open page of the caller stay there, unless `everything` is true.
        """
        slots = pages.take_up(self.task, self.user, states.LABEL_ROLE, back_of(request))
        return Response({"results": shown_slots(slots, self.user), "next": None})


class ShowView(TaskView):
    """Items that come on the screen."""

    @extend_schema(request=ShowSerializer, responses=SlotResultsSerializer)
    def post(self, request: Request, task_id: UUID) -> Response:
        """Renew them and keep them from whoever finds nothing; says which are lost."""
        body = ShowSerializer(data=request.data)
        check(body)
        wanted = [(row["slot"], row["lease_no"]) for row in body.validated_data["slots"]]
        held = pages.show_items(self.task, self.user, body.validated_data["page"], wanted)
        lost = {"code": StaleLease.code, "detail": StaleLease.title, "action": StaleLease.action}
        results = [
            {"slot": slot_id, "ok": slot_id in held, **({} if slot_id in held else lost)}
            for slot_id, _ in wanted
        ]
        return Response({"results": results})


class LeaveView(TaskView):
    """A page that goes away: what `navigator.sendBeacon` posts."""

    # A beacon is a form. Its token is checked as that of every other write.
    parser_classes = (JSONParser, FormParser, MultiPartParser)

    @extend_schema(request={"application/json": LeaveSerializer}, responses={204: None})
    def post(self, request: Request, task_id: UUID) -> Response:
        """Shorten the page's leases to a minute, and open what it had only fetched ahead."""
        body = LeaveSerializer(data=request.data)
        check(body)
        pages.leave_page(self.task, self.user, body.validated_data["page"])
        return Response(status=status.HTTP_204_NO_CONTENT)


class WaitingView(TaskView):
    """Why there is nothing to do."""

    @extend_schema(
        responses=WaitingSerializer,
        parameters=[
            OpenApiParameter("role", str, enum=list(states.ROLES)),
            OpenApiParameter("page", str, description="the asking page"),
        ],
        operation_id="labelx_tasks_waiting",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        """Say who holds what until when, and how much there is for the caller by now."""
        role = choice(request, "role", states.ROLES) or states.LABEL_ROLE
        page = request.query_params.get("page", "")
        task, user = self.task, self.user
        return Response(
            WaitingSerializer(
                {
                    "open": reads.open_for(task, user, role),
                    "elsewhere": pages.elsewhere_count(task, user, role, page),
                    "skipped": reads.skipped_by(task, user),
                    "holders": reads.holders_of(task, user, role),
                }
            ).data
        )


class UnskipAllView(TaskView):
    """A person who wants to see again what they skipped."""

    @extend_schema(request=None, responses=SettledSerializer)
    def post(self, request: Request, task_id: UUID) -> Response:
        """Have the caller's skipped items handed out to them again."""
        return Response({"count": skips.unskip_all(self.task, self.user)})
