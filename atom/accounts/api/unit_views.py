"""The tree: organisations, units, and the projects that hang on them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import transaction
from django.db.models import Count, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts import actions
from atom.accounts.api.mixins import ProjectScopedView, ScopedView, token_of, user_of
from atom.accounts.api.scopes import UnitScopedView, authorize_on, find_unit
from atom.accounts.api.unit_serializers import (
    ChangedProjectSerializer,
    ChangedUnitSerializer,
    NewProjectSerializer,
    NewUnitSerializer,
    OrganisationSerializer,
    TreeProjectSerializer,
    UnitSerializer,
)
from atom.accounts.models import Organisation, Project, Unit
from atom.accounts.permissions import RoleTooLow, require_scope
from atom.accounts.reads import UnitRoles, top_administered_units, visible_units
from atom.core.bodies import check
from atom.core.errors import Invalid, NotFound
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.core.query import words
from atom_sdk.sentences import Sentence

# A sentence has this many names at most.
_NAMED_UNITS = 5


def _counted(units: QuerySet[Unit]) -> QuerySet[Unit]:
    return units.select_related("organisation").annotate(
        unit_count=Count("children", distinct=True), project_count=Count("projects", distinct=True)
    )


def _shown(request: Request, unit: Unit) -> dict[str, Any]:
    context = {"request": request, "roles": UnitRoles.of(user_of(request))}
    counted = _counted(Unit.objects.filter(pk=unit.pk)).get()
    return dict(UnitSerializer(counted, context=context).data)


def _administered(request: Request, unit_id: Any, field: str) -> Unit:
    """Return the unit that a body names. Raises Invalid for one that the caller does not see."""
    try:
        found = find_unit(unit_id)
        authorize_on(request, found, "admin", "admin")
    except NotFound:
        said = ErrorDetail("There is no such unit.", code="does_not_exist")
        raise Invalid(errors={field: [said]}) from None
    return found


def _require_superuser(request: Request) -> None:
    token = token_of(request)
    require_scope(token, "admin")
    if not user_of(request).is_superuser or (token and token.project_id is not None):
        raise RoleTooLow(
            Sentence(
                "accounts.needs_installation_admin_for_top",
                "Only administrators of the installation change the top of the tree.",
            )
        )


def _only_unit(request: Request) -> Unit:
    """Return the unit that a new project hangs on where the body names none.

    Raises Invalid unless the caller administers one tree of units, PermissionDenied for the scope.
    """
    token = token_of(request)
    is_bound = token is not None and token.project_id is not None
    tops = top_administered_units(user_of(request)).order_by("name")
    units = [] if is_bound else list(tops.select_related("organisation")[: _NAMED_UNITS + 1])
    if len(units) == 1:
        authorize_on(request, units[0], "admin", "admin")
        return units[0]
    if is_bound:
        text = "This token is good for one project alone: use one for all projects to add another."
        raise Invalid(errors={"unit": [ErrorDetail(text, code="token_of_one_project")]})
    if not units:
        text = "You administer no unit: ask an administrator to add the project."
        raise Invalid(errors={"unit": [ErrorDetail(text, code="no_unit")]})
    names = ", ".join(unit.name for unit in units[:_NAMED_UNITS])
    names += ", …" if len(units) > _NAMED_UNITS else ""
    text = f"You administer several units ({names}): say on which one the project hangs."
    raise Invalid(errors={"unit": [ErrorDetail(text, code="several_units")]})


class UnitListView(ScopedView, generics.ListAPIView[Unit]):
    """The units on which the caller has a role, each before what lies below it."""

    serializer_class = UnitSerializer
    pagination_class = KeysetPagination
    keyset = ("path",)
    filters = ("q",)

    def get_queryset(self) -> QuerySet[Unit]:
        """Return the visible units; a token bound to a project sees none."""
        token = None if getattr(self, "swagger_fake_view", False) else token_of(self.request)
        if getattr(self, "swagger_fake_view", False) or (token and token.project_id):
            return Unit.objects.none()
        found = _counted(visible_units(user_of(self.request)))
        return found.filter(name__icontains=words(self.request, "q"))

    def get_serializer_context(self) -> dict[str, Any]:
        """Add the caller's roles, looked up once."""
        if getattr(self, "swagger_fake_view", False):
            return {**super().get_serializer_context()}
        roles = UnitRoles.of(user_of(self.request))
        return {**super().get_serializer_context(), "roles": roles}

    @extend_schema(parameters=[OpenApiParameter("q", str, description="Part of the name.")])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return one page, in the order of the tree."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=NewUnitSerializer, responses={201: UnitSerializer})
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Add a unit below one that the caller administers."""
        body = NewUnitSerializer(data=request.data)
        check(body)
        values = body.validated_data
        if values.get("parent"):
            parent: Unit | None = _administered(request, values["parent"], "parent")
        else:
            _require_superuser(request)
            parent = None
        organisation = parent.organisation if parent else _organisation(values["organisation"])
        unit = actions.create_unit(organisation, parent, values["name"], user_of(request))
        return Response(_shown(request, unit), status=status.HTTP_201_CREATED)


def _organisation(pk: Any) -> Organisation:
    found = Organisation.objects.filter(pk=pk).first()
    if found is None:
        said = ErrorDetail("There is no such organisation.", code="does_not_exist")
        raise Invalid(errors={"organisation": [said]})
    return found


class UnitView(UnitScopedView, APIView):
    """One unit."""

    @extend_schema(responses=UnitSerializer, operation_id="unit_retrieve")
    def get(self, request: Request, unit_id: str) -> Response:
        """Return the unit."""
        return Response(_shown(request, self.unit))

    @extend_schema(
        request=ChangedUnitSerializer, responses=UnitSerializer, operation_id="unit_change"
    )
    @transaction.atomic
    def patch(self, request: Request, unit_id: str) -> Response:
        """Rename the unit, or move it with all below it.

        To move it one administers the unit above it, before and after; its own administrators
        could otherwise leave those who are responsible for them.
        """
        body = ChangedUnitSerializer(data=request.data)
        check(body)
        values, user = body.validated_data, user_of(request)
        if "parent" in values:
            parent = self._new_parent(values["parent"])
            actions.move_unit(self.unit, parent, user)
        if "name" in values:
            actions.rename_unit(self.unit, values["name"], user)
        return Response(_shown(request, self.unit))

    @extend_schema(responses={204: None}, operation_id="unit_delete")
    def delete(self, request: Request, unit_id: str) -> Response:
        """Delete the unit, which must be empty; one administers the unit above it."""
        self._require_above()
        actions.delete_unit(self.unit, user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _new_parent(self, pk: Any) -> Unit | None:
        if (str(pk) if pk else None) == (str(self.unit.parent_id) if self.unit.parent_id else None):
            return self.unit.parent
        self._require_above()
        if pk is None:
            _require_superuser(self.request)
            return None
        return _administered(self.request, pk, "parent")

    def _require_above(self) -> None:
        if self.unit.parent is None:
            _require_superuser(self.request)
            return
        try:
            authorize_on(self.request, self.unit.parent, "admin", "admin")
        except NotFound:
            raise RoleTooLow(
                Sentence(
                    "accounts.needs_admin_of_parent", "This needs the role admin in the unit above."
                )
            ) from None


class OrganisationListView(ScopedView, generics.ListAPIView[Organisation]):
    """The organisations: for administrators of the installation."""

    serializer_class = OrganisationSerializer
    pagination_class = KeysetPagination
    keyset = ("name",)

    def get_queryset(self) -> QuerySet[Organisation]:
        """Return all of them."""
        if getattr(self, "swagger_fake_view", False):
            return Organisation.objects.none()
        token = token_of(self.request)
        if not user_of(self.request).is_superuser or (token and token.project_id is not None):
            raise NotFound
        return Organisation.objects.all()


class UnitProjectListView(UnitScopedView, generics.ListAPIView[Project]):
    """The projects that hang on this very unit."""

    serializer_class = TreeProjectSerializer
    pagination_class = KeysetPagination
    keyset = ("slug",)

    def get_queryset(self) -> QuerySet[Project]:
        """Return them, by slug."""
        if getattr(self, "swagger_fake_view", False):
            return Project.objects.none()
        return self.unit.projects.select_related("unit")


class NewProjectMixin:
    """`POST projects/`, beside the list of the caller's projects."""

    @extend_schema(request=NewProjectSerializer, responses={201: TreeProjectSerializer})
    @idempotent
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Add a project to a unit that the caller administers; its name is its slug if left out."""
        body = NewProjectSerializer(data=request.data)
        check(body)
        values = body.validated_data
        named = values.get("unit")
        unit = _administered(request, named, "unit") if named else _only_unit(request)
        name = values.get("name") or values["slug"]
        made = actions.create_project(unit, values["slug"], name, user_of(request))
        return Response(TreeProjectSerializer(made).data, status=status.HTTP_201_CREATED)


class ProjectView(ProjectScopedView, APIView):
    """One project."""

    required_roles: ClassVar = {"PATCH": "admin"}
    write_scope = "admin"

    @extend_schema(responses=TreeProjectSerializer, operation_id="project_retrieve")
    def get(self, request: Request, project: str) -> Response:
        """Return the project and where it hangs."""
        return Response(TreeProjectSerializer(self.project).data)

    @extend_schema(
        request=ChangedProjectSerializer,
        responses=TreeProjectSerializer,
        operation_id="project_change",
    )
    @transaction.atomic
    def patch(self, request: Request, project: str) -> Response:
        """Rename the project, or move it to another unit: one administers both units then."""
        body = ChangedProjectSerializer(data=request.data)
        check(body)
        values, found = body.validated_data, self.project
        if "unit" in values and values["unit"] != found.unit_id:
            try:
                authorize_on(request, found.unit, "admin", "admin")
            except NotFound:
                said = Sentence(
                    "accounts.needs_admin_of_unit",
                    "This needs the role admin in the unit that the project is in.",
                )
                raise RoleTooLow(said) from None
            target = _administered(request, values["unit"], "unit")
            found = actions.move_project(found, target, user_of(request))
        if "name" in values:
            found = actions.rename_project(found, values["name"], user_of(request))
        return Response(TreeProjectSerializer(found).data)
