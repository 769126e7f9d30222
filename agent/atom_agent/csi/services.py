"""The gRPC services of the driver: Identity, Node and Registration, without generated stubs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import grpc

from atom_agent import __version__
from atom_agent.csi import csi_pb2, registration_pb2
from atom_agent.csi.requests import volume_request
from atom_agent.csi.volumes import Volumes
from atom_agent.errors import VolumeError, VolumeRequestError

DRIVER = "csi.atom.dev"
# The version of the interface, not of the driver.
_CSI_VERSION = "1.0.0"
_PLUGIN_TYPE = "CSIPlugin"
_log = logging.getLogger("atom_agent")


class DriverServices:
    """Answers of the driver on its own socket."""

    def __init__(self, volumes: Volumes, node: str, kubelet: Path) -> None:
        """`node` is the node's name, `kubelet` the kubelet's folder."""
        self._volumes, self._node, self._kubelet = volumes, node, kubelet

    def handlers(self) -> list[Any]:
        """Return gRPC handlers of all services."""
        identity = {
            "GetPluginInfo": (self._plugin_info, csi_pb2.GetPluginInfoRequest),
            "GetPluginCapabilities": (
                lambda _: csi_pb2.GetPluginCapabilitiesResponse(),
                csi_pb2.GetPluginCapabilitiesRequest,
            ),
            "Probe": (self._probe, csi_pb2.ProbeRequest),
        }
        node = {
            "NodePublishVolume": (self._publish, csi_pb2.NodePublishVolumeRequest),
            "NodeUnpublishVolume": (self._unpublish, csi_pb2.NodeUnpublishVolumeRequest),
            "NodeGetCapabilities": (
                lambda _: csi_pb2.NodeGetCapabilitiesResponse(),
                csi_pb2.NodeGetCapabilitiesRequest,
            ),
            "NodeGetInfo": (self._node_info, csi_pb2.NodeGetInfoRequest),
        }
        return [_service("csi.v1.Identity", identity), _service("csi.v1.Node", node)]

    def _plugin_info(self, _: Any) -> Any:
        return csi_pb2.GetPluginInfoResponse(name=DRIVER, vendor_version=__version__)

    def _probe(self, _: Any) -> Any:
        answer = csi_pb2.ProbeResponse()
        answer.ready.value = True
        return answer

    def _node_info(self, _: Any) -> Any:
        return csi_pb2.NodeGetInfoResponse(node_id=self._node)

    def _publish(self, request: Any) -> Any:
        if request.volume_capability.WhichOneof("access_type") != "mount":
            raise VolumeRequestError("A volume is a folder, not a block device.")
        if request.volume_capability.mount.mount_flags:
            raise VolumeRequestError("A volume takes no mount options.")
        if not request.readonly:
            raise VolumeRequestError("A volume is read-only: set readOnly in the pod's volume.")
        checked = volume_request(
            request.volume_id, request.target_path, request.volume_context, self._kubelet
        )
        self._volumes.publish(checked)
        return csi_pb2.NodePublishVolumeResponse()

    def _unpublish(self, request: Any) -> Any:
        self._volumes.unpublish(request.volume_id, request.target_path)
        return csi_pb2.NodeUnpublishVolumeResponse()


class RegistrationServices:
    """Answers to the kubelet's plugin watcher."""

    def __init__(self, endpoint: Path, on_status: Callable[[bool, str], None]) -> None:
        """`endpoint` is the driver's socket; `on_status` hears whether the kubelet took it."""
        self._endpoint, self._on_status = endpoint, on_status

    def handlers(self) -> list[Any]:
        """Return the gRPC handler of the service."""
        methods = {
            "GetInfo": (self._info, registration_pb2.InfoRequest),
            "NotifyRegistrationStatus": (self._notify, registration_pb2.RegistrationStatus),
        }
        return [_service("pluginregistration.Registration", methods)]

    def _info(self, _: Any) -> Any:
        return registration_pb2.PluginInfo(
            type=_PLUGIN_TYPE,
            name=DRIVER,
            endpoint=str(self._endpoint),
            supported_versions=[_CSI_VERSION],
        )

    def _notify(self, status: Any) -> Any:
        self._on_status(status.plugin_registered, status.error)
        return registration_pb2.RegistrationStatusResponse()


def _service(name: str, methods: Mapping[str, tuple[Callable[[Any], Any], Any]]) -> Any:
    handlers = {
        method: grpc.unary_unary_rpc_method_handler(
            _answering(call),
            request_deserializer=request.FromString,
            response_serializer=lambda answer: answer.SerializeToString(),
        )
        for method, (call, request) in methods.items()
    }
    return grpc.method_handlers_generic_handler(name, handlers)


def _answering(call: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def answer(request: Any, context: Any) -> Any:
        try:
            return call(request)
        except VolumeError as error:
            _log.warning("%s: %s", error.status, error)
            context.abort(grpc.StatusCode[error.status], str(error))

    return answer
