"""The drawing canvas of the labeling pages: moving shapes, picks, and strokes of a brush."""

from __future__ import annotations

from playwright.sync_api import Page

from bench.harness import Result

_MOVES = 120
_MOVE_EVERY_MS = 16
_SETTLE_MS = 600
_STROKE_STEPS = 150
_MEGAPIXELS_24 = (6000, 4000)
_BRUSH_PX = 120


def run(page: Page) -> list[Result]:
    """Return the 95th percentiles that the gates of annotation speak of."""
    results: list[Result] = []
    for count in (500, 2000):
        _show(page, f"shapes({count})")
        results += [
            Result(f"canvas of {count:,} shapes, pan, p95 of frames", _pan(page), "ms"),
            Result(f"canvas of {count:,} shapes, zoom, p95 of frames", _zoom(page), "ms"),
            Result(f"canvas of {count:,} shapes, drag, p95 of frames", _drag(page), "ms"),
        ]
    picks = page.evaluate("() => bench.canvas.picks()")
    results.append(Result("canvas of 2,000 shapes, pick, p95", p95(picks, 3), "ms"))
    width, height = _MEGAPIXELS_24
    _show(page, f"brush({width}, {height}, {_BRUSH_PX})")
    strokes = page.evaluate(f"() => bench.canvas.strokes({_STROKE_STEPS})")
    results.append(Result("canvas of 24 megapixels, step of a brush, p95", p95(strokes), "ms"))
    return results


def _show(page: Page, setting: str) -> None:
    page.evaluate(f"() => bench.canvas.{setting}")
    page.wait_for_function("() => bench.canvas.isReady()")
    # A brush is set once there is a canvas.
    page.evaluate(f"() => bench.canvas.{setting}")
    page.wait_for_timeout(_SETTLE_MS)


def _watched(page: Page) -> float:
    return p95(page.evaluate("() => bench.canvas.watched()"))


def _pan(page: Page) -> float:
    page.mouse.move(700, 450)
    page.mouse.down(button="middle")
    page.evaluate("() => bench.canvas.watch()")
    for step in range(_MOVES):
        page.mouse.move(700 + 3 * (step % 60), 450 + 2 * (step % 40))
        page.wait_for_timeout(_MOVE_EVERY_MS)
    gap = _watched(page)
    page.mouse.up(button="middle")
    page.wait_for_timeout(_SETTLE_MS)
    return gap


def _zoom(page: Page) -> float:
    page.mouse.move(700, 450)
    page.evaluate("() => bench.canvas.watch()")
    for step in range(_MOVES):
        page.mouse.wheel(0, -40 if step < _MOVES / 2 else 40)
        page.wait_for_timeout(_MOVE_EVERY_MS)
    gap = _watched(page)
    page.wait_for_timeout(_SETTLE_MS)
    return gap


def _drag(page: Page) -> float:
    page.keyboard.press("0")
    page.wait_for_timeout(_SETTLE_MS)
    x, y = page.evaluate("() => bench.canvas.placeOfShape()")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 5, y + 5)
    page.wait_for_timeout(_SETTLE_MS)
    page.evaluate("() => bench.canvas.watch()")
    for step in range(_MOVES):
        page.mouse.move(x + 3 * (step % 60), y + 2 * (step % 40))
        page.wait_for_timeout(_MOVE_EVERY_MS)
    gap = _watched(page)
    page.mouse.up()
    page.wait_for_timeout(_SETTLE_MS)
    return gap


def p95(values: list[float], digits: int = 1) -> float:
    """Return the 95th percentile."""
    return round(sorted(values)[int(0.95 * (len(values) - 1))], digits)
