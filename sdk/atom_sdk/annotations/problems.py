"""Problems of annotations: a pointer to the value, a sentence, and the place in the picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from atom_sdk.errors import AtomError
from atom_sdk.sentences import Sentence

# More problems than this help nobody; reading and checking stop there.
MAX_PROBLEMS = 100


class Problem(NamedTuple):
    """One fault: `pointer` such as "objects/3/box", and `at` = (x, y) where it can be seen."""

    pointer: str
    sentence: Sentence
    at: tuple[float, float] | None = None

    def below(self, prefix: str) -> Problem:
        """Return the same fault as seen from a document that holds this value at `prefix`."""
        pointer = f"{prefix}/{self.pointer}" if self.pointer else prefix
        return self._replace(pointer=pointer)


class DocumentError(AtomError):
    """A value is no annotation document, no ontology or no geometry; `problems` name each fault."""

    code = "annotation_document_invalid"
    hint = "Mend the values that the problems name, then send the document again."

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep the problems; the text is the first of them and how many more there are."""
        self.problems = tuple(problems)
        first = self.problems[0]
        text = _at(first.pointer, first.sentence) if first.pointer else first.sentence
        more = len(self.problems) - 1
        super().__init__(_and_more(text, more) if more else text)


def _at(pointer: str, problem: Sentence) -> Sentence:
    return Sentence(
        "annotations.problem_at", "{pointer}: {problem}", pointer=pointer, problem=problem
    )


def _and_more(problem: Sentence, count: int) -> Sentence:
    return Sentence(
        "annotations.problem_and_more",
        "{problem} And {count} more.",
        problem=problem,
        count=count,
    )


def refusal(pointer: str, sentence: Sentence) -> DocumentError:
    """Return the error of one fault."""
    return DocumentError([Problem(pointer, sentence)])
