"""The process beside every job: it starts the command, watches it and reports (see README.md).

Standard library only and Python ≥ 3.8, because it runs under whatever interpreter a job has.
"""
