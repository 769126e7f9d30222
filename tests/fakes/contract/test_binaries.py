"""The command lines of a real API server, and the choice in a kubeconfig of several contexts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.fakes.contract import binaries
from tests.fakes.contract.binaries import commands, running_binaries
from tests.fakes.contract.worlds import chosen

# As the references of etcd 3.6 and kube-apiserver 1.36 document them; `True`: it must be given.
ETCD = {
    "data-dir": False,
    "listen-client-urls": False,
    # etcd does not start with the other of the two alone.
    "advertise-client-urls": True,
    "listen-peer-urls": False,
}
API_SERVER = {
    "etcd-servers": True,
    "cert-dir": False,
    "secure-port": False,
    "bind-address": False,
    "advertise-address": False,
    "endpoint-reconciler-type": False,
    "service-cluster-ip-range": False,
    "token-auth-file": False,
    "authorization-mode": False,
    "service-account-issuer": True,
    "service-account-key-file": True,
    "service-account-signing-key-file": True,
    "disable-admission-plugins": False,
}


def test_each_flag_is_documented_and_none_that_is_required_lacks(tmp_path: Path) -> None:
    lines = commands(tmp_path, tmp_path, (1, 2, 3))
    for line, documented in zip(lines, (ETCD, API_SERVER), strict=True):
        flags = dict(part.removeprefix("--").split("=", 1) for part in line[1:])
        assert set(flags) <= set(documented)
        assert {name for name, needed in documented.items() if needed} <= set(flags)
        assert all(flags.values())


def test_a_binary_that_ends_at_once_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = [[sys.executable, "-c", "raise SystemExit(7)"]]
    monkeypatch.setattr(binaries, "commands", lambda *_: ending)
    with pytest.raises(AssertionError, match="ended with 7"), running_binaries(tmp_path):
        pass


def test_the_current_context_chooses_cluster_and_user() -> None:
    config = {
        "current-context": "b",
        "contexts": [
            {"name": name, "context": {"cluster": f"c-{name}", "user": f"u-{name}"}}
            for name in ("a", "b")
        ],
        "clusters": [{"name": f"c-{name}", "cluster": {"server": name}} for name in ("a", "b")],
        "users": [{"name": f"u-{name}", "user": {"token": name}} for name in ("a", "b")],
    }
    assert chosen(config) == ({"server": "b"}, {"token": "b"})
    only = {"clusters": [{"cluster": {"server": "a"}}], "users": [{"user": {"token": "a"}}]}
    assert chosen(only) == ({"server": "a"}, {"token": "a"})
