"""Ways to start the command of a run on several nodes."""

from __future__ import annotations

from typing import Final

# Each node starts the command itself, once.
PLAIN: Final = "plain"
# Each node starts one process for each of its GPUs, with PyTorch's rendezvous at rank 0.
TORCHRUN: Final = "torchrun"
# Each node starts the command with `TF_CONFIG`.
TENSORFLOW: Final = "tensorflow"
# Each node starts the command with a file of all hosts, as MPI and DeepSpeed read it.
HOSTFILE: Final = "hostfile"

LAUNCHERS: Final = (PLAIN, TORCHRUN, TENSORFLOW, HOSTFILE)
MAX_NODES: Final = 256
