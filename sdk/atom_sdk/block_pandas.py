"""Keeps pandas out of Atom's own programs, which never use it.

To look whether it was given a frame, pyarrow imports pandas where that is installed. This takes
0.4 s and 50 MB of each process, more than most commands need for their work.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _WithoutPandas(MetaPathFinder):
    """Answers for pandas as if it were not installed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ModuleNotFoundError for pandas; leave everything else to the other finders."""
        if fullname == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=fullname)
        return None


def leave_pandas_out() -> None:
    """Have this process, and those that it forks, do without pandas. Never call it in a library."""
    if not any(isinstance(finder, _WithoutPandas) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WithoutPandas())
