"""Splits: which part of a version each file belongs to, and how a split is drawn."""
