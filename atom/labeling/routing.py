"""WebSocket paths of LabelX."""

from django.urls import path

from atom.labeling.consumers import LabelTaskConsumer

websocket_urlpatterns = [
    path("ws/labelx/tasks/<uuid:task_id>/", LabelTaskConsumer.as_asgi()),
]
