"""Celery shims: an id comes in, an action is called. All are safe to repeat."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from celery import shared_task

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "jobs.tick": {"task": "jobs.tick", "schedule": 1.0},
    "jobs.unmount_ended": {"task": "jobs.unmount_ended", "schedule": 5.0},
    "jobs.tell_long_waits": {
        "task": "jobs.tell_long_waits",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "jobs.end_unbacked_shares": {
        "task": "jobs.end_unbacked_shares",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "jobs.resume_fetches": {"task": "jobs.resume_fetches", "schedule": 30.0},
    "jobs.remove_ended_placements": {
        "task": "jobs.remove_ended_placements",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "jobs.remove_old_attempts": {"task": "jobs.remove_old_attempts", "schedule": 60.0},
    "jobs.apply_run_retention": {"task": "jobs.apply_run_retention", "schedule": 3600.0},
}


@shared_task(name="jobs.tick", soft_time_limit=290, time_limit=300)
def tick() -> None:
    """Advance every run as far as it goes."""
    from atom.jobs import reconcile

    reconcile.tick()


@shared_task(name="jobs.tell_long_waits", soft_time_limit=50, time_limit=60)
def notify_long_waits() -> None:
    """Notify people whose runs have waited for long."""
    from atom.jobs.scheduling.actions import long_waits

    long_waits.notify_long_waits()


@shared_task(name="jobs.end_unbacked_shares", soft_time_limit=50, time_limit=60)
def end_unbacked_shares() -> None:
    """End the links to runs whose makers have lost the right to make them."""
    from atom.jobs.sharing.actions import shares

    shares.end_unbacked()


# Unpacking a large dataset, where only hard links can show it as a folder, takes its time.
@shared_task(name="jobs.launch_attempt", soft_time_limit=1790, time_limit=1800)
def launch_attempt(attempt_id: str) -> None:
    """Start an attempt's supervisor."""
    from atom.jobs.attempts.actions.launch import launch

    launch(UUID(attempt_id))


@shared_task(name="jobs.bring_data", soft_time_limit=50, time_limit=60)
def bring_data(attempt_id: str) -> None:
    """Start warm-up plans for an attempt that waits for its data."""
    from atom.jobs.scheduling.actions import gate_plans

    gate_plans.bring_data(UUID(attempt_id))


@shared_task(name="jobs.ungate_placement", soft_time_limit=110, time_limit=120)
def ungate_placement(placement_id: str) -> None:
    """Let a Job through that its queue held back until its data was there."""
    from atom.jobs.scheduling.actions import queue_gates

    queue_gates.ungate(UUID(placement_id))


@shared_task(name="jobs.build_runtime")
def build_runtime(runtime_id: str) -> None:
    """Build a runtime with pip."""
    from atom.jobs.runtimes.actions.runtimes import build

    build(UUID(runtime_id))


@shared_task(name="jobs.start_environment_build", soft_time_limit=110, time_limit=120)
def start_environment_build(build_id: str) -> None:
    """Ask a cluster for the Job that builds an environment."""
    from atom.jobs.executors import start_build

    start_build(UUID(build_id))


@shared_task(name="jobs.verify_environment", soft_time_limit=1790, time_limit=1800)
def verify_environment(build_id: str) -> None:
    """Hash the archive of a built environment, push its image, and let the runs go on."""
    from atom.jobs.runtimes.actions import build_results

    build_results.verify(UUID(build_id))


@shared_task(name="jobs.look_for_image", soft_time_limit=50, time_limit=60)
def look_for_image(runtime_id: str) -> None:
    """Have an environment built again whose image is gone from its registry."""
    from atom.jobs.runtimes.actions import cluster_images

    cluster_images.look_for_image(UUID(runtime_id))


@shared_task(name="jobs.fetch_code", soft_time_limit=890, time_limit=900)
def fetch_code(fetch_id: str) -> None:
    """Fetch a commit from git."""
    from atom.jobs.code.actions import code_fetches

    code_fetches.run_fetch(UUID(fetch_id))


@shared_task(name="jobs.resume_fetches", soft_time_limit=25, time_limit=30)
def resume_fetches() -> None:
    """Send again what no worker fetches."""
    from atom.jobs.code.actions import code_fetches

    code_fetches.resume_fetches()


@shared_task(name="jobs.flush_log", soft_time_limit=290, time_limit=300)
def flush_log(attempt_id: str) -> None:
    """Move an attempt's log from the stream into chunks."""
    from atom.jobs.logs.actions import logs

    logs.flush(UUID(attempt_id))


@shared_task(name="jobs.verify_output")
def verify_output(artifact_id: str) -> None:
    """Hash an uploaded file and make it durable."""
    from atom.jobs.artifacts.actions import outputs

    outputs.verify(UUID(artifact_id))


@shared_task(name="jobs.unmount_ended", soft_time_limit=290, time_limit=300)
def unmount_ended() -> None:
    """Take away the mounted folders of ended attempts."""
    from atom.jobs.executors.local import node_cleanup

    node_cleanup.unmount_ended()


@shared_task(name="jobs.remove_ended_placements", soft_time_limit=290, time_limit=300)
def remove_ended_placements() -> None:
    """Delete the Jobs of ended placements from their clusters."""
    from atom.jobs.executors.kubernetes import removal

    removal.remove_ended()


@shared_task(name="jobs.remove_old_attempts", soft_time_limit=290, time_limit=300)
def remove_old_attempts() -> None:
    """Remove what ended attempts left on this machine."""
    from atom.jobs.executors.local import node_cleanup

    node_cleanup.remove_old_attempts()


@shared_task(name="jobs.apply_run_retention", soft_time_limit=1790, time_limit=1800)
def apply_run_retention() -> None:
    """Remove logs and outputs that a policy lets go, and environments that no run used for long."""
    from atom.core import clock
    from atom.jobs.artifacts.actions import run_retention
    from atom.jobs.runtimes.actions import archive_retention

    run_retention.apply_run_retention()
    archive_retention.remove_unused(clock.now())


@shared_task(name="jobs.try_pod", soft_time_limit=280, time_limit=290)
def try_pod(cluster_id: str, asked_at: str) -> None:
    """Try whether a pod of a cluster reaches Atom, and whether another one has RDMA."""
    from atom.jobs.executors.kubernetes import pod_check

    pod_check.try_pod(UUID(cluster_id), asked_at)


@shared_task(name="jobs.write_quotas", soft_time_limit=110, time_limit=120)
def write_quotas(cluster_id: str) -> None:
    """Write changed quotas to the namespaces of a cluster's open Jobs."""
    from atom.jobs.executors.kubernetes import resource_quotas

    resource_quotas.sync_open_quotas(UUID(cluster_id))
