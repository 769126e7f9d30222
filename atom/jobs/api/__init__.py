"""The REST API of runs, workflows and clusters, and the protocol of runners."""
