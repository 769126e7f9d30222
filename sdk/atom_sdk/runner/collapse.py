"""Makes whole lines of a pipe's bytes, and few of a progress bar's redraws."""

from __future__ import annotations

from .utf8 import unfinished

PARTIAL_HOLD_S = 0.1
REDRAW_EVERY_S = 1.0
LONGEST_PENDING_BYTES = 64 * 1024


class LineCollapser:
    r"""One pipe's bytes as lines; `\r` redraws at most once a second, plus the last.

    The output is still a terminal's stream: a redraw begins with `\r` when an older state of its
    line was let out before. A character is never let out in parts.
    """

    def __init__(self) -> None:
        """Start at the beginning of a line."""
        self._pending = b""
        self._pending_since_s = 0.0
        self._is_redraw = False  # the line had a `\r`, so it is held for longer
        self._replaces = False  # a `\r` came since something of the line was let out
        self._shown = False  # something of the line was let out
        self._shown_at_s = 0.0

    def feed(self, data: bytes, now_s: float) -> bytes:
        """Take bytes and return what may go out now: whole lines, mostly."""
        if not self._pending:
            self._pending_since_s = now_s
        text = self._pending + data
        if b"\r" in text or self._is_redraw:
            out = self._collapse(text, now_s)
        else:
            end = text.rfind(b"\n") + 1
            out, self._pending = text[:end], text[end:]
            if end:
                self._begin_line(now_s)
        if len(self._pending) > LONGEST_PENDING_BYTES:
            out += self._let_out(now_s)
        return out

    def flush(self, now_s: float, *, final: bool = False) -> bytes:
        """Return what waited long enough: a partial line, or a redraw once a second."""
        if not self._pending:
            return b""
        held_s = now_s - self._pending_since_s
        if self._is_redraw and self._shown:
            due = now_s - self._shown_at_s >= REDRAW_EVERY_S
        else:
            due = held_s >= PARTIAL_HOLD_S
        return self._let_out(now_s, final=final) if due or final else b""

    def _collapse(self, text: bytes, now_s: float) -> bytes:
        *lines, rest = text.split(b"\n")
        out = []
        for line in lines:
            # `\r\n` ends a line and redraws nothing: it stays as it was written.
            ending = b"\r\n" if line.endswith(b"\r") else b"\n"
            out.append(self._last_state(line) + ending)
            self._begin_line(now_s)
        # A `\r` at the very end stays: it may belong to a `\r\n` that is on its way.
        ending = b"\r" if rest.endswith(b"\r") else b""
        body = rest.rstrip(b"\r")
        if b"\r" in body:
            self._is_redraw = self._replaces = True
            body = body.rsplit(b"\r", 1)[-1]
        elif rest and not body:
            self._is_redraw = True
        self._pending = body + ending
        return b"".join(out)

    def _last_state(self, line: bytes) -> bytes:
        body = line.rstrip(b"\r")
        if b"\r" in body:
            self._is_redraw = self._replaces = True
            body = body.rsplit(b"\r", 1)[-1]
        return b"\r" + body if self._replaces and self._shown else body

    def _let_out(self, now_s: float, *, final: bool = False) -> bytes:
        end = len(self._pending) - (0 if final else unfinished(self._pending))
        pending, kept = self._pending[:end], self._pending[end:]
        if not pending:
            return b""
        out = self._last_state(pending)
        ended_by_return = pending.endswith(b"\r")
        self._is_redraw = self._is_redraw or ended_by_return
        self._replaces = ended_by_return
        self._pending = kept
        self._shown = True
        self._shown_at_s = now_s
        return out

    def _begin_line(self, now_s: float) -> None:
        self._is_redraw = self._replaces = self._shown = False
        self._pending_since_s = now_s
