"""Scheduling of queued runs: order, placement, reservation and warm-up.

It reserves slots in `clusters`, asks `cache` for data and begins attempts.
"""
