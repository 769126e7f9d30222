"""Running warm-up plans of a project, each with its sums over all nodes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, Sum

from atom.accounts.models import Project
from atom.cache.models import PackFetch, WarmPlan


@dataclass(frozen=True, slots=True)
class PlanProgress:
    """A plan with its bytes and nodes; a node that was replaced does not count."""

    plan: WarmPlan
    bytes_total: int
    bytes_present: int
    nodes: int
    nodes_done: int


def running_plans(project: Project, most: int) -> list[PlanProgress]:
    """Return the newest running plans of a project, in a fixed number of queries."""
    counted = ~Q(parts__state="replaced")
    plans = (
        WarmPlan.objects.filter(project=project, state="running")
        .select_related("version__dataset", "cluster")
        .annotate(
            all_bytes=Sum("parts__bytes_total", filter=counted, default=0),
            present_bytes=Sum("parts__bytes_present", filter=counted, default=0),
            all_nodes=Count("parts", filter=counted),
            warm_nodes=Count("parts", filter=Q(parts__state="warm")),
        )
        .order_by("-created_at", "-id")[:most]
    )
    rows = list(plans)
    moving = _bytes_of_open_fetches([plan.pk for plan in rows])
    return [
        PlanProgress(
            plan=plan,
            bytes_total=plan.all_bytes,
            bytes_present=min(plan.present_bytes + moving.get(plan.pk, 0), plan.all_bytes),
            nodes=plan.all_nodes,
            nodes_done=plan.warm_nodes,
        )
        for plan in rows
    ]


def _bytes_of_open_fetches(plans: Collection[UUID]) -> dict[UUID, int]:
    rows = PackFetch.objects.filter(plan__in=plans).values_list("plan")
    return dict(rows.annotate(bytes=Sum("bytes_done")))
