"""Tests of sockets leave no work to the next test in the thread that all of them share."""

import threading

import pytest
from asgiref.sync import SyncToAsync
from django.db import connection, connections

from tests.databases import empty_tables


@pytest.mark.django_db(transaction=True)
def test_tables_are_emptied_after_the_thread_of_sockets_has_ended_its_work() -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def ask() -> None:
        begun.set()
        goes_on.wait(10)
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    asked = SyncToAsync.single_thread_executor.submit(ask)
    assert begun.wait(10)
    threading.Timer(0.2, goes_on.set).start()
    empty_tables()
    assert asked.done()
    held = SyncToAsync.single_thread_executor.submit(lambda: connections["default"].connection)
    assert held.result(10) is None
