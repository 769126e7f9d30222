"""Pictures of mistakes: what is there and what the detector says, drawn as boxes with words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from data import Part  # type: ignore[import-not-found]
from evaluation import Evaluation, Judged  # type: ignore[import-not-found]
from images import UnreadableImageError, decode_whole  # type: ignore[import-not-found]
from mistakes import Finding, Kind  # type: ignore[import-not-found]
from PIL import Image, ImageDraw, ImageFont

FOLDER, LIST = "mistakes", "mistakes.json"
MOST_PICTURES = 48
SIDE = 640
GREEN, BLUE, RED, ORANGE = "#2f9e44", "#1c7ed6", "#e03131", "#f08c00"
WORDS = {
    Kind.DOUBLE: "double",
    Kind.WRONG_CLASS: "wrong class",
    Kind.MISPLACED: "misplaced",
    Kind.WRONG_AND_MISPLACED: "wrong and misplaced",
    Kind.FALSE: "false",
    Kind.MISSED: "missed",
}


def write_mistakes(evaluation: Evaluation, part: Part, output: Path) -> int:
    """Write the pictures with the most mistakes and a list of them; return how many there are."""
    mistaken = [one for one in evaluation.pictures if one.mistakes]
    mistaken.sort(key=lambda one: (-len(one.mistakes), part.path(one.place)))
    folder = output / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for picture in mistaken[:MOST_PICTURES]:
        name = f"{len(listed) + 1:03d}.png"
        sample = part.samples[int(part.numbers[picture.place])]
        try:
            drawn = draw_findings(sample.data, picture, evaluation.labels)
        except UnreadableImageError:
            # Its pixels were read before, so the file is damaged only beyond its first scale.
            continue
        drawn.save(folder / name, optimize=True)
        listed.append(_described(picture, evaluation.labels, part, f"{FOLDER}/{name}"))
    text = json.dumps({"pictures": listed}, indent=1, ensure_ascii=False)
    (output / LIST).write_text(text, "utf-8")
    return len(mistaken)


def draw_findings(data: memoryview | bytes, picture: Judged, labels: list[str]) -> Image.Image:
    """Return a picture with its boxes: objects green or blue, mistakes red or orange."""
    shown, scale = decode_whole(data, SIDE)
    pen = ImageDraw.Draw(shown)
    # Mistakes last: they lie on top.
    for one in sorted(picture.findings, key=lambda one: one.kind is not Kind.RIGHT):
        for box, colour, words in _strokes(picture, one, labels):
            _draw_box(pen, [float(edge) * scale for edge in box], colour, words)
    return shown


def _strokes(picture: Judged, finding: Finding, labels: list[str]) -> list[tuple[Any, str, str]]:
    """Return boxes with colour and words of a finding."""
    result, kind = picture.result, finding.kind
    if kind is Kind.MISSED:
        name = labels[int(result.true_codes[finding.true])]
        return [(result.true_boxes[finding.true], BLUE, f"{WORDS[kind]}: {name}")]
    number = finding.detection
    name, score = labels[int(result.codes[number])], float(result.scores[number])
    if kind is Kind.RIGHT:
        return [(result.true_boxes[finding.true], GREEN, f"{name} {score:.2f}")]
    colour = RED if kind in (Kind.FALSE, Kind.WRONG_CLASS) else ORANGE
    return [(result.boxes[number], colour, f"{WORDS[kind]}: {name} {score:.2f}")]


def _draw_box(pen: ImageDraw.ImageDraw, box: list[float], colour: str, words: str) -> None:
    left, top, right, bottom = box
    pen.rectangle((left, top, max(left, right - 1), max(top, bottom - 1)), None, colour, 2)
    font = ImageFont.load_default(12)
    width, height = pen.textbbox((0, 0), words, font)[2:]
    at = (max(0.0, min(left, pen.im.size[0] - width - 4.0)), max(0.0, top - height - 3.0))
    pen.rectangle((*at, at[0] + width + 4, at[1] + height + 3), colour)
    pen.text((at[0] + 2, at[1] + 1), words, "white", font)


def _described(picture: Judged, labels: list[str], part: Part, file: str) -> dict[str, Any]:
    return {
        "file": file,
        "path": part.path(picture.place),
        "mistakes": [_mistake(picture, one, labels) for one in picture.mistakes],
    }


def _mistake(picture: Judged, finding: Finding, labels: list[str]) -> dict[str, Any]:
    result, number, true = picture.result, finding.detection, finding.true
    described: dict[str, Any] = {"kind": finding.kind.value}
    if true >= 0:
        described["label"] = labels[int(result.true_codes[true])]
        described["box"] = [round(float(edge), 2) for edge in result.true_boxes[true]]
    if number >= 0:
        described["detected"] = labels[int(result.codes[number])]
        described["detected_box"] = [round(float(edge), 2) for edge in result.boxes[number]]
        described["score"] = round(float(result.scores[number]), 4)
    return described
