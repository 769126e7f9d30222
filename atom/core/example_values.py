"""Values for the examples of the API's description, by the names of fields: one small story.

A project `vision` has a dataset `digits`, whose first version a run trained a model with.
"""

from __future__ import annotations

from typing import Any

A_TIME = "2026-03-02T09:30:00Z"
AN_ID = "0195a3f2-7c41-7b3e-9d52-4f1c8a6e2b90"
A_DIGEST = "9f2c4a1be07d3358c6f1d2a4b5e8079c3d6f1a2b4c5e7f8091a2b3c4d5e6f708"

# Values for a field of this name, if its type and limits allow them.
VALUES: dict[str, tuple[Any, ...]] = {
    "accelerator": ("NVIDIA-A100-SXM4-80GB",),
    "accept": ("image/png",),
    "access_key_id": ("ATOM4F1C8A6E2B90",),
    "actor": ("lin",),
    "alias": ("candidate",),
    "artifact_path": ("model/",),
    "author": ("lin",),
    "author_name": ("Lin Wei",),
    "body": ("{}",),
    "branch": ("main",),
    "command": ("python train.py --epochs 5", ["python", "train.py"]),
    "commit": (A_DIGEST,),
    "color": ("#4c6ef5",),
    "content_digest": (A_DIGEST,),
    "currency": ("EUR",),
    "cursor": ("",),
    "dataset": ("digits", AN_ID),
    "dataset_ref": ("digits@v1",),
    "description": ("Handwritten digits, one folder for each.",),
    "detail": ("Nothing was found here.",),
    "digest": (A_DIGEST,),
    "email": ("lin@example.org",),
    "endpoint": ("https://s3.example.org",),
    "entry": ("train.py",),
    "epochs": (5,),
    "filename": ("metrics.csv",),
    "file_count": (70_000,),
    "link_count": (12,),
    "full_name": ("Lin Wei",),
    "guideline": ("Name the digit in the picture; skip what you cannot read.",),
    "head": (A_DIGEST,),
    "host": ("git.example.org",),
    "hour": (6,),
    "hotkey": ("1",),
    "idempotency_key": ("0195a3f2-submit-1",),
    "key": ("loss", "accuracy"),
    "label": ("7",),
    "language": ("en",),
    "message": ("Add the second half",),
    "model": ("digit-classifier",),
    "name": ("digits",),
    "next": (None,),
    "new_password": ("a longer sentence than before",),
    "number": (1,),
    "old_path": ("train/7/00041.png",),
    "organisation": ("Example", AN_ID),
    "parent": (None, A_DIGEST),
    "password": ("a sentence only you know",),
    "path": ("train/7/00042.png",),
    "prefix": ("train/", "4f1c8a6e"),
    "progress": (0.5,),
    "project": ("vision", AN_ID),
    "provenance": ({"tool": "atom 0.1"},),
    "query": ("state:failed",),
    "reason": ("Asked for by the audit.",),
    "ref": ("v1",),
    "region": ("eu-central-1",),
    "requirements": ("numpy==2.3.0",),
    "resource": ("nvidia.com/gpu",),
    "role": ("researcher",),
    "root": (A_DIGEST,),
    "root_digest": (A_DIGEST,),
    "scopes": (["write"],),
    "seed": (7,),
    "sha256": (A_DIGEST,),
    "size_bytes": (52_428_800,),
    "slug": ("vision",),
    "source": ("camera-bucket",),
    "split": ("train",),
    "stream": ("stdout",),
    "suggestion": ("Ask for less memory.",),
    "tags": (["baseline"],),
    "text": ("The loss rises after the third epoch.",),
    "time_zone": ("Europe/Berlin",),
    "title": ("Name the digits",),
    "url": ("https://example.org/hooks/atom",),
    "user": ("lin",),
    "username": ("lin",),
    "verb": ("run.created",),
    "version": (1, "v1"),
    "workflow": ("image-classification",),
}

_ONTOLOGY: dict[str, Any] = {
    "labels": [
        {
            "name": "car",
            "tools": ["box", "polygon"],
            "attributes": [
                {
                    "name": "colour",
                    "kind": "choice",
                    "choices": [{"name": "red"}, {"name": "blue"}],
                }
            ],
        }
    ],
    "guideline": "Draw each car, also those that are half hidden.",
}

