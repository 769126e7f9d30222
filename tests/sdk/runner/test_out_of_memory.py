"""A text of memory that ran out means the same to the runner, the log page and the failure."""

import pytest

from atom.jobs.failures.engines.failure_codes import FailureCode
from atom.jobs.failures.engines.failures import ExitReport, Limits, classify
from atom.jobs.logs.engines import log_errors
from atom_sdk.runner import evidence

TRACE = 'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n    work()\n'
HOST = [
    "MemoryError",
    "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array",
    "RuntimeError: [enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory",
    "OSError: [Errno 12] Cannot allocate memory",
]
ELSEWHERE = [
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "torch.OutOfMemoryError: HIP out of memory.",
]


@pytest.mark.parametrize("error", HOST)
def test_memory_of_the_machine(error: str) -> None:
    assert evidence.ran_out_of_memory((TRACE + error + "\n").encode())
    assert log_errors.kind_of(error) == "out_of_memory"
    failure = classify(ExitReport("exited", 1, traceback=TRACE + error), Limits(2**30, None))
    assert failure is not None
    assert failure.code == FailureCode.OUT_OF_MEMORY


@pytest.mark.parametrize("error", ELSEWHERE)
def test_memory_of_a_gpu_is_no_memory_of_the_machine(error: str) -> None:
    assert not evidence.ran_out_of_memory((TRACE + error + "\n").encode())
    assert log_errors.kind_of(error) == "out_of_memory"
    failure = classify(ExitReport("exited", 1, traceback=TRACE + error), Limits(2**30, None))
    assert failure is not None
    assert failure.code != FailureCode.OUT_OF_MEMORY


@pytest.mark.parametrize("text", ["ValueError: MemoryError is my class", "memory: 3 GiB"])
def test_other_texts(text: str) -> None:
    assert not evidence.ran_out_of_memory((TRACE + text + "\n").encode())
