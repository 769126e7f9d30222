"""Bytes on their way to the disk while more of them come.

A file that is written first and synchronized at its end waits for the whole of it to be written
then; with writing begun every few MiB the disk works meanwhile, and the end is near at once.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

# Start to write what is dirty in the range, wait for nothing (sync_file_range(2)).
_START = 2


def start_writeback(descriptor: int, offset: int, length: int) -> None:
    """Have the kernel begin to write a range of a file to the disk, and return at once.

    Nothing is promised by it: fsync does that. A system that cannot do it goes without.
    """
    function = _sync_file_range()
    if function is not None:
        function(descriptor, offset, length, _START)


@cache
def _sync_file_range() -> Any:
    function = getattr(ctypes.CDLL(None), "sync_file_range", None)
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
    return function
