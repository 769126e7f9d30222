"""The map-style adapter, with and without torch."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from atom_sdk.readers import Sample
from atom_sdk.readers.torch import TorchDataset, bytes_tensor
from tests.sdk.readers.conftest import Node


def _decode(sample: Sample) -> tuple[int, int]:
    return len(sample.data), sample.label_code


def test_rows_and_batches_are_decoded(node: Node) -> None:
    dataset = TorchDataset(node.open(), _decode)
    assert len(dataset) == 300
    assert dataset.classes == ["class 0", "class 1"]
    assert dataset.__getitems__([3, 0]) == [dataset[3], dataset[0]]
    again = pickle.loads(pickle.dumps(dataset))
    assert again[3] == dataset[3]


def test_importing_the_adapter_does_not_import_torch() -> None:
    code = "import sys, atom_sdk.readers.torch; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_importing_the_sdk_imports_nothing_heavy() -> None:
    code = "import sys, atom_sdk; sys.exit(bool({'pyarrow', 'numpy', 'httpx'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_data_loader_reads_with_workers(node: Node) -> None:
    data = pytest.importorskip("torch.utils.data")
    dataset = TorchDataset(node.open(), _decode)
    loader = data.DataLoader(dataset, batch_size=32, num_workers=2)
    sizes = [int(size) for batch, _ in loader for size in batch]
    assert sizes == [len(node.files[path]) for path in sorted(node.files)]


def test_bytes_become_a_tensor(node: Node) -> None:
    pytest.importorskip("torch")
    sample = node.open()[1]
    assert bytes(bytes_tensor(sample).numpy()) == bytes(sample.data)
