"""Volumes over the driver's sockets: a real agent, a kubelet that speaks gRPC, real mounts."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from atom_sdk.mount.mountinfo import mounted_at
from tests.agent.kubelet import NAMESPACE, FakeKubelet, kubelet_folder
from tests.agent.test_program import running
from tests.agent.wire import PROJECT, ControlServer, agent_env, pack_of, wait_until
from tests.sdk.mount.conftest import dataset_of, why_not

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="mounts and sockets of a kubelet need root"
)
DATA = [os.urandom(100_000), os.urandom(50_000)]
PACKS = [pack_of(data) for data in DATA]
VERSION = str(uuid.uuid4())
ATTRIBUTES = {"version": VERSION, "input": "digits", "mode": "packs"}


@pytest.fixture
def kubelet() -> Iterator[FakeKubelet]:
    with kubelet_folder() as kubelet:
        yield kubelet


@pytest.fixture
def env(tmp_path: Path, control: ControlServer, kubelet: FakeKubelet) -> dict[str, str]:
    control.volume = {
        "project": PROJECT,
        "reference": "digits@v1",
        "packs": [pack.digest for pack in PACKS],
        "problem": "",
    }
    return agent_env(tmp_path, control, ATOM_AGENT_KUBELET=str(kubelet.folder))


@pytest.fixture
def agent(
    env: dict[str, str], control: ControlServer, kubelet: FakeKubelet
) -> Iterator[subprocess.Popen[bytes]]:
    with running(env) as process:
        assert kubelet.register().node_id == "node-1"
        wait_until(lambda: control.held and control.held[-1]["is_registered"])
        yield process


def store(env: dict[str, str], *data: bytes) -> None:
    """Put packs into the node's cache, as fetches do."""
    folder = Path(env["ATOM_AGENT_CACHE"]) / PROJECT / "packs"
    folder.mkdir(parents=True, exist_ok=True)
    for content in data:
        path = folder / f"{pack_of(content).digest}.tar"
        path.write_bytes(content)
        path.chmod(0o444)


def status_of(kubelet: FakeKubelet, request: Any) -> str:
    with pytest.raises(grpc.RpcError) as failure:
        kubelet.publish(request)
    return str(failure.value.code().name)


def shown(target: Path) -> set[bytes]:
    return {path.read_bytes() for path in (target / "packs").iterdir()}


def test_the_kubelet_registers_a_driver_that_names_itself(agent: Any, kubelet: FakeKubelet) -> None:
    info = kubelet.identity("GetPluginInfo")
    assert (info.name, bool(info.vendor_version)) == ("csi.atom.dev", True)
    assert not kubelet.identity("GetPluginCapabilities").ListFields()
    assert kubelet.identity("Probe").ready.value
    for socket in (Path(kubelet.endpoint), next((kubelet.folder / "plugins_registry").iterdir())):
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600


def test_a_pod_sees_its_own_packs_read_only_and_those_that_come(
    agent: Any, env: dict[str, str], control: ControlServer, kubelet: FakeKubelet
) -> None:
    store(env, DATA[0], b"a pack of another version")
    request = kubelet.request("pod-1", ATTRIBUTES)
    target = kubelet.publish(request)
    assert shown(target) == {DATA[0]}
    assert (target / "packs.txt").read_text().split() == [pack.digest for pack in PACKS]
    with pytest.raises(OSError, match="Read-only"):
        (target / "packs" / "new").touch()
    (body,) = control.opened
    assert body == {
        "volume": request.volume_id,
        "version": VERSION,
        "input": "digits",
        "mode": "packs",
        "namespace": NAMESPACE,
        "pod": "run-0",
        "pod_uid": "pod-1",
    }
    store(env, DATA[1])
    kubelet.publish(request)
    assert shown(target) == set(DATA)
    kubelet.unpublish(request)
    assert not target.exists()
    wait_until(lambda: control.held[-1]["volumes"] == [])
    assert not list(Path(env["ATOM_AGENT_CACHE"]).glob("volumes/*"))


def test_twice_published_and_twice_unpublished_is_once(
    agent: Any, env: dict[str, str], kubelet: FakeKubelet
) -> None:
    store(env, *DATA)
    request = kubelet.request("pod-1", ATTRIBUTES)
    target = kubelet.publish(request)
    kubelet.publish(request)
    other = kubelet.request("pod-1", ATTRIBUTES | {"input": "other"})
    assert status_of(kubelet, other) == "ALREADY_EXISTS"
    mounts = Path("/proc/self/mountinfo").read_text()
    assert mounts.count(str(target)) == 1
    kubelet.unpublish(request)
    kubelet.unpublish(request)
    assert not mounted_at(target)


