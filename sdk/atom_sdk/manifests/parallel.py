"""Work on many ranges by a few threads; Arrow, hashing and reading release the lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_THREADS = 4
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def worked_ahead(
    work: Callable[[_Item], _Result], items: Iterable[_Item], threads: int = _THREADS
) -> Iterator[_Result]:
    """Yield what `work` makes of each item, in their order; `threads` items are ahead.

    Raises what `work` raises, at the item's turn.
    """
    with ThreadPoolExecutor(threads, "range") as pool:
        futures: deque[Future[_Result]] = deque()
        for item in items:
            futures.append(pool.submit(work, item))
            if len(futures) > threads:
                yield futures.popleft().result()
        while futures:
            yield futures.popleft().result()
