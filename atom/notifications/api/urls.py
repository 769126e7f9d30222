"""Addresses under `/api/v1/notifications/`."""

from django.urls import path

from atom.notifications.api import views

urlpatterns = [
    path("notifications/", views.NotificationListView.as_view()),
    path("notifications/count/", views.UnreadCountView.as_view()),
    path("notifications/read/", views.ReadView.as_view()),
    path("notifications/unread/", views.UnreadView.as_view()),
    path("notifications/preferences/", views.PreferencesView.as_view()),
    path("notifications/unsubscribe/<str:link>/", views.UnsubscribeView.as_view()),
]
