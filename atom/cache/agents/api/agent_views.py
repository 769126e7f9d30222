"""The protocol of node agents: `Authorization: Bearer atomagent_…`, good for one node.

Every request may arrive twice.
"""

from __future__ import annotations

from typing import Any, cast

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.authentication import bearer_of
from atom.cache.agents.actions.joining import AgentClaim, agent_by_token, join, peer_key_text
from atom.cache.agents.actions.reports import AgentReport, note_report
from atom.cache.agents.actions.settings import limit_of
from atom.cache.agents.actions.work import AFTER_S, WorkReport, work
from atom.cache.agents.api.agent_bodies import (
    AgentJoinedSerializer,
    AgentJoinSerializer,
    AgentOrdersSerializer,
    AgentReportSerializer,
    AgentWorkSerializer,
)
from atom.cache.errors import AgentNotAccepted
from atom.cache.models import NodeAgent
from atom.clusters.kubernetes.pod_identity import MAX_TOKEN_CHARACTERS
from atom.core.bodies import JSONParser, check

REPORT_EVERY_S = 15


class AgentUser:
    """The user that permission classes see for an agent; it has no account."""

    is_authenticated = True
    pk = None


class AgentAuthentication(BaseAuthentication):
    """Authenticates an agent; `request.auth` is its NodeAgent."""

    def authenticate(self, request: Request) -> tuple[AgentUser, NodeAgent]:
        """Return the agent of the token. Raises AgentNotAccepted."""
        agent = agent_by_token(bearer_of(request) or "")
        if agent is None:
            raise AgentNotAccepted
        return AgentUser(), agent

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401 answer."""
        return 'Bearer realm="atom agent"'


class IsAgent(BasePermission):
    """Only agents."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the request carries an agent."""
        return isinstance(request.auth, NodeAgent)


class AgentView(APIView):
    """Base of the agent's resources."""

    authentication_classes = (AgentAuthentication,)
    permission_classes = (IsAgent,)
    parser_classes = (JSONParser,)
    throttle_classes = ()

    @property
    def agent(self) -> NodeAgent:
        """Return the agent that the token belongs to."""
        return cast("NodeAgent", self.request.auth)


class AgentJoinView(APIView):
    """`agent/join/`: `Authorization: Bearer` and the pod's own token of its cluster."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="agent_join",
        request=AgentJoinSerializer,
        responses=AgentJoinedSerializer,
        auth=[],
    )
    def post(self, request: Request) -> Response:
        """Let an agent speak for its node; its cluster says whether it runs there."""
        token = bearer_of(request) or ""
        if not token or len(token) > MAX_TOKEN_CHARACTERS:
            raise AgentNotAccepted
        body = AgentJoinSerializer(data=request.data)
        check(body)
        joined = join(AgentClaim(token=token, **body.validated_data))
        answer = {
            "token": joined.token,
            "expires_at": joined.expires_at,
            "node_id": joined.agent.node_id,
            "peer_key": peer_key_text(joined.agent),
            "report_every_s": REPORT_EVERY_S,
            "work_every_s": AFTER_S,
            "limit_bytes": limit_of(joined.agent.node.cluster_id),
        }
        return Response(AgentJoinedSerializer(answer).data)


class AgentReportView(AgentView):
    """`agent/report/`."""

    @extend_schema(
        operation_id="agent_report",
        request=AgentReportSerializer,
        responses=inline_serializer(
            "AgentReportAnswer",
            {
                "send_packs": serializers.BooleanField(),
                "limit_bytes": serializers.IntegerField(allow_null=True),
            },
        ),
    )
    def post(self, request: Request) -> Response:
        """Note the disk, the cards and the packs of a node."""
        body = AgentReportSerializer(data=request.data)
        check(body)
        data: dict[str, Any] = body.validated_data
        events = [{**event, "at": event["at"].isoformat()} for event in data["xid_events"]]
        report = AgentReport(**{**data, "xid_events": events})
        answer = {"send_packs": note_report(self.agent, report)}
        return Response({**answer, "limit_bytes": limit_of(self.agent.node.cluster_id)})


class AgentWorkView(AgentView):
    """`agent/work/`."""

    @extend_schema(
        operation_id="agent_work", request=AgentWorkSerializer, responses=AgentOrdersSerializer
    )
    def post(self, request: Request) -> Response:
        """Note which fetches of a node ended, and return its next ones."""
        body = AgentWorkSerializer(data=request.data)
        check(body)
        return Response(work(self.agent, WorkReport(**body.validated_data)))
