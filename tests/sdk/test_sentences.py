"""Sentences keep their code and parameters where texts travel."""

from __future__ import annotations

import copy
import json
import pickle

from atom_sdk.sentences import Sentence

INNER = Sentence("query.empty", "it is empty.")
OUTER = Sentence("query.at_character", "Character {position}: {problem}", position=3, problem=INNER)
CODED = {
    "code": "query.at_character",
    "params": {"position": 3, "problem": {"code": "query.empty", "params": {}}},
}


def test_a_sentence_is_its_text_and_has_a_code_with_its_parameters() -> None:
    assert OUTER == "Character 3: it is empty."
    assert OUTER.as_code() == CODED
    assert json.loads(json.dumps(OUTER.as_code())) == CODED


def test_an_error_keeps_the_code_of_its_sentence_as_text_and_as_a_parameter() -> None:
    error = ValueError(OUTER)

    assert isinstance(str(error), Sentence)
    wrapped = Sentence("core.named_reason", "{name}: {reason}", name="x", reason=error)
    assert wrapped == "x: Character 3: it is empty."
    assert wrapped.as_code()["params"]["reason"] == CODED


def test_a_sentence_survives_copies_pickles_and_its_own_parts() -> None:
    stored = json.loads(json.dumps({"text": OUTER, **OUTER.as_code()}))

    for again in (
        copy.deepcopy(OUTER),
        pickle.loads(pickle.dumps(OUTER)),
        Sentence.from_parts(stored["text"], stored["code"], stored["params"]),
    ):
        assert again == OUTER
        assert again.as_code() == CODED


def test_braces_of_values_and_of_stored_texts_stay() -> None:
    sentence = Sentence("core.named_reason", "{name}: {reason}", name="{x}", reason="{0} {")

    assert sentence == "{x}: {0} {"
    again = Sentence.from_parts(str(sentence), "core.named_reason", sentence.params)
    assert again == sentence
    assert pickle.loads(pickle.dumps(again)) == sentence
