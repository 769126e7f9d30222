"""The generated messages are those of the `.proto` files."""

from __future__ import annotations

from pathlib import Path

import pytest
from grpc_tools import protoc

from atom.settings.environment import BASE_DIR

FOLDER = Path("atom_agent", "csi")


@pytest.mark.parametrize("name", ["csi", "registration"])
def test_the_messages_follow_from_the_proto_file(name: str, tmp_path: Path) -> None:
    root = BASE_DIR / "agent"
    outputs = [f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    source = str(FOLDER / f"{name}.proto")
    # The package brings the standard's own files, such as wrappers.
    included = [f"-I{root}", f"-I{Path(protoc.__file__).parent / '_proto'}"]
    assert protoc.main(["protoc", *included, *outputs, source]) == 0
    for suffix in ("_pb2.py", "_pb2.pyi"):
        path = FOLDER / f"{name}{suffix}"
        assert (tmp_path / path).read_text() == (root / path).read_text(), "Run make proto."
