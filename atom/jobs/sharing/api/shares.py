"""`runs/<id>/shares/`: links that show a run to people without an account, as members see them."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE, ProjectScopedView, user_of
from atom.core.bodies import check
from atom.core.names import NameField
from atom.jobs.api_base import PAGE, RunScopedView, listing, page_of
from atom.jobs.models import RunShare
from atom.jobs.models.shares import MAX_NOTE
from atom.jobs.runs.api.run_serializers import PersonSerializer
from atom.jobs.sharing.actions import shares
from atom.jobs.sharing.actions.shares import MAX_DAYS

DEFAULT_DAYS = 30


class RunShareSerializer(serializers.ModelSerializer[RunShare]):
    """A link that works, without what opens it."""

    created_by = PersonSerializer(allow_null=True)

    class Meta:
        model = RunShare
        fields: tuple[str, ...] = (
            "id", "note", "with_log", "created_by", "created_at", "expires_at", "last_seen_at",
        )  # fmt: skip


class NewRunShareSerializer(serializers.Serializer[Any]):
    """A link to make: its days, its note, and whether it shows the log."""

    days = serializers.IntegerField(min_value=1, max_value=MAX_DAYS, default=DEFAULT_DAYS)
    note = NameField(
        max_length=MAX_NOTE,
        required=False,
        allow_blank=True,
        default="",
        help_text="Whom it is for; only members read it.",
    )
    with_log = serializers.BooleanField(default=False)


class MadeRunShareSerializer(RunShareSerializer):
    """A link as it is answered once."""

    token = serializers.CharField(help_text="For the header Atom-Share.")
    link = serializers.CharField(help_text="The portal's address of the run.")

    class Meta(RunShareSerializer.Meta):
        fields = (*RunShareSerializer.Meta.fields, "token", "link")


class RunSharesSerializer(serializers.Serializer[Any]):
    """The links of a run that were not ended and have not expired: at most 20."""

    enabled = serializers.BooleanField(
        help_text="Whether links work in this installation, and new ones can be made."
    )
    results = RunShareSerializer(many=True)


class SharedRunNameSerializer(serializers.Serializer[Any]):
    """The run that a link shows."""

    id = serializers.UUIDField()
    number = serializers.IntegerField()
    name = serializers.CharField()


class ProjectRunShareSerializer(RunShareSerializer):
    """A link, and the run that it shows."""

    run = SharedRunNameSerializer()

    class Meta(RunShareSerializer.Meta):
        fields = ("run", *RunShareSerializer.Meta.fields)


class RunSharesView(RunScopedView):
    """`runs/<id>/shares/`."""

    @extend_schema(operation_id="runs_shares", responses=RunSharesSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """List the links that work, the newest first."""
        living = self.run.shares.living().select_related("created_by")
        rows = RunShareSerializer(living.order_by("-created_at", "-id"), many=True).data
        return Response({"enabled": settings.ATOM_SHARE_LINKS, "results": rows})

    @extend_schema(
        operation_id="runs_shares_create",
        request=NewRunShareSerializer,
        responses={201: MadeRunShareSerializer},
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Make a link. Its token is in this answer only, so the call is not replayable."""
        body = NewRunShareSerializer(data=request.data)
        check(body)
        made = shares.share_run(self.run, user_of(request), **body.validated_data)
        shown = RunShareSerializer(made.share).data
        return Response({**shown, "token": made.token, "link": made.link}, status=201)


class RunShareView(RunScopedView):
    """`runs/<id>/shares/<id>/`: one's own, or any for administrators of the project."""

    # The person who made the link may have a lower role by now.
    required_role = "viewer"

    @extend_schema(operation_id="runs_shares_end", responses={204: None})
    def delete(self, request: Request, run_id: UUID, share_id: UUID) -> Response:
        """End the link at once; twice is fine."""
        shares.end_share(self.run, share_id, user_of(request))
        return Response(status=204)


class ProjectRunSharesView(ProjectScopedView, APIView):
    """`projects/<p>/run-shares/`: what of the project is shown to people outside."""

    keyset = ("-created_at", "-id")
    required_roles: ClassVar[dict[str, str]] = dict.fromkeys(SAFE, "admin")

    @extend_schema(
        operation_id="run_shares_list",
        parameters=PAGE,
        responses=listing(ProjectRunShareSerializer, "ProjectRunSharePage"),
    )
    def get(self, request: Request, project: str) -> Response:
        """List the links to runs of the project that work, the newest first."""
        living = RunShare.objects.living().filter(project=self.project)
        found = living.select_related("run", "created_by")
        return page_of(self, found, ProjectRunShareSerializer)
