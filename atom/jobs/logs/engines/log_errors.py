"""Rules that find lines of a log that report an error, and its kind.

The rules look at whole lines, in this order; the first that holds gives the kind. A traceback is
one finding at its first line, whose summary is the exception at its end.
"""

from __future__ import annotations

from typing import Final

import re2

from atom_sdk.runner import out_of_memory

TRACEBACK: Final = "traceback"
KINDS: Final = (
    TRACEBACK, "out_of_memory", "gpu", "network", "crash", "exception", "error",
)  # fmt: skip
# What a launcher puts before the lines of a rank: `[rank3]: `, `[default3]:`.
_RANK = r"^(?:\[[a-z]+\d+\]:\s?)?"

_RULES: Final = (
    (TRACEBACK, r"(?:^|\s)Traceback \(most recent call last\)"),
    ("out_of_memory", out_of_memory.ANYWHERE),
    (
        "gpu",
        r"CUDA error|CUDA_ERROR_[A-Z]|cudaError[A-Z]|device-side assert|illegal memory access"
        r"|CUDNN_STATUS_[A-RT-Z]|CUBLAS_STATUS_[A-RT-Z]|NVRM: Xid|HIP error|no kernel image is",
    ),
    (
        "network",
        r"NCCL WARN|NCCL [Ee]rror|nccl(?:System|Internal|Remote|UnhandledCuda|InvalidUsage)Error"
        r"|ncclInvalid|collective operation timeout|DistNetworkError|DistBackendError"
        r"|Connection (?:refused|reset by peer)",
    ),
    (
        "crash",
        r"Segmentation fault|\(core dumped\)|Bus error|Illegal instruction|Fatal Python error"
        r"|terminate called after|thread '[^']*' panicked at|double free or corruption",
    ),
    (
        "exception",
        _RANK + r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration)(?::|$)",
    ),
    (
        "error",
        # A word at the front, or the level of a logger; `error: 0.31` is a metric.
        _RANK + r"(?i:fatal error|fatal|error):\s+[^\d\s.+-]"
        r"|^(?:.{0,80}[\s\[|(:-])?(?:ERROR|FATAL|CRITICAL)(?:[\]|):\s-]|$)",
    ),
)
# One pass over a line, or over a whole frame, shows whether any rule may hold.
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
ANY: Final = re2.compile("(?m)" + "|".join(f"(?:{rule})" for _, rule in _RULES), _OPTIONS)
_COMPILED: Final = [(kind, re2.compile(rule, _OPTIONS)) for kind, rule in _RULES]
_PREFIX: Final = re2.compile(_RANK, _OPTIONS)


def kind_of(text: str) -> str:
    """Return what the line reports, or an empty text."""
    return next((kind for kind, rule in _COMPILED if rule.search(text)), "")


def is_inside(text: str) -> bool:
    """Return whether the line can be inside a traceback: indented or empty."""
    rest = text[len(_PREFIX.search(text).group()) :]
    return rest == "" or rest[0] in " \t|+"
