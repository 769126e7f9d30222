"""Atom's own programs do without pandas, though pyarrow would import it."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("pandas", reason="pandas comes with the packages for development")

ARRAY = "import sys, pyarrow; pyarrow.array(['a']); print('pandas' in sys.modules)"
APART = "from atom_sdk.block_pandas import leave_pandas_out; leave_pandas_out(); "


@pytest.mark.parametrize(("before", "loaded"), [("", "True"), (APART, "False")])
def test_pyarrow_loads_pandas_unless_the_program_leaves_it_out(before: str, loaded: str) -> None:
    command = [sys.executable, "-c", before + ARRAY]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == loaded
