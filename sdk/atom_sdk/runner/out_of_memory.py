"""The texts by which programs report that memory ran out, of the machine or of a GPU.

Parts of regular expressions that `re` and `re2` read alike.
"""

from __future__ import annotations

import re

# At the start of an error.
_HOST_EXCEPTIONS = r"(?:numpy\.\S*)?MemoryError\b"
_HOST_MESSAGES = r"DefaultCPUAllocator: can't allocate memory|std::bad_alloc|Cannot allocate memory"
_GPU_MESSAGES = r"CUDA out of memory|OutOfMemoryError|HIP out of memory"
_KERNEL_MESSAGES = r"\boom-kill\b|Out of memory: Killed"

#: Any of them, anywhere in a line.
ANYWHERE = rf"\w*MemoryError\b|{_HOST_MESSAGES}|{_GPU_MESSAGES}|{_KERNEL_MESSAGES}"
_HOST = re.compile(rf"^(?:{_HOST_EXCEPTIONS}|.*(?:{_HOST_MESSAGES}))", re.MULTILINE)


def is_of_host(error: str) -> bool:
    """Return whether an error's text says that the machine's memory ran out, not a GPU's."""
    return bool(_HOST.search(error))
