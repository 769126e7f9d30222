"""Addresses of caches, of warm-up plans and of node agents."""

from django.urls import path

from atom.cache.agents.api import (
    agent_views,
    choice_views,
    cluster_views,
    plan_views,
    schedule_views,
    volume_views,
)
from atom.cache.api import views

_VERSION = "projects/<str:project>/datasets/<str:dataset>/versions/<str:ref>/"
_DATASET = "projects/<str:project>/datasets/<str:dataset>/"
_SCHEDULES = "projects/<str:project>/warm-schedules/"
_PLANS = "projects/<str:project>/warm-plans/"

urlpatterns = [
    path(f"{_VERSION}cache/", views.CacheView.as_view()),
    path(f"{_VERSION}warm/", views.WarmView.as_view()),
    path(f"{_VERSION}evict/", views.EvictView.as_view()),
    path(f"{_VERSION}warm-choices/", choice_views.WarmChoicesView.as_view()),
    path(f"{_VERSION}warm-plans/", plan_views.VersionWarmPlansView.as_view()),
    path(_PLANS, plan_views.WarmPlansView.as_view()),
    path(f"{_PLANS}<uuid:plan_id>/", plan_views.WarmPlanView.as_view()),
    path(f"{_PLANS}<uuid:plan_id>/cancel/", plan_views.WarmPlanCancelView.as_view()),
    path(f"{_DATASET}warm-schedules/", schedule_views.DatasetWarmSchedulesView.as_view()),
    path(_SCHEDULES, schedule_views.WarmSchedulesView.as_view()),
    path(f"{_SCHEDULES}<uuid:schedule_id>/", schedule_views.WarmScheduleView.as_view()),
    path(f"{_SCHEDULES}<uuid:schedule_id>/pause/", schedule_views.WarmSchedulePauseView.as_view()),
    path(
        f"{_SCHEDULES}<uuid:schedule_id>/resume/", schedule_views.WarmScheduleResumeView.as_view()
    ),
    path("clusters/<str:cluster>/cache/", cluster_views.CacheSettingsView.as_view()),
    path("clusters/<str:cluster>/coverage/", cluster_views.CoverageView.as_view()),
    path("clusters/<str:cluster>/agents/", plan_views.ClusterAgentsView.as_view()),
    path("clusters/<str:cluster>/agent-manifest/", plan_views.AgentManifestView.as_view()),
    path("agent/join/", agent_views.AgentJoinView.as_view()),
    path("agent/report/", agent_views.AgentReportView.as_view()),
    path("agent/work/", agent_views.AgentWorkView.as_view()),
    path("agent/volumes/held/", volume_views.HeldVolumesView.as_view()),
    path("agent/volumes/<str:volume>/index/", volume_views.VolumeIndexView.as_view()),
]
