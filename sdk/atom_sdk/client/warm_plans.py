"""Warm-up plans from Python: versions on nodes of clusters."""

from __future__ import annotations

import builtins
from typing import Any
from urllib.parse import quote

from atom_sdk.client.transport.http import Http

Row = dict[str, Any]


class WarmPlans:
    """`Client().datasets.warm_plans`."""

    def __init__(self, http: Http, project: str) -> None:
        """Plans of one project."""
        self._http, self._base = http, f"projects/{quote(project, safe='')}/warm-plans/"

    def start(self, version_base: str, cluster: str, **options: Any) -> Row:
        """Bring a version to nodes of a cluster and return the plan.

        Options: nodes (names) or copies (1), rate_bytes_s (the most for all nodes together),
        priority (0 to 100), deadline and keep_until (ISO 8601), pinned. Raises
        ApiError, such as `cache_too_small`.
        """
        plan: Row = self._http.post(f"{version_base}warm-plans/", {"cluster": cluster, **options})
        return plan

    def list(self) -> builtins.list[Row]:
        """Return the project's plans, newest first."""
        return [*self._http.pages(self._base)]

    def get(self, plan_id: str) -> Row:
        """Return a plan with the progress of each node."""
        plan: Row = self._http.get(f"{self._base}{plan_id}/")
        return plan

    def cancel(self, plan_id: str) -> Row:
        """Cancel a plan that runs, or release the pin of one that is done."""
        plan: Row = self._http.post(f"{self._base}{plan_id}/cancel/")
        return plan


class WarmSchedules:
    """`Client().datasets.warm_schedules`: plans that start at times."""

    def __init__(self, http: Http, project: str) -> None:
        """Schedules of one project."""
        self._http, self._base = http, f"projects/{quote(project, safe='')}/warm-schedules/"

    def create(self, dataset_base: str, ref: str, cluster: str, cron: str, **options: Any) -> Row:
        """Bring the newest version of a ref to nodes of a cluster at the times of `cron`.

        Options: timezone ("UTC"), nodes (names) or copies (1), rate_bytes_s, priority (0 to 100),
        deadline_s and keep_s (seconds after each time).
        """
        body = {"ref": ref, "cluster": cluster, "cron": cron, **options}
        row: Row = self._http.post(f"{dataset_base}warm-schedules/", body)
        return row

    def list(self) -> builtins.list[Row]:
        """Return the project's schedules, newest first."""
        return [*self._http.pages(self._base)]

    def get(self, schedule_id: str) -> Row:
        """Return a schedule with its next time."""
        row: Row = self._http.get(f"{self._base}{schedule_id}/")
        return row

    def pause(self, schedule_id: str) -> Row:
        """Start no plans until the schedule is resumed."""
        row: Row = self._http.post(f"{self._base}{schedule_id}/pause/")
        return row

    def resume(self, schedule_id: str) -> Row:
        """Start plans again, at the next time from now on."""
        row: Row = self._http.post(f"{self._base}{schedule_id}/resume/")
        return row

    def delete(self, schedule_id: str) -> None:
        """Remove a schedule; its plans stay."""
        self._http.delete(f"{self._base}{schedule_id}/")
