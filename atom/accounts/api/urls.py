"""Addresses under `/api/v1/`."""

from django.urls import path

from atom.accounts.api import member_views, s3_key_views, unit_views, views

urlpatterns = [
    path("auth/session/", views.SessionView.as_view()),
    path("auth/login/", views.LoginView.as_view()),
    path("auth/logout/", views.LogoutView.as_view()),
    path("users/me/", views.MeView.as_view()),
    path("projects/", views.ProjectListView.as_view()),
    path("projects/<str:project>/", unit_views.ProjectView.as_view()),
    path("projects/<str:project>/members/", member_views.ProjectMemberListView.as_view()),
    path(
        "projects/<str:project>/members/<uuid:user_id>/",
        member_views.ProjectMemberView.as_view(),
    ),
    path("projects/<str:project>/candidates/", member_views.ProjectCandidatesView.as_view()),
    path("organisations/", unit_views.OrganisationListView.as_view()),
    path("units/", unit_views.UnitListView.as_view()),
    path("units/<uuid:unit_id>/", unit_views.UnitView.as_view()),
    path("units/<uuid:unit_id>/projects/", unit_views.UnitProjectListView.as_view()),
    path("units/<uuid:unit_id>/members/", member_views.UnitMemberListView.as_view()),
    path("units/<uuid:unit_id>/members/<uuid:user_id>/", member_views.UnitMemberView.as_view()),
    path("units/<uuid:unit_id>/candidates/", member_views.UnitCandidatesView.as_view()),
    path("tokens/", views.TokenListView.as_view()),
    path("tokens/<uuid:token_id>/", views.TokenView.as_view()),
    path("s3-keys/", s3_key_views.S3KeyPairListView.as_view()),
    path("s3-keys/<uuid:s3_key_id>/", s3_key_views.S3KeyPairView.as_view()),
    path("audit/", views.AuditListView.as_view()),
]
