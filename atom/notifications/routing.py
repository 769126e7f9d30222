"""WebSocket addresses of notifications."""

from __future__ import annotations

from django.urls import path

from atom.notifications.consumers import NotificationsConsumer

websocket_urlpatterns = [path("ws/notifications/", NotificationsConsumer.as_asgi())]
