"""`stores/`: buckets beside the installation's own, for versions that are replicated."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, QuerySet
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE, ScopedView, token_of, user_of
from atom.accounts.api.people_views import require_installation
from atom.core.bodies import check
from atom.core.idempotency import idempotent
from atom.core.pagination import KeysetPagination
from atom.datasets.models import Store
from atom.datasets.replicas.actions import stores
from atom.datasets.replicas.api.store_serializers import (
    NewStoreSerializer,
    StoreChangesSerializer,
    StoreSerializer,
)
from atom.datasets.replicas.reads import find_store


class StoreViewBase(ScopedView, APIView):
    """Everybody reads names and fees; administrators of the installation write."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse writes of everybody else."""
        super().initial(request, *args, **kwargs)
        if request.method not in SAFE:
            require_installation(request)

    def stores(self) -> QuerySet[Store]:
        """Return the stores with the number of their replicas."""
        return Store.objects.annotate(replica_count=Count("replicas"))

    def shown(self, rows: list[Store]) -> list[dict[str, Any]]:
        """Return stores as the caller may see them."""
        token = token_of(self.request)
        administrates = user_of(self.request).is_superuser and not (token and token.project_id)
        context = {"administrates": administrates}
        return [dict(StoreSerializer(row, context=context).data) for row in rows]

    def answer(self, name: str, code: int = status.HTTP_200_OK) -> Response:
        """Return one store."""
        find_store(name)
        return Response(self.shown(list(self.stores().filter(name=name)))[0], status=code)


class StoresView(StoreViewBase):
    """`stores/`."""

    keyset = ("name", "id")

    @extend_schema(
        operation_id="stores_list",
        responses=inline_serializer(
            "StorePage",
            {
                "results": StoreSerializer(many=True),
                "next": serializers.CharField(allow_null=True),
            },
        ),
    )
    def get(self, request: Request) -> Response:
        """List the second stores by name."""
        paginator = KeysetPagination()
        page = paginator.paginate_queryset(self.stores(), request, self)
        return paginator.get_paginated_response(self.shown(page))

    @extend_schema(
        operation_id="store_add", request=NewStoreSerializer, responses={201: StoreSerializer}
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Add a store, if Atom can write, list, read and delete there."""
        body = NewStoreSerializer(data=request.data)
        check(body)
        store = stores.add_store(stores.NewStore(**body.validated_data), user_of(request))
        return self.answer(store.name, status.HTTP_201_CREATED)


class StoreView(StoreViewBase):
    """`stores/<name>/`."""

    @extend_schema(operation_id="store_get", responses=StoreSerializer)
    def get(self, request: Request, store: str) -> Response:
        """Show a store."""
        return self.answer(store)

    @extend_schema(
        operation_id="store_change", request=StoreChangesSerializer, responses=StoreSerializer
    )
    @idempotent
    def patch(self, request: Request, store: str) -> Response:
        """Change fees or credentials; new credentials are checked first."""
        row = find_store(store)
        body = StoreChangesSerializer(row, data=request.data, partial=True)
        check(body)
        stores.change_store(row, body.validated_data, user_of(request))
        return self.answer(store)

    @extend_schema(operation_id="store_remove", responses={204: None})
    def delete(self, request: Request, store: str) -> Response:
        """Forget a store without replicas, and its credentials."""
        stores.remove_store(find_store(store), user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class StoreCheckView(StoreViewBase):
    """`stores/<name>/check/`."""

    @extend_schema(operation_id="store_check", request=None, responses=StoreSerializer)
    def post(self, request: Request, store: str) -> Response:
        """Write, list, read and delete a small object; the store shows the result."""
        stores.check_store(find_store(store))
        return self.answer(store)
