"""WebSocket addresses of projects."""

from __future__ import annotations

from django.urls import path

from atom.accounts.consumers import ProjectConsumer

websocket_urlpatterns = [path("ws/projects/<slug:slug>/", ProjectConsumer.as_asgi())]
