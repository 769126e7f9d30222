"""Atom: a self-hosted deep-learning platform."""

import gc

# Each process loads thousands of modules that stay for ever, and a request or a task leaves few
# circles behind: looking for them at every 700 objects took a fifth of a process's start.
gc.set_threshold(50_000, 20, 20)
