"""Several operations of a migration as one."""

import pytest
from django.db import connection, migrations, models
from django.db.migrations.state import ProjectState

from atom.core.migration_operations import Together

_ID = ("id", models.BigAutoField(primary_key=True))
SHELF_AND_BOOK = Together(
    [
        migrations.CreateModel("Shelf", [_ID]),
        migrations.CreateModel(
            "Book",
            [_ID, ("shelf", models.ForeignKey("library.shelf", models.CASCADE))],
        ),
    ]
)
NAMES = Together(
    [
        migrations.AddField("book", "name", models.TextField(default="")),
        migrations.AddConstraint(
            "book", models.UniqueConstraint(fields=["shelf"], name="one_book_a_shelf")
        ),
        migrations.AddField("shelf", "name", models.TextField(default="")),
    ]
)


@pytest.mark.django_db(transaction=True)
def test_operations_together_change_the_tables_and_can_be_taken_back() -> None:
    before = ProjectState()
    made = after(before, SHELF_AND_BOOK)
    named = after(made, NAMES)
    with connection.schema_editor() as editor:
        SHELF_AND_BOOK.database_forwards("library", editor, before, made)
    assert columns_of("library_book") == {"id", "shelf_id"}
    with connection.schema_editor() as editor:
        NAMES.database_forwards("library", editor, made, named)
    assert columns_of("library_book") == {"id", "shelf_id", "name"}
    assert "one_book_a_shelf" in constraints_of("library_book")

    with connection.schema_editor() as editor:
        NAMES.database_backwards("library", editor, named, made)
    assert columns_of("library_book") == {"id", "shelf_id"}
    assert columns_of("library_shelf") == {"id"}
    with connection.schema_editor() as editor:
        SHELF_AND_BOOK.database_backwards("library", editor, made, before)
    assert not {"library_book", "library_shelf"} & set(connection.introspection.table_names())


def test_operations_that_cannot_be_taken_back_together_are_known() -> None:
    assert NAMES.reversible
    assert not Together([migrations.RunSQL("SELECT 1")]).reversible
    assert NAMES.describe().startswith("Add field name to book; Create constraint one_book_a_shelf")


def after(state: ProjectState, operation: Together) -> ProjectState:
    """Return the state that an operation leads to."""
    changed = state.clone()
    operation.state_forwards("library", changed)
    return changed


def columns_of(table: str) -> set[str]:
    """Return the names of a table's columns."""
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_description(cursor, table)
    return {column.name for column in found}


def constraints_of(table: str) -> set[str]:
    """Return the names of a table's constraints."""
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, table))
