"""Operators' tables of people, units, projects, keys and the audit log."""

from django.contrib import admin
from django.contrib.auth.models import Group

from atom.accounts.models import (
    AuditEvent,
    RecoveryCode,
    RoleBinding,
    SecondFactor,
    Session,
    User,
)
from atom.core.admin import show, show_rest

if admin.site.is_registered(Group):
    # Roles are bound to units and projects; Django's groups mean nothing here.
    admin.site.unregister(Group)

show(
    User,
    columns=("username", "full_name", "email", "is_active", "is_superuser", "last_login"),
    filters=("is_active", "is_superuser", "language", "date_joined"),
)
show(
    RoleBinding,
    columns=("user", "role", "unit", "project", "created_at"),
    filters=("role", "created_at"),
)
show(
    AuditEvent,
    columns=("at", "actor_name", "verb", "object_type", "object_id", "project"),
    search=("actor_name", "request_id"),
    filters=("at",),
    also=("data",),
)
# A session's key is its primary key and so its address here; the key alone signs a person in.
show_rest("accounts", apart_from=(Session, SecondFactor, RecoveryCode))