# Bodies whose fields depend on each other, by the name of their schema.
BODIES: dict[str, dict[str, Any]] = {
    "AgentJoinRequest": {
        "cluster": AN_ID,
        "node": "gpu-1",
        "pod": "atom-agent-x7k2p",
        "pod_uid": AN_ID,
        "address": "http://10.0.0.7:7480",
        "version": "0.1.0",
    },
    "AgentReportRequest": {
        "sequence": 12,
        "disk": {
            "total_bytes": 2_000_000_000_000,
            "free_bytes": 1_200_000_000_000,
            "cache_bytes": 300_000_000_000,
            "limit_bytes": None,
            "is_read_only": False,
            "problem": "",
        },
        "packs": {AN_ID: [A_DIGEST]},
        "gpus": [],
        "xid_events": [],
    },
    "VolumeClaimRequest": {
        "volume": "csi-9f2c4a1be07d",
        "version": AN_ID,
        "input": "digits",
        "mode": "packs",
        "namespace": "atom-vision",
        "pod": "atom-0195a3f2-0-x7k2p",
        "pod_uid": AN_ID,
    },
    "HeldVolumesRequest": {"volumes": ["csi-9f2c4a1be07d"], "is_registered": True},
    "NewWarmPlanRequest": {"cluster": "west", "copies": 2},
    "NewWarmScheduleRequest": {
        "ref": "main",
        "cluster": "west",
        "copies": 2,
        "cron": "0 3 * * *",
        "timezone": "UTC",
    },
    "NewReplicaRequest": {"store": "frankfurt", "pinned": True},
    "PatchedReplicaEndRequest": {"pinned": True},
    "NewClusterRequest": {"name": "west", "in_cluster": True},
    "CredentialsRequest": {"in_cluster": True},
    "QuotasRequest": {
        "every_project": {"cpus": 64, "accelerators": {"nvidia.com/gpu": 8}},
        "projects": [{"project": "vision", "accelerators": {"nvidia.com/gpu": 16}}],
    },
    "RunQueuesRequest": {
        "every_project": {"cluster_queue": "research"},
        "projects": [{"project": "vision", "cluster_queue": "team-vision"}],
    },
    "ProfileChangesRequest": {
        "priority_class": "research",
        "tolerations": [
            {"key": "gpu", "operator": "Equal", "value": "a100", "effect": "NoSchedule"}
        ],
        "rdma_resource": "rdma/hca_shared_devices_a",
        "nccl": {"NCCL_IB_HCA": "mlx5"},
        "image_repository": "registry.example/atom/envs",
    },
    "CloneRequestRequest": {"name": "digits again", "parameters": {"epochs": 5}},
    "EditRequest": {
        "edits": [{"op": "remove", "paths": ["train/7/00042.png"]}],
        "message": "Remove a torn page",
    },
    "NewLabelTaskRequest": {
        "dataset": "digits@v1",
        "name": "Name the digits",
        "labels": [{"name": "0"}, {"name": "1"}],
        "guideline": "Name the digit in the picture; skip what you cannot read.",
    },
    "NewOntologyRequest": {"name": "Cars", **_ONTOLOGY},
    "NewOntologyVersionRequest": _ONTOLOGY,
    "DraftRequest": {
        "seq": 2,
        "base": 1,
        "patch": [{"op": "replace", "path": "/objects/0/label", "value": 7}],
    },
    "DecisionsRequest": {
        "decisions": [
            {
                "slot": AN_ID,
                "lease_no": 1,
                "revision": AN_ID,
                "verdict": "return",
                "issues": [{"object": "9f86d081884c7d65", "at": [120.5, 64], "text": "Too wide."}],
            }
        ]
    },
    "NewIssueRequest": {"object": "9f86d081884c7d65", "at": [120.5, 64], "text": "Too wide."},
    "NewSavedViewRequest": {"name": "sevens", "prefix": "train/7/"},
    "NewUnitRequest": {"name": "Vision", "parent": AN_ID},
    "PatchedDescriptionRequest": {"notes": "The loss rises after the third epoch."},
    "PickRequest": {"source": "v2", "paths": ["train/7/00042.png"], "message": "Take one file"},
    "ReadRequest": {"ids": [AN_ID]},
    "RunRequestRequest": {
        "name": "digits, five epochs",
        "workflow": "image-classification",
        "parameters": {"dataset": "digits@v1", "epochs": 5},
    },
    "RunTagsRequest": {"runs": [AN_ID], "add": ["baseline"]},
    "SubmitBatchRequest": {
        "submissions": [
            {
                "slot": AN_ID,
                "lease_no": 1,
                "idempotency_key": "0195a3f2-submit-1",
                "label_id": 7,
                "active_ms": 1800,
            }
        ]
    },
    "SubmitRequest": {
        "lease_no": 1,
        "idempotency_key": "0195a3f2-submit-1",
        "label_id": 7,
        "active_ms": 1800,
    },
}

# A field with a pattern gets the first of these that matches.
PATTERNED = (A_DIGEST, f"ranges/{A_DIGEST}.parquet", "digits", "DIGITS", "123456")
