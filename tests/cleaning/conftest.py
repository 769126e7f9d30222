"""A project with a researcher who pushes."""

from tests.datasets.conftest import client, pusher

__all__ = ["client", "pusher"]
