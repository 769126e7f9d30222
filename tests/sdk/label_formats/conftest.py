"""The environment of other people's readers, built once."""

from __future__ import annotations

import pytest

from tests.sdk.label_formats.oracles import Oracle


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(tmp_path_factory.mktemp("oracle"))
