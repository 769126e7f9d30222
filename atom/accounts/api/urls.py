"""Addresses under `/api/v1/`."""

from django.urls import path

from atom.accounts.api import s3_key_views, views

urlpatterns = [
    path("auth/session/", views.SessionView.as_view()),
    path("auth/login/", views.LoginView.as_view()),
    path("auth/logout/", views.LogoutView.as_view()),
    path("users/me/", views.MeView.as_view()),
    path("projects/", views.ProjectListView.as_view()),
    path("tokens/", views.TokenListView.as_view()),
    path("tokens/<uuid:token_id>/", views.TokenView.as_view()),
    path("s3-keys/", s3_key_views.S3KeyPairListView.as_view()),
    path("s3-keys/<uuid:s3_key_id>/", s3_key_views.S3KeyPairView.as_view()),
    path("audit/", views.AuditListView.as_view()),
]
