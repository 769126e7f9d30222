"""Operations that migrations use and Django does not have."""

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class Together(Operation):
    """Applies operations that do not build on each other, and renders the models only once.

    Django renders every related model (here: nearly all) again for each operation, which took nine
    tenths of the time in which a new installation's database was made. A constraint on a field that
    is added belongs into a group of its own after it: it is taken back while the field is there.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    @property
    def reversible(self) -> bool:  # type: ignore[override]  # a class attribute in Django
        """Whether each of them can be taken back."""
        return all(operation.reversible for operation in self.operations)

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Change the state; its models are rendered when somebody asks for them."""
        vars(state).pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Change the tables, in the order given."""
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Take the changes back, the last one first."""
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        """Say what is done, for `migrate --plan`."""
        return "; ".join(operation.describe() for operation in self.operations)

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """Return how to make this operation again."""
        return type(self).__name__, [self.operations], {}
