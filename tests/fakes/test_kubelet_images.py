"""Images that fail, and everything else for which a container waits."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from .kubelet.playground import Playground, state_of

Json = dict[str, Any]


def test_an_image_that_cannot_be_pulled_is_tried_again(ground: Playground) -> None:
    image = "registry.test/x:1"
    ground.kubelet.images.forbid(image)
    pod = ground.pod("echo hi", main={"image": image})
    words = (
        f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": failed '
        'to do request: Head "http://registry.test/v2/x/manifests/1": dial tcp registry.test: '
        "connect: connection refused"
    )
    assert ground.until_waiting(pod, "ErrImagePull")["message"] == words
    back = ground.until_waiting(pod, "ImagePullBackOff")
    assert back["message"] == f'Back-off pulling image "{image}": ErrImagePull: {words}'
    ground.kubelet.images.allow(image)
    assert ground.output(ground.until_ended(pod)) == "hi\n"
    reasons = [reason for reason, _ in ground.events(pod)]
    assert {"Pulling", "Failed", "BackOff"} <= set(reasons)


def test_a_slow_pull_lasts_until_it_is_released(ground: Playground) -> None:
    gate = ground.kubelet.images.hold("slow:1")
    pod = ground.pod("echo hi", main={"image": "slow:1"})
    ground.until_waiting(pod, "ContainerCreating")
    assert ground.output(pod) == ""
    gate.set()
    assert ground.output(ground.until_ended(pod)) == "hi\n"


def test_names_that_are_none_and_images_that_may_not_be_pulled(ground: Playground) -> None:
    pod = ground.pod("true", main={"image": "Train:1"}, name="big")
    message = ground.until_waiting(pod, "InvalidImageName")["message"]
    assert message.endswith("repository name (library/Train) must be lowercase")
    ground.kubelet.images.forbid("nope:1")
    pod = ground.pod("true", main={"image": "nope:1", "imagePullPolicy": "Never"})
    message = ground.until_waiting(pod, "ErrImageNeverPull")["message"]
    assert message == 'Container image "nope:1" is not present with pull policy of Never'


@pytest.mark.parametrize("reason", ["CreateContainerError", "RunContainerError"])
def test_a_runtime_that_fails_is_asked_again(ground: Playground, reason: str) -> None:
    image = f"{reason.lower()}:1"
    ground.kubelet.images.fail(image, reason, "failed to reserve container name")
    pod = ground.pod("echo hi", main={"image": image})
    assert ground.until_waiting(pod, reason)["message"] == "failed to reserve container name"
    ground.kubelet.images.allow(image)
    assert ground.output(ground.until_ended(pod)) == "hi\n"


def _pull_secret(auth: Json) -> Json:
    text = json.dumps({"auths": {"private.test": auth}})
    return {".dockerconfigjson": base64.b64encode(text.encode()).decode()}


@pytest.mark.parametrize("by", ["pod", "account"])
@pytest.mark.parametrize("form", ["parts", "joined"])
def test_a_private_image_needs_the_right_pull_secret(
    ground: Playground, by: str, form: str
) -> None:
    ground.kubelet.images.make_private("private.test", "me", "open:sesame")
    joined = base64.b64encode(b"me:open:sesame").decode()
    auth = {"username": "me", "password": "open:sesame"} if form == "parts" else {"auth": joined}
    space, cluster = ground.namespace(), ground.cluster
    for name, data in (("right", auth), ("wrong", {"username": "me", "password": "no"})):
        body = {"metadata": {"name": name}, "data": _pull_secret(data)}
        cluster.create("secrets.", body, space)
    main = {"image": "private.test/x:1"}
    wrong = ground.pod(
        "true", space, main=main, name="w", imagePullSecrets=[{"name": "wrong"}, {"name": "no"}]
    )
    assert "authorization failed" in ground.until_waiting(wrong, "ErrImagePull")["message"]
    secrets = [{"name": "right"}]
    if by == "account":
        accounts = cluster.machinery.kind("serviceaccounts.")
        cluster.machinery.replace(
            accounts, (space, "default"), lambda old: old | {"imagePullSecrets": secrets}
        )
        assert ground.run("echo in", space, main=main) == "in\n"
    else:
        assert ground.run("echo in", space, main=main, imagePullSecrets=secrets) == "in\n"


def test_references_that_lead_nowhere_keep_a_container_waiting(ground: Playground) -> None:
    space = ground.namespace()
    reference = {"secretKeyRef": {"name": "absent", "key": "k"}}
    pod = ground.pod("echo $A", space, main={"env": [{"name": "A", "valueFrom": reference}]})
    message = ground.until_waiting(pod, "CreateContainerConfigError")["message"]
    assert message == 'secret "absent" not found'
    data = {"k": base64.b64encode(b"here").decode()}
    ground.cluster.create("secrets.", {"metadata": {"name": "absent"}, "data": data}, space)
    assert ground.output(ground.until_ended(pod)) == "here\n"


def test_an_image_that_would_run_as_root_is_refused(ground: Playground) -> None:
    pod = ground.pod("true", securityContext={"runAsNonRoot": True})
    message = ground.until_waiting(pod, "CreateContainerConfigError")["message"]
    title = f"p_{pod['metadata']['namespace']}({pod['metadata']['uid']})"
    assert message == (
        f'container has runAsNonRoot and image will run as root (pod: "{title}", container: main)'
    )


def test_a_command_that_is_absent_fails_the_pod(ground: Playground) -> None:
    pod = ground.until_ended(ground.pod("", main={"command": ["/nope"]}))
    ended = state_of(pod)["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (128, "StartError")
    assert ended["message"].endswith(
        'exec: "/nope": stat /nope: no such file or directory: unknown'
    )
    pod = ground.until_ended(ground.pod("", main={"command": ["nope"]}))
    message = state_of(pod)["terminated"]["message"]
    assert 'exec: "nope": executable file not found in $PATH' in message


def test_volumes_that_cannot_be_mounted_are_tried_again(ground: Playground) -> None:
    space = ground.namespace()
    pod = ground.pod(
        "cat /v/k",
        space,
        main={"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
        volumes=[{"name": "v", "secret": {"secretName": "absent"}}],
    )
    ground.until_waiting(pod, "ContainerCreating")
    data = {"k": base64.b64encode(b"here").decode()}
    ground.cluster.create("secrets.", {"metadata": {"name": "absent"}, "data": data}, space)
    assert ground.output(ground.until_ended(pod)) == "here"


def test_drivers_of_inline_volumes_fill_them(ground: Playground) -> None:
    def driver(folder: Any, attributes: Json, pod: Json) -> None:
        (folder / "note").write_text(f"{attributes['version']} for {pod['metadata']['name']}")

    ground.kubelet.drivers["data.test"] = driver
    csi = {"driver": "data.test", "readOnly": True, "volumeAttributes": {"version": "v3"}}
    output = ground.run(
        "cat /v/note",
        main={"volumeMounts": [{"name": "v", "mountPath": "/v", "readOnly": True}]},
        volumes=[{"name": "v", "csi": csi}],
    )
    assert output == "v3 for p"
