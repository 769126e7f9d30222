"""Addresses under `/api/v1/projects/<project>/webhooks/`."""

from django.urls import URLPattern, URLResolver, include, path

from atom.webhooks.api import views

_delivery = [
    path("", views.DeliveryView.as_view()),
    path("redeliver/", views.RedeliverView.as_view()),
]

_webhook: list[URLPattern | URLResolver] = [
    path("", views.WebhookView.as_view()),
    path("rotate-secret/", views.RotateSecretView.as_view()),
    path("test/", views.TestDeliveryView.as_view()),
    path("deliveries/", views.DeliveryListView.as_view()),
    path("deliveries/<uuid:delivery_id>/", include(_delivery)),
]

urlpatterns = [
    path("projects/<slug:project>/webhooks/", views.WebhookListView.as_view()),
    path("projects/<slug:project>/webhooks/<uuid:webhook_id>/", include(_webhook)),
]
