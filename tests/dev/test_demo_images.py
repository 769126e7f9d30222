"""The demo's pictures, also where it is killed while it writes one."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from demo.images import change_some, write_digits

# The kernel ends the process in the middle of the first file that is longer.
KILLED = """
import resource, signal, sys
from pathlib import Path
from demo.images import change_some, write_digits
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
home, longest = Path(sys.argv[1]), int(sys.argv[2])
if sys.argv[3] == "write":
    resource.setrlimit(resource.RLIMIT_FSIZE, (longest, longest))
digits = write_digits(home)
resource.setrlimit(resource.RLIMIT_FSIZE, (longest, longest))
change_some(digits)
"""


def killed_at(home: Path, longest_bytes: int, step: str) -> None:
    """Run the demo's step until it is killed while it writes a file of more bytes."""
    command = [sys.executable, "-c", KILLED, str(home), str(longest_bytes), step]
    assert subprocess.run(command, check=False).returncode == -signal.SIGXFSZ


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_a_demo_that_is_killed_while_it_writes_leaves_no_half_picture(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    assert change_some(write_digits(whole)) == 50
    wanted = contents(whole)

    killed_at(broken, 340, "write")
    # Pictures are shifted only later.
    held = {name: data for name, data in contents(broken).items() if name.endswith(".png")}
    assert held
    assert all(data.endswith(b"IEND\xaeB`\x82") for data in held.values())

    # Long enough for every picture, too short for the true labels.
    killed_at(broken, 4096, "write")
    killed_at(broken, 360, "change")
    assert 0 < change_some(write_digits(broken)) < 50
    assert contents(broken) == wanted
    assert change_some(write_digits(broken)) == 0
