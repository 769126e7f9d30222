"""Shared by every app: ids, problems, pages, idempotency, storage, locks, live events, tracing.

It imports no app.
"""
