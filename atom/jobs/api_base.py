"""Base classes of views in every capability: pages of rows, and views under one run."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils.functional import cached_property
from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE, authorize
from atom.core.errors import NotFound
from atom.core.pagination import KeysetPagination
from atom.jobs.models import Run
from atom.jobs.reads import find_run


def page_of(view: APIView, queryset: Any, serializer: type[Any]) -> Response:
    """Return one keyset page of a queryset; the view's `keyset` orders it."""
    paginator = KeysetPagination()
    rows = paginator.paginate_queryset(queryset, view.request, view)
    return paginator.get_paginated_response(serializer(rows, many=True).data)


def listing(serializer: type[Any], name: str) -> Any:
    """Describe `{results, next}` for OpenAPI."""
    return inline_serializer(
        name,
        {"results": serializer(many=True), "next": serializers.CharField(allow_null=True)},
    )


PAGE = [OpenApiParameter("limit", int), OpenApiParameter("cursor", str)]


class RunScopedView(APIView):
    """A view under `runs/<uuid:run_id>/`; who may not see the run gets 404."""

    required_role = "researcher"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, then authorize for the run's project."""
        super().initial(request, *args, **kwargs)
        _ = self.run

    @cached_property
    def run(self) -> Run:
        """Return the run of the path, for which the request is authorized.

        Raises NotFound for strangers and PermissionDenied for members who may not do this.
        """
        found = self.find(self.kwargs["run_id"])
        if found is None:
            raise NotFound
        role = "viewer" if self.request.method in SAFE else self.required_role
        authorize(self.request, found.project, role)
        return found

    def find(self, run_id: UUID) -> Run | None:
        """Return the run with what this view needs of it."""
        return find_run(run_id)
