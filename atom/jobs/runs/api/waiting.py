"""`runs/<id>/wait/`: the answer comes when the run has ended."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from atom.core import waiting
from atom.core.query import refuse_unknown
from atom.jobs import states
from atom.jobs.api_base import RunScopedView
from atom.jobs.runs.api.run_serializers import RunSerializer
from atom.jobs.runs.api.views import render_run


class WaitView(RunScopedView):
    """`runs/<id>/wait/`."""

    @extend_schema(operation_id="runs_wait", parameters=[waiting.TIMEOUT], responses=RunSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return the run as soon as it has ended, or as it is at the timeout."""
        refuse_unknown(request, ("timeout_s",))
        waiting.parse_timeout(request)
        answer = render_run(self.run.pk)
        if answer.data["state"] not in states.TERMINAL:
            waiting.hold_back(request, f"run.{run_id}", run_id, answer.data["state"])
        return answer
