"""One of everything that has an address, for tests that walk all addresses."""

from __future__ import annotations

from typing import Any

from atom.accounts import actions
from atom.accounts.actions.invitations import invite
from atom.accounts.actions.service_accounts import create_service_account
from atom.accounts.models import Project, Session, User
from atom.cache.models import NodeVolume, WarmPlan, WarmSchedule
from atom.cleaning.engines.findings import SCHEMA as FINDINGS
from atom.cleaning.engines.findings import write_findings
from atom.cleaning.models import CleaningReport
from atom.clusters.actions import ensure_local_node
from atom.clusters.models import Cluster
from atom.core import outbox
from atom.core.clock import now
from atom.core.storage import project_store
from atom.datasets.models import (
    CommitRequest,
    GarbageRun,
    LegalHold,
    Replica,
    SavedView,
    Source,
    SourceScan,
    Store,
    Upload,
    WriteJob,
    Writer,
)
from atom.jobs.models import Artifact, CodeFetch, CodeSnapshot, RunComment
from atom.jobs.sharing.actions.shares import share_run
from atom.labeling.actions.issues import NewIssue, open_issue
from atom.labeling.models import GuidelinePicture, LabelTransfer, WorkSlot
from atom.models_registry.models import Alias, Model, ModelVersion
from atom.notifications.actions import fan_out
from atom.webhooks.models import Delivery, Webhook
from tests.factories.jobs import make_attempt, make_run
from tests.factories.labeling import make_task


def one_of_everything(project: Project, owner: User, word: str) -> dict[str, Any]:
    """Return the parameters of all addresses, by name; whatever has a name is named `word`."""
    task = make_task(project=project, creator=owner, name=f"{word} task")
    version = task.dataset_version
    dataset = version.dataset
    run = make_run(project, owner, name=f"{word} run")
    upload = Upload.objects.create(
        dataset=dataset, kind="pack", digest="a" * 64, size_bytes=1, part_size_bytes=1, key="k"
    )
    hold = LegalHold.objects.create(dataset=dataset, reason=word)
    view = SavedView.objects.create(dataset=dataset, name=f"{word}-view", prefix="a/")
    garbage_run = GarbageRun.objects.create(project=project)
    commit = CommitRequest.objects.create(dataset=dataset, branch="main", changes_upload=upload)
    writer = Writer.objects.create(dataset=dataset, target="main", staging=f"staging.{word}")
    write_job = WriteJob.objects.create(dataset=dataset, name=word, target="main")
    source = Source.objects.create(
        project=project, dataset=dataset, name=f"{word}-bucket", url="s3://bucket/"
    )
    code = CodeSnapshot.objects.create(project=project, digest="b" * 64, size_bytes=1, key="c")
    model = Model.objects.create(project=project, name=f"{word}-model")
    model_version = ModelVersion.objects.create(
        model=model, number=1, run=run, artifact_path="model/", size_bytes=1, digest="d" * 64
    )
    Alias.objects.create(model=model, name="candidate", version=model_version)
    report = CleaningReport.objects.create(version=version, state="ready")
    nothing = write_findings(FINDINGS.empty_table())
    project_store(project).put(report.findings_key, nothing)
    webhook = Webhook.objects.create(
        project=project, name=word, url=f"https://{word}.example/", events=[]
    )
    cluster = Cluster.objects.create(
        name=f"{word}-cluster", kind="kubernetes", state="registering", all_projects=False
    )
    cluster.projects.add(project)
    plan = WarmPlan.objects.create(project=project, version=version, cluster=cluster)
    schedule = WarmSchedule.objects.create(
        project=project, dataset=version.dataset, ref="main", cluster=cluster, cron="0 3 * * *"
    )
    # Everybody may read the name of a store.
    store, _ = Store.objects.get_or_create(
        name="frankfurt", defaults={"endpoint": "https://s3.example.org", "bucket": "mirror"}
    )
    Replica.objects.create(version=version, store=store, state="there", pinned=True)
    shared = share_run(run, owner, days=7, note=word, with_log=True)
    outbox.emit(project.pk, "run.failed", people=[owner.pk], name=word)
    fan_out.tick()
    return {
        "project": project.slug,
        "unit_id": project.unit.pk,
        "user_id": owner.pk,
        "invitation_id": invite(project, owner, "viewer", "", 7).invitation.pk,
        "account_id": create_service_account(project, word, "viewer", owner).pk,
        "session_id": Session.objects.create(
            session_key=word, user=owner, expire_date=now()
        ).public_id,
        "webhook_id": webhook.pk,
        "link": "x.y",
        "delivery_id": Delivery.objects.create(webhook=webhook, kind="x", body="{}").pk,
        "dataset": dataset.name,
        "dataset_id": dataset.pk,
        "ref": version.ref,
        "upload_id": upload.pk,
        "commit_id": commit.pk,
        "operation_id": commit.pk,
        "hold_id": hold.pk,
        "view": view.name,
        "writer_id": writer.pk,
        "write_job_id": write_job.pk,
        "garbage_run_id": garbage_run.pk,
        "source": source.name,
        "store": store.name,
        "scan_id": SourceScan.objects.create(source=source, state="done").pk,
        "run_id": run.pk,
        "comment_id": RunComment.objects.create(run=run, author=owner, text=word).pk,
        "share_id": shared.share.pk,
        "share_token": shared.token,
        "file_id": Artifact.objects.create(
            run=run, attempt=make_attempt(run), path=word, size_bytes=1, kind="output"
        ).pk,
        "snapshot_id": code.pk,
        "cluster": cluster.name,
        "plan_id": plan.pk,
        "schedule_id": schedule.pk,
        "machine_id": ensure_local_node().pk,
        "volume": NodeVolume.objects.create(
            node=ensure_local_node(), volume=f"csi-{word}", version=plan.version, mode="packs"
        ).volume,
        "fetch_id": CodeFetch.objects.create(project=project, url="https://host/code").pk,
        "model": model.name,
        "number": 1,
        "name": "main",
        "alias": "candidate",
        "ontology_id": task.ontology_version.ontology_id,
        "picture_id": GuidelinePicture.objects.create(
            project=project,
            sha256=b"p" * 32,
            media_type="image/png",
            size_bytes=1,
            width=1,
            height=1,
        ).pk,
        "task_id": task.pk,
        "slot_id": WorkSlot.objects.filter(label_task=task).values_list("pk", flat=True)[0],
        "item_id": task.items.values_list("pk", flat=True)[0],
        "issue_id": open_issue(task.items.all()[0], owner, NewIssue(word)).pk,
        "token_id": actions.create_token(owner, word, ["read"]).token.pk,
        "s3_key_id": actions.create_s3_key_pair(owner, word, project).pair.pk,
        "slug": "image-classification",
        "report_id": report.pk,
        "transfer_id": LabelTransfer.objects.create(
            project=project, dataset=dataset, direction="import", branch="main", format="coco"
        ).pk,
    }
