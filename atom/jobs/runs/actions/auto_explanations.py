"""Why a run that Atom places has not started: the first reason against each place."""

from __future__ import annotations

from atom.jobs.models import Run
from atom.jobs.runs.actions.decide import decide
from atom.jobs.runs.actions.explanations import AnswerCode, Explanation, Reason, ReasonKind
from atom.jobs.runs.actions.questions import place_name, question_of
from atom.jobs.runs.engines.places import Place
from atom.jobs.scheduling.actions.queue_order import ahead_in_cluster

NO_PLACE = "No place takes it now; it waits until one does."
AUTO_WAITS = "It waits for room in the chosen place; Atom moves it if another one becomes better."


def waits_for_place(run: Run) -> Explanation:
    """Return why a queued run waits whose place Atom chooses."""
    decision = decide(run.project, run.created_by, question_of(run))
    reasons = [reason for place in decision.places if (reason := _reason(place))]
    if place_name(run) is None:
        return Explanation(AnswerCode.NO_PLACE, NO_PLACE, reasons)
    ahead = queue_reasons(ahead_in_cluster(run))
    return Explanation(AnswerCode.AUTO_WAITS, AUTO_WAITS, [*ahead, *reasons])


def queue_reasons(ahead: int) -> list[Reason]:
    """Return how many runs are ahead of one in the queue, as a reason if there are any."""
    if not ahead:
        return []
    text = f"{ahead} {'run is' if ahead == 1 else 'runs are'} ahead of it in the queue."
    return [Reason(ReasonKind.QUEUE, text, "Wait.", {"ahead": ahead})]


def _reason(place: Place) -> Reason | None:
    sentence = place.verdict.reason
    if sentence is None:
        return None
    params = {"place": place.name, "said": str(sentence), "sentence": sentence.as_code()}
    return Reason(ReasonKind.PLACE, f"{place.name}: {sentence}", params=params)