def test_a_volume_that_waits_is_unavailable_until_its_packs_came(
    agent: Any, env: dict[str, str], control: ControlServer, kubelet: FakeKubelet
) -> None:
    request = kubelet.request("pod-1", ATTRIBUTES | {"wait": "true"})
    assert status_of(kubelet, request) == "UNAVAILABLE"
    store(env, *DATA)
    assert shown(kubelet.publish(request)) == set(DATA)
    kubelet.unpublish(request)
    Path(env["ATOM_AGENT_CACHE"], PROJECT, "packs", f"{PACKS[0].digest}.tar").unlink()
    control.volume["problem"] = "The cache of node-1 lacks 9 bytes for this version."
    with pytest.raises(grpc.RpcError, match="lacks 9 bytes"):
        kubelet.publish(request)


def test_a_killed_agent_knows_its_mounts_and_finishes_what_it_began(
    env: dict[str, str], control: ControlServer, kubelet: FakeKubelet
) -> None:
    store(env, *DATA)
    request = kubelet.request("pod-1", ATTRIBUTES)
    half = kubelet.request("pod-2", ATTRIBUTES)
    with running(env) as process:
        kubelet.register()
        target = kubelet.publish(request)
        half_target = kubelet.publish(half)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert shown(target) == set(DATA)
    # As if the kill had come between the mount and the answer.
    for path in Path(env["ATOM_AGENT_CACHE"]).glob("volumes/*/record.json"):
        if "pod-2" in path.read_text():
            path.write_text(path.read_text().replace('"published"', '"publishing"'))
    with running(env):
        kubelet.register()
        wait_until(lambda: len(control.held[-1]["volumes"]) == 2)
        kubelet.publish(request)
        assert shown(kubelet.publish(half)) == set(DATA)
        assert Path("/proc/self/mountinfo").read_text().count(str(half_target)) == 1
        for one in (request, half):
            kubelet.unpublish(one)
    assert not mounted_at(target)
    assert not mounted_at(half_target)


def test_a_pod_that_left_while_the_agent_was_away_leaves_nothing(
    env: dict[str, str], control: ControlServer, kubelet: FakeKubelet
) -> None:
    with running(env):
        kubelet.register()
        assert status_of(kubelet, kubelet.request("pod-1", ATTRIBUTES | {"wait": "true"}))
    pod = kubelet.folder / "pods" / "pod-1"
    for path in sorted(pod.rglob("*"), reverse=True):
        path.rmdir()
    pod.rmdir()
    with running(env):
        wait_until(lambda: not list(Path(env["ATOM_AGENT_CACHE"]).glob("volumes/*")))


HOSTILE_ATTRIBUTES: list[dict[str, str]] = [
    {"version": ""},
    {"version": "../../etc"},
    {"version": VERSION.upper()},
    {"version": "9" * 5000},
    {"input": "../other"},
    {"input": ""},
    {"mode": "write"},
    {"wait": "maybe"},
    {"mode": "view", "wait": "false"},
    {"project": PROJECT},
]


def test_hostile_attributes_are_refused_before_the_server_is_asked(
    agent: Any, control: ControlServer, kubelet: FakeKubelet
) -> None:
    for attributes in HOSTILE_ATTRIBUTES:
        request = kubelet.request("pod-1", ATTRIBUTES | attributes)
        assert status_of(kubelet, request) == "INVALID_ARGUMENT", attributes
    huge = kubelet.request("pod-1", ATTRIBUTES | {"version": "9" * (2 << 20)})
    assert status_of(kubelet, huge) == "RESOURCE_EXHAUSTED"
    assert not control.opened


HOSTILE_TARGETS = [
    "/etc",
    "{pods}/pod-1/volumes/kubernetes.io~csi/data-0/../../../../../etc",
    "{pods}/pod-1/volumes/kubernetes.io~csi/data-0",
    "{pods}/pod-2/volumes/kubernetes.io~csi/data-0/mount",
    "{pods}/pod-1/volumes/kubernetes.io~empty-dir/data-0/mount",
    "{pods}/pod-1/volumes/kubernetes.io~csi/link/mount",
    "{pods}/pod-1/volumes/kubernetes.io~csi/data-0//mount",
    "relative/mount",
    "",
    "{pods}/" + "x" * 5000,
]


def test_hostile_target_paths_are_refused(
    agent: Any, control: ControlServer, kubelet: FakeKubelet, tmp_path: Path
) -> None:
    kubelet.target("pod-2")
    link = kubelet.target("pod-1").parent.with_name("link")
    link.symlink_to(tmp_path)
    for target in HOSTILE_TARGETS:
        path = target.format(pods=kubelet.folder / "pods")
        request = kubelet.request("pod-1", ATTRIBUTES, target_path=path)
        assert status_of(kubelet, request) == "INVALID_ARGUMENT", target
    kubelet.target("pod-1").symlink_to(tmp_path)
    assert status_of(kubelet, kubelet.request("pod-1", ATTRIBUTES)) == "INVALID_ARGUMENT"
    assert not control.opened
    assert not list(tmp_path.glob("mount"))


