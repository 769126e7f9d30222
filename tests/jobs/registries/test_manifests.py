"""Manifests: the one of a platform is chosen, and a layer is added."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atom.jobs.registries.engines.manifests import (
    DOCKER_MANIFEST,
    OCI_MANIFEST,
    Blob,
    Image,
    Layer,
    WrongManifestError,
    append,
    blob_of,
    choose,
    decode,
    digest_of,
    image_of,
)

Json = dict[str, Any]
D = "sha256:" + "1" * 64
ROW: Json = {"mediaType": "x", "digest": D, "size": 5}
LAYER = Layer(Blob("sha256:" + "2" * 64, 7), "sha256:" + "3" * 64)


def row(digit: str, **platform: str) -> Json:
    return {"digest": f"sha256:{digit * 64}", "size": 1, "platform": platform}


def test_the_manifest_of_the_nodes_platform_is_chosen() -> None:
    index = {
        "manifests": [
            row("0", os="unknown", architecture="unknown"),
            row("1", os="windows", architecture="amd64"),
            row("2", os="linux", architecture="arm64", variant="v8"),
            row("3", os="linux", architecture="amd64"),
            "nothing",
        ]
    }
    assert choose(index, "x86_64") == Blob("sha256:" + "3" * 64, 1)
    assert choose(index, "aarch64") == Blob("sha256:" + "2" * 64, 1)
    assert choose(index, "s390x") is None
    assert choose({"manifests": 7}, "x86_64") is None


def base(media_type: str, **more: Any) -> Image:
    manifest = {"schemaVersion": 2, "config": ROW, "layers": [ROW], **more}
    config = {"os": "linux", "rootfs": {"type": "layers", "diff_ids": [D]}, "config": {"User": "a"}}
    return image_of(media_type, manifest, config)


@pytest.mark.parametrize(
    ("media_type", "layer_type"),
    [(OCI_MANIFEST, "application/vnd.oci.image.layer.v1.tar+gzip"),
     (DOCKER_MANIFEST, "application/vnd.docker.image.rootfs.diff.tar.gzip")],
)  # fmt: skip
def test_a_layer_is_added_on_top_in_the_family_of_the_base(
    media_type: str, layer_type: str
) -> None:
    content, config = append(base(media_type, annotations={"a": "b"}), [LAYER], "me")
    manifest, made = json.loads(content), json.loads(config)
    assert manifest["layers"] == [
        ROW,
        {"mediaType": layer_type, "digest": LAYER.blob.digest, "size": 7},
    ]
    assert manifest["mediaType"] == media_type
    assert manifest["config"]["digest"] == digest_of(config)
    assert manifest["config"]["size"] == len(config)
    assert "annotations" not in manifest
    assert made["rootfs"]["diff_ids"] == [D, LAYER.diff_id]
    assert made["config"] == {"User": "a"}
    assert made["history"] == [{"created": "1980-01-01T00:00:00Z", "created_by": "me"}]
    assert append(base(media_type, annotations={}), [LAYER], "me") == (content, config)


@pytest.mark.parametrize("text", [b"", b"[]", b"7", b"[" * 100_000, b"\xff"])
def test_a_document_that_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(WrongManifestError):
        decode(text)


@pytest.mark.parametrize(
    "wrong",
    [None, {}, {"digest": D}, {"digest": D, "size": -1}, {"digest": D, "size": "5"},
     {"digest": "sha512:" + "1" * 128, "size": 5}, {"digest": "sha256:1", "size": 5}],
)  # fmt: skip
def test_a_descriptor_that_is_none_is_refused(wrong: object) -> None:
    with pytest.raises(WrongManifestError):
        blob_of(wrong)


@pytest.mark.parametrize(
    ("manifest", "config"),
    [({}, {}), ({"layers": [ROW]}, {"rootfs": {"diff_ids": []}}), ({"layers": 7}, {"rootfs": 7}),
     ({"layers": ["x"]}, {"rootfs": {"diff_ids": [D]}})],
)  # fmt: skip
def test_parts_that_do_not_fit_are_refused(manifest: Json, config: Json) -> None:
    with pytest.raises(WrongManifestError):
        image_of(OCI_MANIFEST, manifest, config)
