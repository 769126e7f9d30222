"""The command and the variables of each rank, by launcher."""

from __future__ import annotations

import json

import pytest

from atom.jobs.attempts.engines.ranks import (
    Gang,
    RankPlace,
    command_of,
    environment_of,
    hostfile_of,
    table_of,
)
from atom.jobs.launchers import HOSTFILE, PLAIN, TENSORFLOW, TORCHRUN


def gang(
    launcher: str = PLAIN, gpus: int = 0, hosts: tuple[str, ...] = ("10.0.0.1", "fd00::2")
) -> Gang:
    places = [RankPlace(number, host, f"n{number}") for number, host in enumerate(hosts)]
    return Gang("0195-attempt", launcher, places, gpus)


def test_a_plain_rank_finds_pytorchs_names() -> None:
    found = environment_of(gang(), 1)
    assert found["MASTER_ADDR"] == "10.0.0.1"
    assert found["MASTER_PORT"] == environment_of(gang(), 0)["MASTER_PORT"]
    assert 20_000 <= int(found["MASTER_PORT"]) < 30_000
    named = {name: found[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "ATOM_RANK")}
    assert named == {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "ATOM_RANK": "1"}
    assert command_of(gang(), 1, ["python", "train.py"]) == ["python", "train.py"]


def test_torchrun_gives_its_processes_ranks_of_their_own() -> None:
    found = environment_of(gang(TORCHRUN, gpus=4), 1)
    assert "RANK" not in found
    assert "WORLD_SIZE" not in found


@pytest.mark.parametrize(
    ("command", "before", "after"),
    [
        (["python", "train.py", "-x"], ["python"], ["train.py", "-x"]),
        (["/env/bin/python3.12", "-u", "-X", "dev", "train.py"],
         ["/env/bin/python3.12", "-u", "-X", "dev"], ["train.py"]),
        (["python", "-m", "team.train"], ["python"], ["-m", "team.train"]),
        (["./train.sh", "a"], ["python"], ["--no-python", "./train.sh", "a"]),
    ],
)  # fmt: skip
def test_torchrun_starts_a_process_for_each_gpu(
    command: list[str], before: list[str], after: list[str]
) -> None:
    one = gang(TORCHRUN, gpus=4)
    options = [
        *("--nnodes=2", "--node-rank=1", "--nproc-per-node=4", "--master-addr=10.0.0.1"),
        *(f"--master-port={one.port}", "--max-restarts=0"),
    ]
    found = command_of(one, 1, command)
    assert found == [*before, "-m", "torch.distributed.run", *options, *after]


def test_torchrun_itself_gets_its_options() -> None:
    found = command_of(gang(TORCHRUN), 0, ["torchrun", "train.py"])
    assert found[:3] == ["torchrun", "--nnodes=2", "--node-rank=0"]
    assert found[3] == "--nproc-per-node=1"
    assert found[-1] == "train.py"


def test_tensorflow_finds_its_cluster() -> None:
    one = gang(TENSORFLOW)
    config = json.loads(environment_of(one, 1)["TF_CONFIG"])
    assert config["cluster"]["worker"] == [f"10.0.0.1:{one.port}", f"[fd00::2]:{one.port}"]
    assert config["task"] == {"type": "worker", "index": 1}


def test_the_hostfile_and_the_table_name_all_ranks() -> None:
    one = gang(HOSTFILE, gpus=8)
    assert hostfile_of(one) == "10.0.0.1 slots=8\nfd00::2 slots=8\n"
    assert table_of(one)[1] == {"rank": 1, "host": "fd00::2", "node": "n1", "slots": 8}
