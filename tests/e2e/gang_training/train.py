"""Trains a line on two nodes: each rank has its own samples, and gloo adds up their gradients."""

from __future__ import annotations

import json
import time

import torch
import torch.distributed as dist

from atom_sdk import run

STEPS = 60
# Long enough for a checkpoint to be stored, and for a test to end a rank.
STEP_S = 0.2
EVERY = 5


def main() -> None:
    """Train, and go on from the last stored checkpoint."""
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    weight = torch.zeros(2)
    first = 0
    if (resumed := run.resume()) is not None:
        state = json.loads(resumed.file("state.json").read_text())
        weight, first = torch.tensor(state["weight"]), int(state["step"])
    print(f"rank {rank} of {world} starts at step {first}", flush=True)
    for step in range(first + 1, STEPS + 1):
        inputs = torch.rand(64)
        wanted = 3.0 * inputs + 1.0
        error = weight[0] * inputs + weight[1] - wanted
        gradient = torch.stack([(error * inputs).mean(), error.mean()])
        dist.all_reduce(gradient)
        weight = weight - 0.8 * gradient / world
        run.log({"loss": float((error**2).mean())}, step)
        if rank == 0 and step % EVERY == 0:
            state = {"step": step, "weight": weight.tolist()}
            run.save_checkpoint(step, {"state.json": json.dumps(state).encode()})
        time.sleep(STEP_S)
    weights = [torch.zeros(2) for _ in range(world)]
    dist.all_gather(weights, weight)
    assert all(torch.equal(one, weight) for one in weights)
    (run.output_dir() / "weight.json").write_text(json.dumps(weight.tolist()))
    print(f"rank {rank} ends with {weight.tolist()}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
