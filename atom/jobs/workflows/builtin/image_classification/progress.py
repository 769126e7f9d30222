"""How far an epoch is, on one line that is drawn again and again."""

from __future__ import annotations

import sys
import time

from atom_sdk import run

REDRAW_EVERY_S = 0.2


class ProgressLine:
    """One line that is drawn again and again on stderr."""

    def __init__(self, epoch: int, epochs: int, batches: int) -> None:
        """Begin an epoch."""
        self._title, self._batches = f"epoch {epoch + 1}/{epochs}", batches
        self._epoch, self._epochs = epoch, epochs
        self._started_s, self._drawn_s = time.monotonic(), 0.0

    def draw(self, done: int, loss: float, images: int) -> None:
        """Show how far the epoch is, a few times a second."""
        now_s = time.monotonic()
        if now_s - self._drawn_s < REDRAW_EVERY_S and done < self._batches:
            return
        self._drawn_s = now_s
        share = done / max(1, self._batches)
        bar = ("█" * round(20 * share)).ljust(20)
        rate = images / max(now_s - self._started_s, 1e-6)
        line = f"\r{self._title} {share:4.0%}|{bar}| loss {loss:.4f} · {rate:.0f} images/s"
        print(line, end="", file=sys.stderr, flush=True)
        run.progress((self._epoch + share) / self._epochs, self._title)

    def end(self) -> None:
        """Leave the line as it is."""
        print(file=sys.stderr, flush=True)
