"""The command and the variables of a rank: its number, all hosts, and what its launcher needs."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from atom.jobs.launchers import TENSORFLOW, TORCHRUN

# Ports of the rendezvous: pods of two runs may share a host's network.
_FIRST_PORT: Final = 20_000
_PORTS: Final = 10_000
# Options of Python that stand before the program.
_PYTHON_FLAGS: Final = frozenset({"-u", "-B", "-O", "-OO", "-s", "-S", "-E", "-I", "-X", "-W"})
_WITH_VALUE: Final = frozenset({"-X", "-W"})


@dataclass(frozen=True, slots=True)
class RankPlace:
    """Where a rank is: an address that the other ranks reach, and the name of its node."""

    number: int
    host: str
    node: str


@dataclass(frozen=True, slots=True)
class Gang:
    """The ranks of one attempt, in order, and how each of them starts the command."""

    attempt: str
    launcher: str
    places: Sequence[RankPlace]
    # The GPUs of each rank.
    gpus: int

    @property
    def port(self) -> int:
        """Return the port of the rendezvous at rank 0."""
        return _FIRST_PORT + zlib.crc32(self.attempt.encode()) % _PORTS

    @property
    def slots(self) -> int:
        """Return how many processes a launcher starts on each node: one for each GPU."""
        return max(1, self.gpus)


def environment_of(gang: Gang, rank: int) -> dict[str, str]:
    """Return the variables of a rank, by PyTorch's names and Atom's own."""
    world = len(gang.places)
    found = {
        "ATOM_RANK": str(rank),
        "ATOM_NODES": str(world),
        "NODE_RANK": str(rank),
        "MASTER_ADDR": gang.places[0].host,
        "MASTER_PORT": str(gang.port),
    }
    if gang.launcher == TORCHRUN:
        return found  # its processes get ranks of their own
    if gang.launcher == TENSORFLOW:
        found["TF_CONFIG"] = json.dumps(_tf_config(gang, rank), separators=(",", ":"))
    return found | {
        "RANK": str(rank),
        "WORLD_SIZE": str(world),
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
    }


def table_of(gang: Gang) -> list[dict[str, Any]]:
    """Return the table of all ranks, as the command finds it in the file `ATOM_RANKS`."""
    return [
        {"rank": one.number, "host": one.host, "node": one.node, "slots": gang.slots}
        for one in gang.places
    ]


def hostfile_of(gang: Gang) -> str:
    """Return a line for each host with its slots, as MPI and DeepSpeed read it."""
    return "".join(f"{one.host} slots={gang.slots}\n" for one in gang.places)


def command_of(gang: Gang, rank: int, command: Sequence[str]) -> list[str]:
    """Return the command that a rank starts."""
    if gang.launcher != TORCHRUN:
        return list(command)
    options = [
        f"--nnodes={len(gang.places)}",
        f"--node-rank={rank}",
        f"--nproc-per-node={gang.slots}",
        f"--master-addr={gang.places[0].host}",
        f"--master-port={gang.port}",
        # A retry is another attempt: Atom starts it on all nodes at once.
        "--max-restarts=0",
    ]
    program = PurePosixPath(command[0]).name
    if program == "torchrun":
        return [command[0], *options, *command[1:]]
    if not program.startswith("python"):
        return ["python", "-m", "torch.distributed.run", *options, "--no-python", *command]
    flags, rest = _split_flags(command[1:])
    return [command[0], *flags, "-m", "torch.distributed.run", *options, *rest]


def _split_flags(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return Python's own options, and the program with its arguments."""
    at = 0
    while at < len(arguments) and arguments[at] in _PYTHON_FLAGS:
        at += 2 if arguments[at] in _WITH_VALUE else 1
    return list(arguments[:at]), list(arguments[at:])


def _tf_config(gang: Gang, rank: int) -> dict[str, Any]:
    workers = [f"{_bracketed(one.host)}:{gang.port}" for one in gang.places]
    return {"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}}


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
