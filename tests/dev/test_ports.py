import socket

import pytest

from atom.dev.ports import PortBusyError, find_free, is_free, is_listening, require_free


def test_a_listening_port_is_busy_and_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)
        assert is_listening(port)
        with pytest.raises(PortBusyError, match=f"Port {port} .web.*ATOM_WEB_PORT"):
            require_free([(port, "web", "ATOM_WEB_PORT")])


def test_free_ports_are_consecutive() -> None:
    base = find_free(8, start=500)
    assert all(is_free(port) for port in range(base, base + 8))
    require_free([(base, "web", "ATOM_WEB_PORT")])
