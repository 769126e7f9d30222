"""WebSocket addresses of runs."""

from __future__ import annotations

from django.urls import path

from atom.jobs.consumers import RunConsumer

websocket_urlpatterns = [path("ws/runs/<uuid:run_id>/", RunConsumer.as_asgi())]
