"""A kubelet's side of the driver's sockets: real gRPC calls, in the order of the kubelet."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from atom_agent.csi import csi_pb2, registration_pb2
from atom_sdk.mount.mountinfo import mounted_at
from atom_sdk.mount.syscalls import unmount
from tests.agent.wire import wait_until

NAMESPACE = "atom-vision"
_CALL_S = 30.0


class FakeKubelet:
    """Finds plugins by their sockets, and publishes inline volumes of pods."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("plugins", "plugins_registry", "pods"):
            (folder / name).mkdir()
        self.endpoint = ""

    def register(self, error: str = "") -> Any:
        """Take on the plugin whose socket appears; returns the answer of NodeGetInfo."""
        registry = self.folder / "plugins_registry"
        wait_until(lambda: list(registry.iterdir()))
        (socket,) = registry.iterdir()
        info = self.registration(socket, "GetInfo", registration_pb2.InfoRequest())
        assert info.type == "CSIPlugin"
        assert [int(version.split(".")[0]) for version in info.supported_versions] == [1]
        assert len(info.name) <= 63
        self.endpoint = info.endpoint
        node = self.node("NodeGetInfo", csi_pb2.NodeGetInfoRequest())
        status = registration_pb2.RegistrationStatus(plugin_registered=not error, error=error)
        self.registration(socket, "NotifyRegistrationStatus", status)
        return node

    def registration(self, socket: Path, method: str, request: Any) -> Any:
        """Call the registration service."""
        answers = {
            "GetInfo": registration_pb2.PluginInfo,
            "NotifyRegistrationStatus": registration_pb2.RegistrationStatusResponse,
        }
        name = f"/pluginregistration.Registration/{method}"
        return call(str(socket), name, request, answers[method])

    def node(self, method: str, request: Any) -> Any:
        """Call the driver's Node service."""
        answer = getattr(csi_pb2, f"{method}Response")
        return call(self.endpoint, f"/csi.v1.Node/{method}", request, answer)

    def identity(self, method: str) -> Any:
        """Call the driver's Identity service."""
        request = getattr(csi_pb2, f"{method}Request")()
        answer = getattr(csi_pb2, f"{method}Response")
        return call(self.endpoint, f"/csi.v1.Identity/{method}", request, answer)

    def target(self, pod_uid: str, name: str = "data-0") -> Path:
        """Return the folder for a pod's volume; its parent is there, as a kubelet makes it."""
        parent = self.folder / "pods" / pod_uid / "volumes" / "kubernetes.io~csi" / name
        parent.mkdir(parents=True, exist_ok=True)
        return parent / "mount"

    def request(
        self,
        pod_uid: str,
        attributes: dict[str, str],
        pod: tuple[str, str] = (NAMESPACE, "run-0"),
        **fields: Any,
    ) -> Any:
        """Return what a kubelet asks for an inline volume; facts of the pod replace attributes."""
        facts = {
            "csi.storage.k8s.io/pod.name": pod[1],
            "csi.storage.k8s.io/pod.namespace": pod[0],
            "csi.storage.k8s.io/pod.uid": pod_uid,
            "csi.storage.k8s.io/serviceAccount.name": "atom-run",
            "csi.storage.k8s.io/ephemeral": "true",
        }
        capability = csi_pb2.VolumeCapability()
        capability.mount.SetInParent()
        capability.access_mode.mode = csi_pb2.VolumeCapability.AccessMode.SINGLE_NODE_WRITER
        values = {
            "volume_id": f"csi-{uuid.uuid5(uuid.NAMESPACE_OID, pod_uid).hex}",
            "target_path": str(self.target(pod_uid)),
            "volume_capability": capability,
            "readonly": True,
            "volume_context": attributes | facts,
            **fields,
        }
        return csi_pb2.NodePublishVolumeRequest(**values)

    def publish(self, request: Any) -> Path:
        """Publish a volume; returns its folder."""
        assert not self.node(
            "NodeGetCapabilities", csi_pb2.NodeGetCapabilitiesRequest()
        ).ListFields()
        self.node("NodePublishVolume", request)
        return Path(request.target_path)

    def unpublish(self, request: Any) -> None:
        """Take a volume away."""
        asked = csi_pb2.NodeUnpublishVolumeRequest(
            volume_id=request.volume_id, target_path=request.target_path
        )
        self.node("NodeUnpublishVolume", asked)


def call(socket: str, method: str, request: Any, answer: Any) -> Any:
    """Call a method over a socket. Raises grpc.RpcError."""
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        stub = channel.unary_unary(
            method,
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer.FromString,
        )
        return stub(request, timeout=_CALL_S, wait_for_ready=True)


@contextmanager
def kubelet_folder() -> Iterator[FakeKubelet]:
    """Yield a kubelet; its path is short, since the address of a socket is."""
    folder = Path(tempfile.mkdtemp(prefix="kl-"))
    try:
        yield FakeKubelet(folder)
    finally:
        for target in folder.glob("pods/*/volumes/*/*/mount"):
            while mounted_at(target):
                unmount(target)
        shutil.rmtree(folder)
