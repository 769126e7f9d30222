"""Places of pods: namespaces, mounts, users, host names, addresses and the names of Services."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .kubelet.playground import Playground
from .kubelet.process import can_isolate

Json = dict[str, Any]

pytestmark = pytest.mark.skipif(
    not can_isolate(), reason="this user may not give containers namespaces of their own"
)

_RESTRICTED = {
    "runAsNonRoot": True,
    "runAsUser": 64_000,
    "runAsGroup": 64_000,
    "fsGroup": 64_000,
}
_CLOSED = {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}


def test_a_container_is_pid_1_as_its_user_and_under_its_host_name(ground: Playground) -> None:
    output = ground.run(
        "echo $$$$; id -u; id -g; id -G; hostname; grep NoNewPrivs /proc/self/status",
        main={"securityContext": _CLOSED},
        securityContext=_RESTRICTED,
        hostname="rank-0",
    )
    assert output.split() == ["1", "64000", "64000", "64000", "rank-0", "NoNewPrivs:", "1"]


def test_a_read_only_root_has_writable_volumes_only(ground: Playground) -> None:
    script = """
    for place in /x /etc/x /usr/x /tmp/x /atom/layer/x /atom/work/x /dev/shm/x /var/tmp/x; do
        touch $place 2>/dev/null && echo $place
    done
    true
    """
    names = {"work": "/atom/work", "tmp": "/tmp", "shm": "/dev/shm", "layer": "/atom/layer"}
    mounts = [{"name": n, "mountPath": p, "readOnly": n == "layer"} for n, p in names.items()]
    volumes: list[Json] = [{"name": name, "emptyDir": {}} for name in ("work", "tmp", "layer")]
    volumes.append({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}})
    output = ground.run(
        script,
        main={"volumeMounts": mounts, "securityContext": _CLOSED},
        securityContext=_RESTRICTED,
        volumes=volumes,
    )
    assert output.split() == ["/tmp/x", "/atom/work/x", "/dev/shm/x"]


def test_memory_volumes_have_their_limit(ground: Playground) -> None:
    output = ground.run(
        "head -c 3000000 /dev/zero > /dev/shm/x 2>/dev/null || echo full",
        main={"volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]},
        volumes=[{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}],
    )
    assert output == "full\n"


def test_the_folders_of_this_machine_are_not_seen(ground: Playground) -> None:
    own = Path(__file__).resolve()
    output = ground.run(f"cat {own} >/dev/null 2>&1 || echo absent; ls /home 2>&1 | wc -l")
    assert output.split() == ["absent", "1"]


def test_python_with_its_packages_runs_as_any_user(ground: Playground) -> None:
    output = ground.run(
        "python3 -c 'import atom_sdk, numpy, os; print(os.getuid(), numpy.arange(3).sum())'",
        main={"securityContext": _CLOSED},
        securityContext=_RESTRICTED,
    )
    assert output == "64000 3\n"


def test_a_sub_path_shows_a_part_of_a_volume(ground: Playground) -> None:
    mounts = [
        {"name": "v", "mountPath": "/part", "subPath": "a/b"},
        {"name": "v", "mountPath": "/whole"},
    ]
    output = ground.run(
        "echo x > /part/file; cat /whole/a/b/file",
        main={"volumeMounts": mounts},
        volumes=[{"name": "v", "emptyDir": {}}],
    )
    assert output == "x\n"


def test_a_mount_never_changes_the_folders_of_this_machine(ground: Playground) -> None:
    pod = ground.pod(
        "true",
        main={"volumeMounts": [{"name": "v", "mountPath": "/usr/no-such-folder"}]},
        volumes=[{"name": "v", "emptyDir": {}}],
    )
    ended = ground.until_ended(pod)
    state = ended["status"]["containerStatuses"][0]["state"]["terminated"]
    assert state["reason"] == "StartError"
    assert "read-only" in state["message"]
    assert not Path("/usr/no-such-folder").exists()


def test_ranks_of_an_indexed_job_reach_each_other_by_name(ground: Playground) -> None:
    space = ground.namespace()
    service = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"job": "j"}}
    body = {"metadata": {"name": "j"}, "spec": service}
    ground.cluster.create("services.", body, space)
    # Rank 0 listens on its own address; rank 1 asks for it by its name until it answers.
    program = """
import os, socket, time
if os.environ["JOB_COMPLETION_INDEX"] == "0":
    with socket.create_server((os.environ["IP"], 29500)) as server:
        connection, peer = server.accept()
        connection.sendall(b"hello from " + socket.gethostname().encode())
        connection.close()
else:
    while True:
        try:
            print(socket.create_connection(("j-0.j", 29500)).recv(100).decode())
            break
        except OSError:
            time.sleep(0.05)
"""
    address = {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    container = {
        "name": "main",
        "image": "train:1",
        "command": ["python3", "-c", program],
        "env": [address],
    }
    pod_spec = {
        "restartPolicy": "Never",
        "subdomain": "j",
        "automountServiceAccountToken": False,
        "containers": [container],
    }
    template = {"metadata": {"labels": {"job": "j"}}, "spec": pod_spec}
    spec = {
        "completions": 2, "parallelism": 2, "completionMode": "Indexed", "backoffLimit": 0,
        "template": template,
    }  # fmt: skip
    ground.cluster.create("jobs.batch", {"metadata": {"name": "j"}, "spec": spec}, space)
    rank = ground.kubelet.wait_for("Succeeded", "j-1-", space)
    assert ground.output(rank) == "hello from j-0\n"
    first = ground.kubelet.wait_for("Succeeded", "j-0-", space)
    assert first["status"]["podIP"] != rank["status"]["podIP"]
