"""Pods that run for real: environment, volumes, signals, restarts, logs and ends."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from .kubelet.environment import expand
from .kubelet.names import hosts_of
from .kubelet.playground import Playground, conditions_of, state_of
from .kubelet.waiting import wait_for
from .kubernetes.logs import PREVIOUS

Json = dict[str, Any]

_TRAP = 'trap "echo got TERM; exit 143" TERM; echo up; while :; do sleep 0.05; done'


def until_up(ground: Playground, pod: Json, word: str = "up") -> Json:
    """Return a running pod that has written a word."""
    running = ground.until(pod, "Running")
    wait_for(lambda: word in ground.output(running))
    return running


def test_a_pod_runs_and_its_status_says_so(ground: Playground) -> None:
    pod = ground.until_ended(ground.pod("echo out; echo err >&2"))
    assert ground.output(pod) == "out\nerr\n"
    (status,) = pod["status"]["containerStatuses"]
    assert status["state"]["terminated"]["reason"] == "Completed"
    assert status["containerID"].startswith("containerd://")
    assert status["imageID"].startswith("sha256:")
    assert conditions_of(pod) == {
        "PodReadyToStartContainers": ("False", ""),
        "Initialized": ("True", "PodCompleted"),
        "Ready": ("False", "PodCompleted"),
        "ContainersReady": ("False", "PodCompleted"),
        "PodScheduled": ("True", ""),
    }
    assert [reason for reason, _ in ground.events(pod)].count("Started") == 1


def test_variables_come_from_values_fields_secrets_and_config_maps(ground: Playground) -> None:
    space = ground.namespace()
    data = {"password": base64.b64encode(b"open sesame").decode()}
    ground.cluster.create("secrets.", {"metadata": {"name": "s"}, "data": data}, space)
    body = {"metadata": {"name": "c"}, "data": {"LEVEL": "3", "x": "y"}}
    ground.cluster.create("configmaps.", body, space)
    env = [
        {"name": "A", "value": "1"},
        {"name": "B", "value": "$(A)-$(NONE)-$$(A)"},
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "PASS", "valueFrom": {"secretKeyRef": {"name": "s", "key": "password"}}},
        {"name": "X", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "x"}}},
        {"name": "O", "valueFrom": {"secretKeyRef": {"name": "no", "key": "k", "optional": True}}},
        {"name": "MEM", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}},
    ]
    main = {
        "command": ["python3", "-c", "import json, os; print(json.dumps(dict(os.environ)))"],
        "args": ["$(A)"],
        "env": env,
        "envFrom": [{"configMapRef": {"name": "c"}, "prefix": "C_"}],
        "resources": {"limits": {"memory": "64Mi"}},
    }
    seen = json.loads(ground.run("", space, main=main))
    assert (seen["B"], seen["POD"], seen["APP"]) == ("1-$(NONE)-$(A)", "p", "test")
    assert (seen["PASS"], seen["X"], seen["C_LEVEL"]) == ("open sesame", "y", "3")
    assert seen["IP"].startswith("127.")
    assert (seen["NODE"], seen["MEM"]) == ("n1", str(64 << 20))
    assert seen["HOSTNAME"] == "p"
    assert "O" not in seen
    assert not [name for name in seen if name.startswith(("DJANGO", "PYTEST", "ATOM"))]


@pytest.mark.parametrize(
    ("text", "expanded"),
    [("$(A)", "1"), ("$$(A)", "$(A)"), ("$(B)", "$(B)"), ("$A", "$A"), ("$", "$"), ("$(A", "$(A")],
)
def test_references_expand_as_in_a_pod(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1"}) == expanded


def test_init_containers_run_in_order_and_share_volumes(ground: Playground) -> None:
    mount = [{"name": "v", "mountPath": "/data"}]
    inits = [
        {"name": name, "image": "train:1", "volumeMounts": mount,
         "command": ["sh", "-c", f"echo {name} >> /data/order"]}
        for name in ("one", "two")
    ]  # fmt: skip
    output = ground.run(
        "cat /data/order",
        main={"volumeMounts": mount},
        volumes=[{"name": "v", "emptyDir": {}}],
        initContainers=inits,
    )
    assert output == "one\ntwo\n"


def test_a_failing_init_container_fails_the_pod_before_main_begins(ground: Playground) -> None:
    init = {"name": "first", "image": "train:1", "command": ["sh", "-c", "exit 7"]}
    pod = ground.until_ended(ground.pod("echo main", initContainers=[init]))
    assert pod["status"]["phase"] == "Failed"
    assert state_of(pod, "first")["terminated"]["exitCode"] == 7
    assert state_of(pod)["waiting"]["reason"] == "PodInitializing"
    assert ground.output(pod) == ""


def test_projected_volumes_show_a_token_fields_and_files(ground: Playground) -> None:
    space = ground.namespace()
    body = {"metadata": {"name": "c"}, "data": {"k": "from a map", "other": "no"}}
    ground.cluster.create("configmaps.", body, space)
    sources = [
        {"serviceAccountToken": {"audience": "us", "path": "token"}},
        {"configMap": {"name": "c", "items": [{"key": "k", "path": "deep/file"}]}},
        {"downwardAPI": {"items": [{"path": "uid", "fieldRef": {"fieldPath": "metadata.uid"}}]}},
    ]
    pod = ground.pod(
        "cat /v/token; echo; cat /v/deep/file; echo; cat /v/uid; ls /v/other 2>/dev/null",
        space,
        main={"volumeMounts": [{"name": "v", "mountPath": "/v", "readOnly": True}]},
        volumes=[{"name": "v", "projected": {"sources": sources}}],
    )
    pod = ground.until_ended(pod)
    token, text, uid = ground.output(pod).splitlines()
    claims = ground.cluster.access.signer.claims(token, ("us",))
    assert claims is not None
    assert claims["kubernetes.io"]["pod"]["uid"] == uid == pod["metadata"]["uid"]
    assert ground.cluster.access.signer.claims(token, ("others",)) is None
    assert text == "from a map"


def test_a_deleted_pod_gets_its_grace_and_then_goes(ground: Playground) -> None:
    pod = until_up(ground, ground.pod(_TRAP))
    seen: list[Json] = []
    end = ground.cluster.store.subscribe(
        "pods.", lambda event: seen.append(event.after.obj) if event.after else None
    )
    ground.cluster.deletion.delete(ground.cluster.pods.resource, *place(pod), {})
    ground.until_gone(pod)
    end()
    last = seen[-1]
    assert state_of(last)["terminated"]["exitCode"] == 143
    assert last["status"]["phase"] == "Failed"
    assert last["metadata"]["deletionGracePeriodSeconds"] == 0
    assert ground.output(pod) == "up\ngot TERM\n"
    assert ("Killing", "Stopping container main") in ground.events(pod)


def place(pod: Json) -> tuple[str, str]:
    """Return the namespace and name of a pod."""
    metadata = pod["metadata"]
    return metadata["namespace"], metadata["name"]


@pytest.mark.parametrize("which", ["ground", "folders"])
def test_who_ignores_the_signal_is_killed_with_its_children(
    which: str, request: pytest.FixtureRequest
) -> None:
    ground: Playground = request.getfixturevalue(which)
    seconds = {"ground": 47_110, "folders": 47_111}[which]
    # The child leaves its process group, as programs do that want to survive.
    pod = ground.pod(
        f'trap "" TERM; setsid sleep {seconds} & echo up; while :; do sleep 0.05; done',
        terminationGracePeriodSeconds=1,
    )
    pod = until_up(ground, pod)
    wait_for(lambda: sleepers(seconds) == 1)
    ground.cluster.deletion.delete(ground.cluster.pods.resource, *place(pod), {})
    ground.until_gone(pod)
    assert sleepers(seconds) == 0


def sleepers(seconds: int) -> int:
    """Return how many processes of this machine sleep for so many seconds."""
    count = 0
    for entry in Path("/proc").iterdir():
        try:
            count += (entry / "cmdline").read_bytes() == b"sleep\x00%d\x00" % seconds
        except OSError:
            continue
    return count


def test_a_pod_that_ends_leaves_no_process(folders: Playground) -> None:
    pod = folders.until_ended(folders.pod("setsid sleep 47112 & echo up"))
    assert pod["status"]["phase"] == "Succeeded"
    assert sleepers(47112) == 0


def test_a_failing_container_starts_again_until_it_succeeds(ground: Playground) -> None:
    pod = ground.pod(
        "test -e /v/again && echo done && exit 0; touch /v/again; echo first; exit 4",
        restartPolicy="OnFailure",
        main={"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
        volumes=[{"name": "v", "emptyDir": {}}],
    )
    pod = ground.until_ended(pod)
    (status,) = pod["status"]["containerStatuses"]
    assert (pod["status"]["phase"], status["restartCount"]) == ("Succeeded", 1)
    assert status["lastState"]["terminated"]["exitCode"] == 4
    assert (ground.output(pod, attempt=PREVIOUS), ground.output(pod)) == ("first\n", "done\n")


def test_a_pod_past_its_deadline_fails(ground: Playground) -> None:
    pod = ground.pod("sleep 60", activeDeadlineSeconds=1, terminationGracePeriodSeconds=0)
    pod = ground.until_ended(pod)
    assert pod["status"]["reason"] == "DeadlineExceeded"
    assert state_of(pod)["terminated"]["exitCode"] == 137


def test_a_pod_that_is_removed_by_force_ends(ground: Playground) -> None:
    pod = until_up(ground, ground.pod("setsid sleep 47113 & echo up; wait"))
    body = {"gracePeriodSeconds": 0}
    ground.cluster.deletion.delete(ground.cluster.pods.resource, *place(pod), body)
    wait_for(lambda: pod["metadata"]["uid"] not in ground.kubelet.uids())
    assert sleepers(47113) == 0


def test_the_last_message_of_a_container_is_kept(ground: Playground) -> None:
    pod = ground.until_ended(ground.pod("echo no disk > /dev/termination-log; exit 9"))
    assert state_of(pod)["terminated"]["message"] == "no disk\n"


def test_two_containers_run_side_by_side_with_logs_of_their_own(ground: Playground) -> None:
    containers = [
        {"name": name, "image": "train:1", "command": ["sh", "-c", f"echo {name}; exit {code}"]}
        for name, code in (("main", 0), ("other", 3))
    ]
    pod = ground.until_ended(ground.pod("", containers=containers))
    assert pod["status"]["phase"] == "Failed"
    assert (ground.output(pod), ground.output(pod, "other")) == ("main\n", "other\n")


def test_paths_of_volumes_are_replaced_where_there_are_only_folders(folders: Playground) -> None:
    mounts = [{"name": "t", "mountPath": "/tmp"}, {"name": "w", "mountPath": "/atom/work"}]
    output = folders.run(
        'pwd; echo "$WORK"; echo x > /tmp/file; cat /tmp/file; cat $POD_HOSTS_FILE',
        main={
            "volumeMounts": mounts,
            "workingDir": "/atom/work",
            "env": [{"name": "WORK", "value": "/atom/work/x"}],
        },
        volumes=[{"name": "t", "emptyDir": {}}, {"name": "w", "emptyDir": {}}],
    )
    folder, work, text, *hosts = output.splitlines()
    assert (work, text) == (f"{folder}/x", "x")
    assert hosts[-1].endswith("\tp")
    assert not Path("/tmp/file").exists()


def test_the_end_of_a_kubelet_leaves_no_process_and_no_mount() -> None:
    with Playground() as ground:
        pod = ground.pod("trap '' TERM; setsid sleep 47114 & sleep 47114")
        ground.until(pod, "Running")
        wait_for(lambda: sleepers(47114) == 2)
        folder = ground.kubelet.folder
    assert sleepers(47114) == 0
    assert str(folder) not in Path("/proc/self/mounts").read_text()
    assert not folder.exists()


def test_names_are_those_of_a_headless_service_alone(ground: Playground) -> None:
    space = ground.namespace()
    for name, address in (("h", "None"), ("v", "10.96.0.7")):
        spec = {"clusterIP": address, "selector": {"app": "test"}, "ports": [{"port": 1}]}
        ground.cluster.create("services.", {"metadata": {"name": name}, "spec": spec}, space)
    pod = ground.until(ground.pod("sleep 60", space, subdomain="h"), "Running")
    text = hosts_of(ground.cluster.store, pod, pod["status"]["podIP"])
    assert f"p.h.{space}.svc.cluster.local p.h.{space}.svc p.h.{space} p.h" in text
    assert f" v.{space}" not in text
