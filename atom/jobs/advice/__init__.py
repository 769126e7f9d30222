"""Advice on a run: whether it waited for its data, why, and the next step.

It reads curves and inputs. It writes nothing.
"""
