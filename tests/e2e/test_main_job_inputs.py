"""How a run's data gets there, in the environment of the built-in training: torch and Pillow."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from atom.settings.environment import BASE_DIR
from atom_sdk.client import Client
from tests.stack import Stack

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.slow,
    pytest.mark.e2e,
    pytest.mark.usefixtures("demo_output"),
]

# First what any ImageFolder does, without Atom; then the SDK, over packs that are not here yet.
SCRIPT = """
import os
from PIL import Image
top = os.environ["ATOM_INPUT_PICTURES"]
classes = sorted(entry.name for entry in os.scandir(top) if entry.is_dir())
sizes = [
    Image.open(os.path.join(folder, name)).convert("RGB").size
    for folder, _, names in os.walk(top) for name in sorted(names)[:20]
]
print("walked", len(classes), len(sizes), set(sizes), flush=True)

from atom_sdk import run
from atom_sdk.readers.images import ImageDecoder, decode_many
shapes = [pixels.shape for pixels, _ in decode_many(run.dataset("cold"), ImageDecoder())]
print("streamed", shapes.count((3, 24, 32)))
"""


@pytest.fixture
def atom(demo_client: Client) -> Client:
    """The client of the main job's stack."""
    return demo_client


def test_an_unmodified_script_reads_a_folder_and_the_sdk_a_stream(
    atom: Client, images: Path
) -> None:
    atom.datasets.push(images, "cold-pictures")
    training = trained(atom)
    pictures = training["datasets"][0]

    started = atom.runs.create(
        name="both inputs",
        command=["python", "-c", SCRIPT],
        requirements=training["runtime"]["requirements"],
        datasets={
            "pictures": f"{pictures['dataset']}@{pictures['ref']}",
            "cold": "cold-pictures@v1",
        },
        deliveries={"pictures": "mount", "cold": "stream"},
    )
    ended = atom.runs.wait(started["id"], timeout_s=300)

    said = "".join(atom.runs.log(started["id"]))
    assert ended["state"] == "succeeded", said
    assert "walked 11 220 {(28, 28)}" in said
    assert "streamed 40" in said
    shown = {one["alias"]: one for one in ended["datasets"]}
    assert shown["pictures"]["mounted_by"] in {"erofs", "loop", "hardlinks", "fuse"}
    [cached] = atom.datasets.coverage("cold-pictures@v1")
    assert (cached["state"], cached["packs_present"]) == ("cold", 0)


# In the fast tier: the order of samples in `tests/sdk/readers`, without torch's processes.
@pytest.mark.deep
def test_ranks_and_workers_of_torch_read_every_sample_once_and_resume_without_repeats(
    stack_of_two: Stack, atom: Client
) -> None:
    digest = trained(atom)["runtime"]["digest"]
    python = stack_of_two.runtimes / digest[:32] / "bin" / "python"
    done = subprocess.run(
        [python, "-m", "bench.torch_order"],
        cwd=BASE_DIR,
        env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 ranks x 2 workers read each of 1003 samples once: True" in done.stdout
    assert "64 by 2 ranks, then 939 by 3: none repeated, none lost: True" in done.stdout
    assert "workers that live on read what no workers read: True" in done.stdout


def trained(atom: Client) -> dict[str, Any]:
    """Return the demo's training; people may have cloned it meanwhile."""
    *_, oldest = atom.runs.list(q="digits classifier")
    return atom.runs.get(oldest["id"])
