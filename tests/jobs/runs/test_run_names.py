"""The names of runs that nobody named: the same as the portal shows before they are there."""

import json

from atom.jobs.runs.engines.run_names import suggested_name
from atom.jobs.workflows.engines.parameters import parse_parameter
from atom.settings.environment import BASE_DIR

CASES = BASE_DIR / "frontend/src/features/jobs/wizard/runNames.cases.json"


def test_names_are_those_of_the_portal() -> None:
    cases = json.loads(CASES.read_text())
    parameters = [parse_parameter(one) for one in cases["parameters"]]
    names = [suggested_name(parameters, case["values"]) for case in cases["cases"]]
    assert names == [case["name"] for case in cases["cases"]]


def test_floats_of_checked_parameters_are_written_as_the_portal_writes_them() -> None:
    parameters = [
        parse_parameter({"name": "dataset", "type": "dataset"}),
        parse_parameter({"name": "learning_rate", "type": "float"}),
    ]
    values = {"dataset": "a@v1", "learning_rate": 1.0}
    assert suggested_name(parameters, values) == "a · lr 1"
