"""Pages of machines and of the queue: what is free, what waits and in which order.

It reads placement and runs. It cordons machines through `clusters`.
"""
