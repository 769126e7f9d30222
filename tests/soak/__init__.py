"""`make soak`: people do the main job while processes of their stack are killed at random.

`python -m tests.soak` starts a stack of its own, lets clients push, label, publish, train, register
and evaluate again and again, and ends one process after the other with SIGKILL. Acknowledged work
is noted (`ledger`); in the end it is compared with the stored state (`truth`).
"""
