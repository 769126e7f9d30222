"""Schedules of faults, made from seeds and played in simulated time in one thread."""
