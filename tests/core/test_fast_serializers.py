"""Fields that are made once serve each serializer of the class alone."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework import serializers

from atom.accounts.models import User
from atom.core.fast_serializers import FieldsOnce
from tests.factories.accounts import make_user


class Person(serializers.ModelSerializer[User]):
    """A row of a model, with a word of the context."""

    word = serializers.SerializerMethodField()

    class Meta:
        model = User
        fields: tuple[str, ...] = ("username", "full_name", "word")

    def get_word(self, user: User) -> str:
        """Return the word of the context."""
        return str(self.context["word"])


class QuickPerson(FieldsOnce, Person):
    """The same with less work."""


class QuickName(QuickPerson):
    """Fewer fields than its base."""

    class Meta(Person.Meta):
        fields = ("username",)


@pytest.mark.django_db
def test_rows_are_those_of_the_framework() -> None:
    people = [make_user(full_name="Ann"), make_user()]
    for word in ("a", "b"):
        context: dict[str, Any] = {"word": word}
        quick = QuickPerson(people, many=True, context=context).data
        assert quick == Person(people, many=True, context=context).data
    assert list(QuickName(people[0]).data) == ["username"]


def test_a_change_of_one_serializer_is_not_seen_by_the_next() -> None:
    changed = QuickPerson()
    del changed.fields["username"]
    assert list(changed.fields) == ["full_name", "word"]
    assert list(QuickPerson().fields) == ["username", "full_name", "word"]
