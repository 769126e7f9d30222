"""`runs/<id>/comments/`: the thread of a run."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from atom.accounts.api.mixins import user_of
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.names import TextField
from atom.jobs.api_base import PAGE, RunScopedView, listing, page_of
from atom.jobs.models import RunComment
from atom.jobs.runs.actions import comments
from atom.jobs.runs.api.run_serializers import PersonSerializer

MAX_CHARS = 10_000


class RunCommentSerializer(serializers.ModelSerializer[RunComment]):
    """A comment, and the members whom it names."""

    author = PersonSerializer(allow_null=True)
    mentioned = PersonSerializer(many=True)

    class Meta:
        model = RunComment
        fields = ("id", "author", "text", "mentioned", "created_at", "edited_at")


class CommentTextSerializer(serializers.Serializer[Any]):
    """The text of a comment."""

    text = TextField(max_length=MAX_CHARS, help_text="Plain text; @name names a member.")


class CommentsView(RunScopedView):
    """`runs/<id>/comments/`: oldest first."""

    keyset = ("created_at", "id")
    # Whoever may read a run may speak about it.
    required_role = "viewer"

    @extend_schema(
        operation_id="runs_comments",
        parameters=PAGE,
        responses=listing(RunCommentSerializer, "RunCommentPage"),
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """List the comments on the run."""
        found = self.run.comments.select_related("author").prefetch_related("mentioned")
        return page_of(self, found, RunCommentSerializer)

    @extend_schema(
        operation_id="runs_comments_create",
        request=CommentTextSerializer,
        responses={201: RunCommentSerializer},
    )
    @idempotent
    def post(self, request: Request, run_id: UUID) -> Response:
        """Comment on the run."""
        made = comments.add_comment(self.run, user_of(request), _text(request))
        return Response(RunCommentSerializer(made).data, status=201)


class CommentView(RunScopedView):
    """`runs/<id>/comments/<id>/`: one's own."""

    required_role = "viewer"

    @extend_schema(
        operation_id="runs_comments_update",
        request=CommentTextSerializer,
        responses=RunCommentSerializer,
    )
    def patch(self, request: Request, run_id: UUID, comment_id: UUID) -> Response:
        """Replace the text of one's own comment."""
        changed = comments.edit_comment(self.run, comment_id, user_of(request), _text(request))
        return Response(RunCommentSerializer(changed).data)

    @extend_schema(operation_id="runs_comments_delete", responses={204: None})
    def delete(self, request: Request, run_id: UUID, comment_id: UUID) -> Response:
        """Remove one's own comment."""
        comments.remove_comment(self.run, comment_id, user_of(request))
        return Response(status=204)


def _text(request: Request) -> str:
    body = CommentTextSerializer(data=request.data)
    check(body)
    text: str = body.validated_data["text"]
    return text
