"""The classes and codes of failures; a page has a sentence for each code in each language."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

OOM_HOST: Final = "OOM_HOST"
USER_CODE: Final = "USER_CODE"
COMMAND_NOT_FOUND: Final = "COMMAND_NOT_FOUND"
DATA_WARMUP: Final = "DATA_WARMUP"
RUNTIME_BUILD: Final = "RUNTIME_BUILD"
PREPARATION: Final = "PREPARATION"
RUNNER_LOST: Final = "RUNNER_LOST"
NODE_LOST: Final = "NODE_LOST"
NODE_DISK: Final = "NODE_DISK"
DEADLINE: Final = "DEADLINE"
BAD_PARAMETERS: Final = "BAD_PARAMETERS"
BAD_DATA: Final = "BAD_DATA"
BAD_MODEL: Final = "BAD_MODEL"
OOM_GPU: Final = "OOM_GPU"
RESULT_REFUSED: Final = "RESULT_REFUSED"
# Causes that only a cluster has.
IMAGE_PULL: Final = "IMAGE_PULL"
VOLUME: Final = "VOLUME"
UNSCHEDULABLE: Final = "UNSCHEDULABLE"
PREEMPTED: Final = "PREEMPTED"
EVICTED: Final = "EVICTED"
JOB_VANISHED: Final = "JOB_VANISHED"
# A run on several nodes did not get all of them in its time.
GANG_INCOMPLETE: Final = "GANG_INCOMPLETE"
# A person moved the run to another cluster.
MOVED: Final = "MOVED"

FAILURE_CLASSES: Final = (
    OOM_HOST, USER_CODE, COMMAND_NOT_FOUND, DATA_WARMUP, RUNTIME_BUILD, PREPARATION, RUNNER_LOST,
    NODE_LOST, NODE_DISK, DEADLINE, BAD_PARAMETERS, BAD_DATA, BAD_MODEL, OOM_GPU, RESULT_REFUSED,
    IMAGE_PULL, VOLUME, UNSCHEDULABLE, PREEMPTED, EVICTED, JOB_VANISHED, GANG_INCOMPLETE, MOVED,
)  # fmt: skip

# Not the fault of the code or of what was asked for: the same attempt may well succeed.
RETRIED: Final = frozenset(
    {RUNNER_LOST, NODE_LOST, PREEMPTED, EVICTED, JOB_VANISHED, GANG_INCOMPLETE, MOVED}
)
# The machine was taken away or lost, or a person chose another: no retry is used up. Lost machines
# in a row are counted by themselves.
UNCOUNTED: Final = frozenset({PREEMPTED, EVICTED, NODE_LOST, GANG_INCOMPLETE, MOVED})


class FailureCode(StrEnum):
    """Which sentence a failure has: a page says it in its reader's language, from the params."""

    OUT_OF_MEMORY = "out_of_memory"
    DEADLINE = "deadline"
    COMMAND_NOT_FOUND = "command_not_found"
    NOT_PREPARED = "not_prepared"
    SIGNALLED = "signalled"
    EXITED = "exited"
    EXITED_WITH_ERROR = "exited_with_error"
    NOT_LAUNCHED = "not_launched"
    SECRETS_MISSING = "secrets_missing"
    NOTHING_SELECTED = "nothing_selected"
    NOT_MOUNTED = "not_mounted"
    RUNNER_LOST = "runner_lost"
    MOVED = "moved"
    GANG_INCOMPLETE = "gang_incomplete"
    NODE_LOST = "node_lost"
    MACHINES_LOST = "machines_lost"
    DISK_FULL = "disk_full"
    DISK_READ_ONLY = "disk_read_only"
    DISK_FAILING = "disk_failing"
    DATA_WARMUP = "data_warmup"
    RUNTIME_BUILD = "runtime_build"
    # Codes of environments that become images; see image_failures.
    BASE_IMAGE_DENIED = "base_image_denied"
    BASE_IMAGE_MISSING = "base_image_missing"
    BASE_IMAGE_UNFIT = "base_image_unfit"
    REGISTRY_DENIED = "registry_denied"
    REGISTRY_FULL = "registry_full"
    REGISTRY_AWAY = "registry_away"
    REGISTRY_NOT_PUBLIC = "registry_not_public"
    REGISTRY_REFUSED = "registry_refused"
    # Codes of what a cluster did; see cluster_failures.
    PREEMPTED = "preempted"
    EVICTED = "evicted"
    NODE_PRESSURE = "node_pressure"
    POD_DELETED = "pod_deleted"
    DISRUPTED = "disrupted"
    JOB_VANISHED = "job_vanished"
    IMAGE_NOT_PULLED = "image_not_pulled"
    VOLUME_NOT_MOUNTED = "volume_not_mounted"
    UNSCHEDULABLE = "unschedulable"
    CONTAINER_NOT_STARTED = "container_not_started"
    CLUSTER_ENDED_IT = "cluster_ended_it"
    POD_REFUSED = "pod_refused"
    POD_NOT_PREPARED = "pod_not_prepared"
    POD_NOT_REPORTED = "pod_not_reported"
    # Codes that a workflow itself declares; see known_failures.
    NO_LABELS = "no_labels"
    ONE_CLASS = "one_class"
    SPLIT_EMPTY = "split_empty"
    NOTHING_READABLE = "nothing_readable"
    GPU_OUT_OF_MEMORY = "gpu_out_of_memory"
    MODEL_WITHOUT_DESCRIPTION = "model_without_description"
    MODEL_OF_ANOTHER_PROGRAM = "model_of_another_program"
    MODEL_DAMAGED = "model_damaged"
    NO_VIDEOS = "no_videos"
    NO_READABLE_VIDEO = "no_readable_video"
    OUTPUT_IS_INPUT = "output_is_input"
    RESULT_NOT_PUSHED = "result_not_pushed"
    IMPORT_REFUSED = "import_refused"
    NO_OBJECTS = "no_objects"
    EXPORT_DIFFERS = "export_differs"
    NOT_A_DETECTOR = "not_a_detector"


FAILURE_CODES: Final = tuple(str(code) for code in FailureCode)
