"""Issues of an item and their comments."""

from __future__ import annotations

from functools import cached_property
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from atom.accounts.models import Project
from atom.core.bodies import check
from atom.core.errors import NotFound
from atom.core.idempotency import idempotent
from atom.core.schema import whole_list
from atom.labeling import reads
from atom.labeling.actions import issues
from atom.labeling.api.issue_serializers import (
    CommentSerializer,
    IssueSerializer,
    NewCommentSerializer,
    NewIssueSerializer,
    ResolveSerializer,
)
from atom.labeling.api.scoped import ItemView, LabelXView
from atom.labeling.models import Issue


class IssueView(LabelXView):
    """Below `labelx/issues/<id>/`."""

    @cached_property
    def issue(self) -> Issue:
        """The issue of the path."""
        visible = Project.objects.visible_to(self.user)
        found = Issue.objects.filter(work_item__label_task__project__in=visible)
        joined = found.select_related("work_item__label_task__project__unit")
        issue = joined.filter(pk=self.kwargs["issue_id"]).first()
        if issue is None:
            raise NotFound
        return issue

    def find_project(self) -> Project:
        """Return the issue's project."""
        return self.issue.work_item.label_task.project


class ItemIssuesView(ItemView):
    """The issues of one item."""

    @extend_schema(
        responses=whole_list(IssueSerializer, "IssueList"),
        operation_id="labelx_items_issues_list",
    )
    def get(self, request: Request, item_id: UUID) -> Response:
        """Return every issue, the oldest first, with its comments."""
        found = reads.issues().filter(work_item=self.item)
        return Response({"results": IssueSerializer(found, many=True).data, "next": None})

    @extend_schema(
        request=NewIssueSerializer,
        responses={201: IssueSerializer},
        operation_id="labelx_items_issues_create",
    )
    @idempotent
    def post(self, request: Request, item_id: UUID) -> Response:
        """Open an issue on the picture, on an object or at a point."""
        body = NewIssueSerializer(data=request.data)
        check(body)
        made = issues.open_issue(self.item, self.user, issues.NewIssue.of(body.validated_data))
        return Response(_shown(made), status=status.HTTP_201_CREATED)


class CommentsView(IssueView):
    """Answers below an issue."""

    @extend_schema(
        request=NewCommentSerializer,
        responses={201: CommentSerializer},
        operation_id="labelx_issues_comments_create",
    )
    @idempotent
    def post(self, request: Request, issue_id: UUID) -> Response:
        """Add an answer."""
        body = NewCommentSerializer(data=request.data)
        check(body)
        made = issues.comment(self.issue, self.user, body.validated_data["text"])
        return Response(CommentSerializer(made).data, status=status.HTTP_201_CREATED)


class ResolveView(IssueView):
    """Settling an issue."""

    @extend_schema(
        request=ResolveSerializer, responses=IssueSerializer, operation_id="labelx_issues_resolve"
    )
    def post(self, request: Request, issue_id: UUID) -> Response:
        """Settle the issue, or with `resolved` false open it again."""
        body = ResolveSerializer(data=request.data)
        check(body)
        issue = issues.resolve(self.issue, self.user, **body.validated_data)
        return Response(_shown(issue))


def _shown(issue: Issue) -> dict[str, object]:
    return dict(IssueSerializer(reads.issues().get(pk=issue.pk)).data)
