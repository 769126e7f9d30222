"""A project with a researcher who pushes."""

from tests.datasets.conftest import pusher

__all__ = ["pusher"]
