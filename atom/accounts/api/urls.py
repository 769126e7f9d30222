"""Addresses under `/api/v1/`."""

from django.urls import path

from atom.accounts.api import (
    audit_views,
    invitation_views,
    member_views,
    oidc_views,
    people_views,
    s3_key_views,
    second_factor_views,
    service_views,
    session_views,
    sign_in_views,
    unit_views,
    views,
)

urlpatterns = [
    path("auth/session/", views.SessionView.as_view()),
    path("auth/login/", sign_in_views.LoginView.as_view()),
    path("auth/login/code/", sign_in_views.LoginCodeView.as_view()),
    path("auth/oidc/", oidc_views.OptionsView.as_view()),
    path("auth/oidc/start/", oidc_views.StartView.as_view()),
    path("auth/oidc/callback/", oidc_views.CallbackView.as_view()),
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
    path("audit/", audit_views.AuditListView.as_view()),
    path("audit/export/", audit_views.AuditExportView.as_view()),
    path(
        "projects/<str:project>/invitations/", invitation_views.ProjectInvitationListView.as_view()
    ),
    path(
        "projects/<str:project>/invitations/<uuid:invitation_id>/",
        invitation_views.ProjectInvitationView.as_view(),
    ),
    path(
        "projects/<str:project>/invitations/<uuid:invitation_id>/renewals/",
        invitation_views.ProjectInvitationRenewalView.as_view(),
    ),
    path(
        "projects/<str:project>/service-accounts/",
        service_views.ProjectServiceAccountListView.as_view(),
    ),
    path(
        "projects/<str:project>/service-accounts/<uuid:account_id>/",
        service_views.ProjectServiceAccountView.as_view(),
    ),
    path(
        "projects/<str:project>/service-accounts/<uuid:account_id>/tokens/",
        service_views.ProjectServiceTokenListView.as_view(),
    ),
    path(
        "projects/<str:project>/service-accounts/<uuid:account_id>/tokens/<uuid:token_id>/",
        service_views.ProjectServiceTokenView.as_view(),
    ),
    path("units/<uuid:unit_id>/invitations/", invitation_views.UnitInvitationListView.as_view()),
    path(
        "units/<uuid:unit_id>/invitations/<uuid:invitation_id>/",
        invitation_views.UnitInvitationView.as_view(),
    ),
    path(
        "units/<uuid:unit_id>/invitations/<uuid:invitation_id>/renewals/",
        invitation_views.UnitInvitationRenewalView.as_view(),
    ),
    path(
        "units/<uuid:unit_id>/service-accounts/", service_views.UnitServiceAccountListView.as_view()
    ),
    path(
        "units/<uuid:unit_id>/service-accounts/<uuid:account_id>/",
        service_views.UnitServiceAccountView.as_view(),
    ),
    path(
        "units/<uuid:unit_id>/service-accounts/<uuid:account_id>/tokens/",
        service_views.UnitServiceTokenListView.as_view(),
    ),
    path(
        "units/<uuid:unit_id>/service-accounts/<uuid:account_id>/tokens/<uuid:token_id>/",
        service_views.UnitServiceTokenView.as_view(),
    ),
    path("invitations/open/", invitation_views.OpenInvitationView.as_view()),
    path("invitations/sign-up/", invitation_views.SignUpView.as_view()),
    path("invitations/accept/", invitation_views.AcceptInvitationView.as_view()),
    path("sessions/", session_views.OwnSessionListView.as_view()),
    path("sessions/end-others/", session_views.EndOthersView.as_view()),
    path("sessions/<uuid:session_id>/", session_views.OwnSessionView.as_view()),
    path("auth/password/", session_views.PasswordView.as_view()),
    path("auth/second-factor/", second_factor_views.SecondFactorView.as_view()),
    path("auth/second-factor/confirm/", second_factor_views.ConfirmView.as_view()),
    path("auth/second-factor/off/", second_factor_views.OffView.as_view()),
    path("auth/second-factor/recovery-codes/", second_factor_views.RecoveryCodesView.as_view()),
    path("auth/forgotten/", session_views.ForgottenView.as_view()),
    path("auth/reset/open/", session_views.ResetOfferView.as_view()),
    path("auth/reset/", session_views.ResetView.as_view()),
    path("people/", people_views.PersonListView.as_view()),
    path("people/<uuid:user_id>/", people_views.PersonView.as_view()),
    path("people/<uuid:user_id>/sessions/", people_views.PersonSessionsView.as_view()),
    path("people/<uuid:user_id>/second-factor/", people_views.PersonSecondFactorView.as_view()),
    path("people/<uuid:user_id>/reset-link/", people_views.PersonResetLinkView.as_view()),
]
