"""The built-in workflow that takes frames and clips out of videos, by the real ffmpeg."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from atom_sdk.run import RunFailure

WORKFLOW = Path(__file__).parents[3] / "atom" / "jobs" / "workflows" / "builtin" / "video_frames"


@pytest.fixture(scope="module")
def extract() -> Iterator[Any]:
    """The workflow's modules, as a run imports them."""
    sys.path.insert(0, str(WORKFLOW))
    yield importlib.import_module("extract")
    sys.path.remove(str(WORKFLOW))
    for name in ("extract", "cutting"):
        del sys.modules[name]


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Three seconds of a test picture, and two scenes of one colour each."""
    folder = tmp_path_factory.mktemp("videos")
    sources = {
        "test.mp4": "testsrc=duration=3:size=64x48:rate=10",
        "scenes.mkv": "color=red:duration=1:size=64x48:rate=10[a];"
        "color=blue:duration=1:size=64x48:rate=10[b];[a][b]concat",
    }
    for name, graph in sources.items():
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-f", "lavfi", "-i", graph]
        command += ["-c:v", "libx264", "-preset", "ultrafast", str(folder / name)]
        subprocess.run(command, check=True, capture_output=True)
    return {name: (folder / name).read_bytes() for name in sources}


@dataclass
class Samples:
    """The samples of `atom_sdk.run.dataset`, as far as the workflow looks at them."""

    files: dict[str, bytes]
    splits: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        paths = list(self.files)
        self.dataset = SimpleNamespace(index=SimpleNamespace(path_of=lambda row: paths[row]))
        self.rows = np.arange(len(paths))

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> SimpleNamespace:
        path = list(self.files)[number]
        return SimpleNamespace(
            path=path, data=self.files[path], label="road", split=self.splits.get(path)
        )


def test_frames_have_the_times_that_were_asked_for(
    extract: Any, videos: dict[str, bytes], tmp_path: Path
) -> None:
    samples = Samples({"a/test.mp4": videos["test.mp4"]}, {"a/test.mp4": "val"})
    result = extract.extract(samples, "", extract.Cut(every_s=1.0, width=32), tmp_path)
    assert {path: found["time_s"] for path, found in result.attributes.items()} == {
        "a/test.mp4/t000000000.jpg": 0.0,
        "a/test.mp4/t000001000.jpg": 1.0,
        "a/test.mp4/t000002000.jpg": 2.0,
    }
    assert {found["source"] for found in result.attributes.values()} == {"a/test.mp4"}
    assert set(result.labels.values()) == {"road"}
    assert set(result.splits.values()) == {"val"}
    with Image.open(tmp_path / "a/test.mp4/t000001000.jpg") as picture:
        assert picture.size == (32, 24)


def test_ten_frames_a_second_are_all_of_them(
    extract: Any, videos: dict[str, bytes], tmp_path: Path
) -> None:
    cut = extract.Cut(every_s=0.1, format="png")
    result = extract.extract(Samples({"test.mp4": videos["test.mp4"]}), "", cut, tmp_path)
    assert len(result.attributes) == 30
    assert "test.mp4/t000002900.png" in result.attributes


def test_scenes_begin_where_the_picture_changes(
    extract: Any, videos: dict[str, bytes], tmp_path: Path
) -> None:
    cut = extract.Cut(mode="scenes", scene_change=0.2)
    result = extract.extract(Samples({"s.mkv": videos["scenes.mkv"]}), "", cut, tmp_path)
    assert [found["time_s"] for found in result.attributes.values()] == [0.0, 1.0]


def test_clips_are_videos_of_the_length_that_was_asked_for(
    extract: Any, videos: dict[str, bytes], tmp_path: Path
) -> None:
    cut = extract.Cut(mode="clips", clip_s=2.0)
    result = extract.extract(Samples({"test.mp4": videos["test.mp4"]}), "", cut, tmp_path)
    times = [(found["time_s"], found["duration_s"]) for found in result.attributes.values()]
    assert times == [(0.0, 2.0), (2.0, 1.0)]
    _, seconds = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "test.mp4/t000002000.mp4"))
    assert round(seconds) == 1
    files = {
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*") if path.is_file()
    }
    assert files == set(result.attributes)


def test_broken_and_hostile_videos_are_reported_and_the_rest_goes_on(
    extract: Any, videos: dict[str, bytes], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.mp4"
    secret.write_bytes(videos["test.mp4"])
    playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{secret}\n#EXT-X-ENDLIST\n"
    files = {
        "cut.mp4": videos["test.mp4"][:2000],
        "empty.mp4": b"",
        "list.mp4": playlist.encode(),
        "note.txt": b"no video",
        "test.mp4": videos["test.mp4"],
        "z/other.mp4": videos["test.mp4"],
    }
    result = extract.extract(Samples(files), "", extract.Cut(), tmp_path / "out")
    assert set(result.broken) == {"cut.mp4", "empty.mp4", "list.mp4"}
    assert all("/" not in reason.split(":")[0] for reason in result.broken.values())
    assert len(result.attributes) == 6
    assert not (tmp_path / "out" / "cut.mp4").exists()
    below = extract.extract(Samples(files), "z/", extract.Cut(), tmp_path / "below")
    assert (below.videos, len(below.attributes)) == (1, 3)


def test_a_result_never_takes_the_place_of_its_videos(extract: Any) -> None:
    for output in ("dashcam", "dashcam@frames"):
        with pytest.raises(RunFailure, match="another dataset") as refused:
            extract.check_output(output, "dashcam@v2")
        assert (refused.value.code, refused.value.params) == ("output_is_input", {"output": output})
    extract.check_output("frames", "dashcam@v2")


def test_nothing_to_push_has_a_reason_with_a_code(extract: Any) -> None:
    with pytest.raises(RunFailure) as without:
        extract.check_result(extract.Result(), "dashcam@v2", 7)
    assert (without.value.code, without.value.params) == (
        "no_videos",
        {"dataset": "dashcam@v2", "files": 7},
    )
    with pytest.raises(RunFailure) as broken:
        extract.check_result(extract.Result(videos=2, broken={"a": "x"}), "dashcam@v2", 7)
    assert (broken.value.code, broken.value.params["videos"]) == ("no_readable_video", 2)
