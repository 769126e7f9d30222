"""Attempts of runs: launch, inputs on the node, heartbeats, watch and end.

It starts supervisors through `executors` and owns the protocol of runners.
"""
