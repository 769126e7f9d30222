"""Pages whose accessibility vitest checks; the browser asks them for colours and layout alone.

`frontend/src/test/axe.ts` asks every rule of axe but colour contrast and landmarks around a page. A
page stands here if a test renders its whole component and asks. All other pages, and with them the
shell around each, are asked everything in the browser.
"""

from __future__ import annotations

from pathlib import Path

from atom.settings.environment import BASE_DIR

FEATURES: Path = BASE_DIR / "frontend" / "src" / "features"
_BROWSE = "datasets/operations/pets.tsx"
# The test that asks axe, and the component that it renders.
CHECKED_BY_VITEST: dict[str, tuple[str, str]] = {
    "overview": ("overview/needs.test.tsx", "OverviewPage"),
    "notifications": ("notifications/notifications.test.tsx", "NotificationsPage"),
    "notification-settings": ("notifications/notifications.test.tsx", "PreferencesPage"),
    "datasets": ("datasets/list/list.test.tsx", "DatasetsPage"),
    "deleted-datasets": ("datasets/keeping/keeping.test.tsx", "DeletedPage"),
    "sources": ("datasets/sources/sources.test.tsx", "SourcesPage"),
    "dataset": ("datasets/browse/picking.test.tsx", "BrowsePage"),
    "dataset-folder": ("datasets/browse/picking.test.tsx", "BrowsePage"),
    "versions": ("datasets/operations/merges.test.tsx", "VersionsPage"),
    "item": ("datasets/item/item.test.tsx", "ItemPage"),
    "uploads": ("datasets/upload/upload.test.tsx", "UploadPage"),
    "diff": ("datasets/diff/diff.test.tsx", "DiffPage"),
    "cleaning": ("datasets/cleaning/cleaning.test.tsx", "CleaningPage"),
    "warm-up": ("datasets/warmup/warmup.test.tsx", "WarmUpPage"),
    "warm-plans": ("datasets/warmup/warmup.test.tsx", "PlansPage"),
    "import": ("datasets/importing/importing.test.tsx", "ImportPage"),
    "keeping": ("datasets/keeping/keeping.test.tsx", "KeepingPage"),
    "activity": ("datasets/activity/activity.test.tsx", "ActivityPage"),
    "labeling": ("labeling/tasks.test.tsx", "TasksPage"),
    "task-open": ("labeling/tasks.test.tsx", "TaskPage"),
    "task-published": ("labeling/tasks.test.tsx", "TaskPage"),
    "work": ("labeling/work.test.tsx", "WorkPage"),
    "audit": ("labeling/auditPage.test.tsx", "AuditPage"),
    "runs": ("jobs/pages.test.tsx", "RunsPage"),
    "run-log": ("jobs/pages.test.tsx", "RunPage"),
    "run-failed": ("jobs/pages.test.tsx", "RunPage"),
    "new-run": ("jobs/pages.test.tsx", "NewRunPage"),
    "new-run-parameters": ("jobs/pages.test.tsx", "NewRunPage"),
    "queue": ("jobs/runs.test.tsx", "QueuePage"),
    "run-retention": ("jobs/keeping/keeping.test.tsx", "RunRetentionPage"),
    "compare": ("jobs/compare/compare.test.tsx", "ComparePage"),
    "run-shares": ("project/shares/shares.test.tsx", "ProjectSharesPage"),
    "models": ("models/pages.test.tsx", "ModelsPage"),
    "model": ("models/pages.test.tsx", "ModelPage"),
    "model-version": ("models/pages.test.tsx", "ModelVersionPage"),
    "secrets": ("project/secrets/secrets.test.tsx", "SecretsPage"),
    "webhooks": ("project/webhooks/webhooks.test.tsx", "WebhooksPage"),
    "garbage": ("administration/garbage/garbage.test.tsx", "GarbagePage"),
    "audit-log": ("administration/audit/audit.test.tsx", "AuditLogPage"),
    "stores": ("administration/stores/stores.test.tsx", "StoresPage"),
    "clusters": ("administration/clusters/clusters.test.tsx", "ClustersPage"),
    "cluster": ("administration/clusters/clusters.test.tsx", "ClusterPage"),
    "health": ("administration/health/health.test.tsx", "HealthPage"),
    "members": ("project/members/members.test.tsx", "ProjectMembersPage"),
    "units": ("administration/people/people.test.tsx", "UnitsPage"),
    "account": ("account/account.test.tsx", "AccountPage"),
}


def is_pending(test: str, component: str) -> bool:
    """Return whether a test of the portal renders a component and asks axe about it."""
    text = (FEATURES / test).read_text()
    # Three tests of datasets open their page through a helper.
    rendered = text if f"<{component}" in text else (FEATURES / _BROWSE).read_text()
    return "expectNoViolations(" in text and f"<{component}" in rendered
