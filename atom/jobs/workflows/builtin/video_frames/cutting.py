"""One video to frames or clips, by ffmpeg."""

from __future__ import annotations

import csv
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import imageio_ffmpeg

FRAMES, SCENES, CLIPS = "frames", "scenes", "clips"
# Containers only: a playlist could name other files and addresses.
FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,flv,ogg,asf,gif,h264,hevc,nut"
)
ENDINGS = {"jpeg": ".jpg", "png": ".png"}
_TIME = re.compile(r"Parsed_showinfo.* pts_time:(-?[0-9.]+)")
_SAID_CHARS = 300
_LIST = "clips.csv"


class BrokenVideoError(Exception):
    """ffmpeg cannot read it; the text is what it said."""


@dataclass(frozen=True)
class Cut:
    """The pieces to take out of a video; `width` 0 leaves the size."""

    mode: str = FRAMES
    every_s: float = 1.0
    scene_change: float = 0.3
    clip_s: float = 10.0
    width: int = 0
    format: str = "jpeg"


@dataclass(frozen=True)
class Piece:
    """A frame or clip: its file, where it begins in the video, how long it is (0 for a frame)."""

    file: Path
    time_s: float
    duration_s: float = 0.0


def cut_video(video: Path, folder: Path, cut: Cut) -> list[Piece]:
    """Write the pieces of a video into an empty folder. Raises BrokenVideoError.

    Files are named after their times in milliseconds, so that more pieces move no name.
    """
    pieces = _clips(video, folder, cut) if cut.mode == CLIPS else _frames(video, folder, cut)
    if not pieces:
        raise BrokenVideoError("It has no picture.")
    return [_named(piece, folder) for piece in pieces]


def _frames(video: Path, folder: Path, cut: Cut) -> list[Piece]:
    ending = ENDINGS[cut.format]
    # A little less than asked for: times of frames are rounded.
    every = f"isnan(prev_selected_t)+gte(t-prev_selected_t,{cut.every_s * 0.9999:.6f})"
    scene = f"eq(n,0)+gt(scene,{cut.scene_change:.4f})"
    select = scene if cut.mode == SCENES else every
    filters = [f"select='{select}'", *_scaled(cut), "showinfo"]
    options = ["-vf", ",".join(filters), "-fps_mode", "vfr", "-an", "-sn", "-map", "0:v:0"]
    options += ["-q:v", "2"] if ending == ".jpg" else []
    said = _run(video, [*options, "-f", "image2", str(folder / f"%09d{ending}")])
    files = sorted(folder.glob(f"*{ending}"))
    times = [float(text) for text in _TIME.findall(said)]
    return [Piece(file, max(0.0, time)) for file, time in zip(files, times, strict=False)]


def _clips(video: Path, folder: Path, cut: Cut) -> list[Piece]:
    # Even sizes: the codec needs them.
    width = str(cut.width - cut.width % 2) if cut.width else "trunc(iw/2)*2"
    height = "-2" if cut.width else "trunc(ih/2)*2"
    options = ["-map", "0:v:0", "-map", "0:a:0?", "-sn", "-vf", f"scale={width}:{height}"]
    # Without frames that are shown before those that they follow, times are those of the video.
    options += ["-bf", "0", "-segment_time_delta", "0.01"]
    options += ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p"]
    options += ["-c:a", "aac", "-force_key_frames", f"expr:gte(t,n_forced*{cut.clip_s})"]
    options += ["-f", "segment", "-segment_time", str(cut.clip_s), "-reset_timestamps", "1"]
    options += ["-segment_list", str(folder / _LIST), "-segment_list_type", "csv"]
    _run(video, [*options, "-fflags", "+bitexact", str(folder / "%09d.mp4")])
    with (folder / _LIST).open(newline="") as rows:
        found = [(folder / name, float(start), float(end)) for name, start, end in csv.reader(rows)]
    (folder / _LIST).unlink()
    return [Piece(file, start, end - start) for file, start, end in found if file.exists()]


def _scaled(cut: Cut) -> list[str]:
    return [f"scale={cut.width}:-1"] if cut.width else []


def _run(video: Path, options: list[str]) -> str:
    """Run ffmpeg and return what it said. Raises BrokenVideoError."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-nostdin", "-hide_banner", "-y", "-xerror"]
    command += ["-protocol_whitelist", "file", "-format_whitelist", FORMATS, "-i", str(video)]
    done = subprocess.run([*command, *options], capture_output=True, check=False)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        words = said.replace(f"{video}: ", "").replace(str(video), "the video").strip()
        raise BrokenVideoError(words.splitlines()[-1][-_SAID_CHARS:] if words else "ffmpeg failed")
    return said


def _named(piece: Piece, folder: Path) -> Piece:
    milliseconds = round(piece.time_s * 1000)
    target = folder / f"t{milliseconds:09d}{piece.file.suffix}"
    if target.exists():
        target = folder / f"t{milliseconds:09d}-{piece.file.stem}{piece.file.suffix}"
    piece.file.rename(target)
    return Piece(target, round(piece.time_s, 3), round(piece.duration_s, 3))
