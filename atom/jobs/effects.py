"""Work that a worker does after commit; tasks go by name, so that actions import none."""

from __future__ import annotations

from uuid import UUID

from atom.core.background import enqueue

_TASKS = "atom.jobs.tasks"


def wake() -> None:
    """Have the reconciler look now instead of at its next second."""
    enqueue(f"{_TASKS}.tick")


def launch(attempt_id: UUID) -> None:
    """Have an attempt's supervisor started."""
    enqueue(f"{_TASKS}.launch_attempt", str(attempt_id))


def bring_data(attempt_id: UUID) -> None:
    """Have nodes of its cluster warmed for an attempt that waits for its data."""
    enqueue(f"{_TASKS}.bring_data", str(attempt_id))


def ungate(placement_id: UUID) -> None:
    """Have a queue let the Job of a placement through."""
    enqueue(f"{_TASKS}.ungate_placement", str(placement_id))


def build(runtime_id: UUID) -> None:
    """Have a runtime built."""
    enqueue(f"{_TASKS}.build_runtime", str(runtime_id))


def start_build(build_id: UUID) -> None:
    """Have a cluster asked to build an environment."""
    enqueue(f"{_TASKS}.start_environment_build", str(build_id))


def verify_build(build_id: UUID) -> None:
    """Have the archive of a built environment hashed, and its image pushed."""
    enqueue(f"{_TASKS}.verify_environment", str(build_id))


def look_for_image(runtime_id: UUID) -> None:
    """Have the image of an environment looked for in its registry."""
    enqueue(f"{_TASKS}.look_for_image", str(runtime_id))


def flush(attempt_id: UUID) -> None:
    """Have an attempt's log moved into chunks."""
    enqueue(f"{_TASKS}.flush_log", str(attempt_id))


def verify(artifact_id: UUID) -> None:
    """Have an uploaded file hashed."""
    enqueue(f"{_TASKS}.verify_output", str(artifact_id))


def try_pod(cluster_id: UUID, asked_at: str) -> None:
    """Have a pod tried in a cluster."""
    enqueue(f"{_TASKS}.try_pod", str(cluster_id), asked_at)


def write_quotas(cluster_id: UUID) -> None:
    """Have changed quotas written to the namespaces of a cluster's open Jobs."""
    enqueue(f"{_TASKS}.write_quotas", str(cluster_id))
