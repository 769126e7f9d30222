"""`clusters/<cluster>/pod-check/`: whether a pod of a cluster reaches Atom."""

from __future__ import annotations

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from atom.accounts.api.mixins import user_of
from atom.clusters.api.serializers import ClusterDetailSerializer
from atom.clusters.api.views import ClusterViewBase
from atom.clusters.registration.actions import pod_findings
from atom.jobs import effects


class PodCheckView(ClusterViewBase):
    """`clusters/<cluster>/pod-check/`, for administrators of the installation."""

    @extend_schema(
        operation_id="cluster_try_pod", request=None, responses={202: ClusterDetailSerializer}
    )
    def post(self, request: Request, cluster: str) -> Response:
        """Try whether a pod reaches Atom; the finding `pod_reaches_atom` says how it goes."""
        row = self.cluster_named(cluster)
        with transaction.atomic():
            if asked_at := pod_findings.begin(row, user_of(request)):
                effects.try_pod(row.pk, asked_at)
        return self.answer(cluster, 202)
