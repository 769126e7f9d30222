import os
import socket
import threading
from pathlib import Path

import pytest

from atom.dev.ports import PortBusyError, find_free, is_free, is_listening, require_free
from atom.dev.seaweed import require_no_foreign_sockets


def test_a_listening_port_is_busy_and_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)
        assert is_listening(port)
        with pytest.raises(PortBusyError, match=f"Port {port} .web.*ATOM_WEB_PORT"):
            require_free([(port, "web", "ATOM_WEB_PORT")])


def test_a_port_that_is_let_go_of_meanwhile_is_waited_for() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    wanted = [(server.getsockname()[1], "web", "ATOM_WEB_PORT")]
    with pytest.raises(PortBusyError):
        require_free(wanted, patience_s=0.1)
    closing = threading.Timer(0.3, server.close)
    closing.start()
    require_free(wanted, patience_s=30)
    closing.join()


def test_free_ports_are_consecutive() -> None:
    base = find_free(8, start=500)
    assert all(is_free(port) for port in range(base, base + 8))
    require_free([(base, "web", "ATOM_WEB_PORT")])


def test_a_socket_that_another_user_left_is_named_with_what_to_do(tmp_path: Path) -> None:
    left = tmp_path / "seaweedfs-master-grpc-8338.sock"
    left.touch()
    require_no_foreign_sockets(range(8333, 8341), os.geteuid(), tmp_path)
    require_no_foreign_sockets(range(8333, 8341), 0, tmp_path)
    require_no_foreign_sockets(range(8341, 8349), os.geteuid() + 1, tmp_path)
    with pytest.raises(PortBusyError, match=r"8338\.sock.*ATOM_S3_PORT"):
        require_no_foreign_sockets(range(8333, 8341), os.geteuid() + 1, tmp_path)
