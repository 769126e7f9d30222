"""Where a training is in its data, shared with the workers of its DataLoaders.

A persistent worker copies its dataset once and then lives for many epochs, so the training writes
its position to shared memory as well. A loader begins an epoch in all of its workers, but not at
the same moment: a slow worker may begin when the training has already moved on by some batches. So
the first worker that begins notes where the position is, and the others of its loader take that.
"""

from __future__ import annotations

import fcntl
import mmap
import multiprocessing
import os
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import reduction
from multiprocessing.context import get_spawning_popen
from typing import Any

from atom_sdk.errors import TooManyTrainersError
from atom_sdk.forks import forget_in_children

# The position of one process: its id (0: free), epoch, sample.
_CELL = struct.Struct("<3q")
_CELLS = 64
# How the workers of a loader begin one epoch: who they are (parent, pool, number of workers, state
# of the position when the loader was made, which epoch of the loader), how many have not begun yet,
# and where they begin.
_START = struct.Struct("<8q")
_STARTS = 64
_STARTS_AT = 8 + _CELLS * _CELL.size
_BYTES = _STARTS_AT + _STARTS * _START.size


class Position:
    """An epoch, and how many of its samples were read."""

    def __init__(self, epoch: int = 0, sample: int = 0) -> None:
        """Begin there."""
        self.epoch = epoch
        self.sample = sample

    def move_to(self, epoch: int, sample: int) -> None:
        """Go on from there."""
        self.epoch, self.sample = epoch, sample


class SharedPosition(Position):
    """A position that workers see when they begin an epoch, however they were started.

    Processes that were forked share it, and so do those that multiprocessing spawns with it. Any
    other copy is a position of its own. Each process moves its own position; a worker begins where
    the process that started it is.
    """

    def __init__(self, epoch: int = 0, sample: int = 0) -> None:
        """Begin there, in new shared memory."""
        super().__init__(epoch, sample)
        # How often it was moved before this process copied it, and how often a worker began.
        self._moves = self._passes = 0
        self._attach(_new_block())

    def move_to(self, epoch: int, sample: int) -> None:
        """Go on from there; workers see it when they next begin. Raises TooManyTrainersError."""
        super().move_to(epoch, sample)
        self._moves += 1
        with self._locked():
            _CELL.pack_into(self._block, self._own_cell(), os.getpid(), epoch, sample)

    def begin(self, pool: int, workers: int) -> None:
        """Be where an epoch begins, in a worker. `pool` is a number of its loader, and `workers`.

        The first epoch begins at what the worker copied when its loader was started.
        """
        if self._passes:
            who = (_parent(), pool, workers, self._moves, self._passes)
            with self._locked():
                self.epoch, self.sample = self._start_of(who)
        self._passes += 1

    def forget(self) -> None:
        """Be another process than the one that this was forked from."""
        self._lock = threading.Lock()
        # A process that had this id before has ended.
        with self._locked():
            cell = self._cell_of(os.getpid())
            if cell is not None:
                _CELL.pack_into(self._block, cell, 0, 0, 0)

    def __copy__(self) -> SharedPosition:
        """A position of its own."""
        return SharedPosition(self.epoch, self.sample)

    def __reduce__(self) -> tuple[Callable[..., SharedPosition], tuple[Any, ...]]:
        """Share the memory with a process that is being spawned, with nothing else."""
        if get_spawning_popen() is None:
            return SharedPosition, (self.epoch, self.sample)
        state = self.epoch, self.sample, self._moves, self._passes
        return _attached, (reduction.DupFd(self._descriptor), *state)

    def __del__(self) -> None:
        """Let go of the memory; there is none if the constructor failed."""
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def _attach(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._block = mmap.mmap(descriptor, _BYTES)
        self._lock = threading.Lock()
        forget_in_children(self)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # The file's lock is for processes, and goes with one that is killed; ours is for threads.
        with self._lock:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.lockf(self._descriptor, fcntl.LOCK_UN)

    def _start_of(self, who: tuple[int, ...]) -> tuple[int, int]:
        """Where the workers of a loader begin an epoch."""
        for number in range(_STARTS):
            at = _STARTS_AT + number * _START.size
            *key, waiting, epoch, sample = _START.unpack_from(self._block, at)
            # Where all have begun, it is another loader's with the same seed.
            if tuple(key) == who and waiting:
                _START.pack_into(self._block, at, *who, waiting - 1, epoch, sample)
                return epoch, sample
        place = self._place_of(who[0])
        self._note_start((*who, who[2] - 1, *place))
        return place

    def _place_of(self, process: int) -> tuple[int, int]:
        cell = self._cell_of(process)
        if cell is None:
            # It did not move since this process copied it.
            return self.epoch, self.sample
        _, epoch, sample = _CELL.unpack_from(self._block, cell)
        return epoch, sample

    def _note_start(self, start: tuple[int, ...]) -> None:
        (count,) = struct.unpack_from("<q", self._block)
        at = _STARTS_AT + count % _STARTS * _START.size
        _START.pack_into(self._block, at, *start)
        struct.pack_into("<q", self._block, 0, count + 1)

    def _cell_of(self, process: int) -> int | None:
        for at in _cells():
            if _CELL.unpack_from(self._block, at)[0] == process:
                return at
        return None

    def _own_cell(self) -> int:
        own = self._cell_of(os.getpid())
        if own is not None:
            return own
        for at in _cells():
            process = _CELL.unpack_from(self._block, at)[0]
            if not process or not _is_alive(process):
                return at
        raise TooManyTrainersError(_CELLS)


def _cells() -> range:
    return range(8, _STARTS_AT, _CELL.size)


def _new_block() -> int:
    """Open memory that has no name, so that nothing is left of it after a kill."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("atom-position")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, _BYTES)
    return descriptor


def _attached(handle: Any, epoch: int, sample: int, moves: int, passes: int) -> SharedPosition:
    """A position of this process in the memory of the one that spawned it."""
    position = SharedPosition.__new__(SharedPosition)
    Position.__init__(position, epoch, sample)
    position._moves, position._passes = moves, passes
    position._attach(handle.detach())
    position.forget()
    return position


def _parent() -> int:
    """The process that started this one; with a fork server, the one that asked for it."""
    parent = multiprocessing.parent_process()
    return os.getppid() if parent is None or parent.pid is None else parent.pid


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
