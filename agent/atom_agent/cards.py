"""The cards of a node: memory, busy share, links, XID events; by NVML or a recorded file."""

from __future__ import annotations

import json
from pathlib import Path

from atom_agent.errors import AgentError
from atom_agent.nvml import nvml_cards
from atom_agent.readings import Cards, Readings


class CardsFileError(AgentError):
    """A recorded file of cards cannot be read."""

    def __init__(self, path: Path, problem: object) -> None:
        super().__init__(f"The recorded cards in {path} cannot be read: {problem}.")


class NoCards:
    """A node without cards, or without NVML."""

    def read(self) -> Readings:
        """Return no cards."""
        return Readings()

    def acknowledge(self, readings: Readings) -> None:
        """Nothing is kept."""


class RecordedCards:
    """Replays a file, one line of JSON `{"gpus": […], "xid_events": […]}` a report; the last stays.

    Events come once: the last line shows its cards again without them.
    """

    def __init__(self, path: Path) -> None:
        """Read the whole file. Raises CardsFileError."""
        try:
            lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
            self._lines = [Readings(line["gpus"], line.get("xid_events", [])) for line in lines]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CardsFileError(path, error) from error
        if not self._lines:
            raise CardsFileError(path, "it has no line")
        self._at = 0

    def read(self) -> Readings:
        """Return the line that comes next."""
        if self._at < len(self._lines):
            return self._lines[self._at]
        return Readings(self._lines[-1].gpus)

    def acknowledge(self, readings: Readings) -> None:
        """Go on to the next line."""
        self._at = min(self._at + 1, len(self._lines))


def cards_of(recorded: Path | None) -> Cards:
    """Return the recorded cards, those of NVML, or none. Raises CardsFileError."""
    if recorded is not None:
        return RecordedCards(recorded)
    return nvml_cards() or NoCards()
