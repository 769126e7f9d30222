"""`clusters/<name>/profile/`: how the pods of runs fit a cluster."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from atom.accounts.api.mixins import user_of
from atom.clusters.api.profile_serializers import ProfileChangesSerializer, ProfileSerializer
from atom.clusters.api.views import ClusterViewBase
from atom.clusters.models import ClusterProfile
from atom.clusters.registration.actions.profiles import change_profile
from atom.clusters.registration.actions.registering import refuse_local
from atom.clusters.registration.actions.stored_profiles import profile_from, profile_row
from atom.core.bodies import check


class ClusterProfileView(ClusterViewBase):
    """`clusters/<name>/profile/`: everybody who sees the cluster reads it."""

    @extend_schema(operation_id="cluster_profile_get", responses=ProfileSerializer)
    def get(self, request: Request, cluster: str) -> Response:
        """Show the profile, and whether RDMA is on, with the reason."""
        row = self.cluster_named(cluster)
        refuse_local(row)
        return Response(ProfileSerializer(_shown(profile_row(row))).data)

    @extend_schema(
        operation_id="cluster_profile_set",
        request=ProfileChangesSerializer,
        responses=ProfileSerializer,
    )
    def put(self, request: Request, cluster: str) -> Response:
        """Replace the profile. New runs get it; other RDMA settings wait for a pod to try them."""
        row = self.cluster_named(cluster)
        body = ProfileChangesSerializer(data=request.data)
        check(body)
        change_profile(row, body.settings, user_of(request))
        return Response(ProfileSerializer(_shown(profile_row(row))).data)


def _shown(row: ClusterProfile) -> dict[str, Any]:
    profile = profile_from(row)
    reason = profile.rdma_reason
    parts = reason.as_code() if reason else {"code": None, "params": {}}
    return {
        "priority_class": row.priority_class,
        "tolerations": row.tolerations,
        "rdma_resource": row.rdma_resource,
        "rdma_count": row.rdma_count,
        "nccl": row.nccl,
        "memlock_bytes": row.memlock_bytes,
        "image_repository": row.image_repository,
        "has_image_credentials": bool(row.encrypted_image_credentials),
        "rdma": {
            "state": profile.rdma_state,
            "detail": reason and str(reason),
            "detail_code": parts["code"],
            "detail_params": parts["params"],
            "tested_at": row.rdma_tested_at,
            "node": row.rdma_node,
        },
    }