def test_what_a_pod_may_not_ask_for_is_refused(
    agent: Any, control: ControlServer, kubelet: FakeKubelet
) -> None:
    writable = kubelet.request("pod-1", ATTRIBUTES, readonly=False)
    named = kubelet.request("pod-1", ATTRIBUTES, volume_id="../../x")
    block = kubelet.request("pod-1", ATTRIBUTES)
    block.volume_capability.block.SetInParent()
    options = kubelet.request("pod-1", ATTRIBUTES)
    options.volume_capability.mount.mount_flags.append("rw")
    lasting = kubelet.request("pod-1", ATTRIBUTES)
    del lasting.volume_context["csi.storage.k8s.io/ephemeral"]
    for request in (writable, named, block, options, lasting):
        assert status_of(kubelet, request) == "INVALID_ARGUMENT"
    control.refusal = "The pod run-0 in atom-vision has no such input in a run."
    request = kubelet.request("pod-1", ATTRIBUTES)
    with pytest.raises(grpc.RpcError, match="no such input") as failure:
        kubelet.publish(request)
    assert failure.value.code() == grpc.StatusCode.PERMISSION_DENIED
    assert not Path(request.target_path).exists()


def test_a_server_that_is_away_or_answers_strangely_makes_the_pod_wait(
    agent: Any, control: ControlServer, kubelet: FakeKubelet
) -> None:
    request = kubelet.request("pod-1", ATTRIBUTES)
    control.is_away = True
    assert status_of(kubelet, request) == "UNAVAILABLE"
    control.is_away = False
    control.volume["packs"] = ["../../../etc/passwd"]
    assert status_of(kubelet, request) == "UNAVAILABLE"


def test_a_stale_socket_is_replaced_and_another_file_is_not(
    env: dict[str, str], kubelet: FakeKubelet
) -> None:
    with running(env) as process:
        kubelet.register()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert Path(kubelet.endpoint).is_socket()
    with running(env) as process:
        kubelet.register()
        process.terminate()
        assert process.wait(20) == 0
    assert not Path(kubelet.endpoint).exists()
    Path(kubelet.endpoint).write_text("not a socket")
    with running(env) as process:
        assert process.wait(20) == 1


@pytest.mark.skipif(why_not("erofs") is not None, reason=str(why_not("erofs")))
def test_a_view_shows_the_files_once_all_packs_are_here(
    agent: Any,
    env: dict[str, str],
    control: ControlServer,
    kubelet: FakeKubelet,
    tmp_path: Path,
) -> None:
    files = {"a.txt": b"first", "deep/b.txt": b"second" * 900}
    dataset = dataset_of(tmp_path / "made", files, packs=2)
    packs = sorted(dataset.pack_dir.iterdir())
    control.index = dataset.index.path.read_bytes()
    control.volume["packs"] = [path.stem for path in packs]
    request = kubelet.request("pod-1", ATTRIBUTES | {"mode": "view"})
    store(env, packs[0].read_bytes())
    assert status_of(kubelet, request) == "UNAVAILABLE"
    store(env, packs[1].read_bytes())
    target = kubelet.publish(request)
    kubelet.publish(request)
    assert {path: (target / path).read_bytes() for path in files} == files
    with pytest.raises(OSError, match="Read-only"):
        (target / "new").touch()
    kubelet.unpublish(request)
    assert not target.exists()
    assert not list(Path(env["ATOM_AGENT_CACHE"]).glob("volumes/*"))


def test_a_view_of_wrong_bytes_is_not_shown(
    agent: Any, env: dict[str, str], control: ControlServer, kubelet: FakeKubelet, tmp_path: Path
) -> None:
    dataset = dataset_of(tmp_path / "made", {"a.txt": b"first" * 900})
    (pack,) = dataset.pack_dir.iterdir()
    control.index = dataset.index.path.read_bytes()
    control.volume["packs"] = [pack.stem]
    folder = Path(env["ATOM_AGENT_CACHE"]) / PROJECT / "packs"
    folder.mkdir(parents=True)
    (folder / pack.name).write_bytes(pack.read_bytes().replace(b"first", b"other"))
    request = kubelet.request("pod-1", ATTRIBUTES | {"mode": "view"})
    assert status_of(kubelet, request) == "INTERNAL"
    assert not mounted_at(Path(request.target_path))
