"""Whether more or less of a metric is better, as far as its name shows."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Literal

Goal = Literal["max", "min"]

# Whole words of a key: `val/loss`, `top1_error`, `valLoss`; `flossing` is none.
_LESS = frozenset({
    "loss", "nll", "ce", "error", "err", "mae", "mse", "rmse", "mape", "perplexity", "ppl", "wer",
    "cer", "fid", "ece", "brier", "latency", "regret", "divergence", "kl",
})  # fmt: skip
_MORE = frozenset({
    "acc", "accuracy", "top1", "top5", "f1", "auc", "auroc", "auprc", "ap", "map", "precision",
    "recall", "iou", "miou", "dice", "bleu", "rouge", "r2", "score", "psnr", "ssim", "reward",
    "return", "throughput", "sensitivity", "specificity", "mcc", "kappa", "ndcg", "mrr", "hits",
})  # fmt: skip
_WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*")


def goal_of(key: str) -> Goal | None:
    """Return whether more or less of a metric is better; None if its name gives no hint.

    The last word that gives a hint decides: `accuracy_loss` is a loss.
    """
    for word in reversed(_WORD.findall(key)):
        if word.lower() in _LESS:
            return "min"
        if word.lower() in _MORE:
            return "max"
    return None


def best(values: Mapping[str, float], goal: Goal | None) -> list[str]:
    """Return the names with the best finite value of at least two; several if they are equal.

    No name is best without a goal, or if all values are equal.
    """
    finite = [value for value in values.values() if math.isfinite(value)]
    if goal is None or not finite or len(set(values.values())) < 2:
        return []
    best_value = max(finite) if goal == "max" else min(finite)
    return [name for name, value in values.items() if value == best_value]
