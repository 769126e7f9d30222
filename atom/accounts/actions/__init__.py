"""Every write of people, units, projects, roles and keys."""

from atom.accounts.actions.installation import ensure_installation
from atom.accounts.actions.keys import (
    NewS3KeyPair,
    NewToken,
    create_s3_key_pair,
    create_token,
    revoke_s3_key_pair,
    revoke_token,
)
from atom.accounts.actions.members import add_member, change_role, grant_role, remove_member
from atom.accounts.actions.signing_in import check_password
from atom.accounts.actions.units import (
    create_project,
    create_unit,
    delete_unit,
    move_project,
    move_unit,
    rename_project,
    rename_unit,
)

__all__ = [
    "NewS3KeyPair",
    "NewToken",
    "add_member",
    "change_role",
    "check_password",
    "create_project",
    "create_s3_key_pair",
    "create_token",
    "create_unit",
    "delete_unit",
    "ensure_installation",
    "grant_role",
    "move_project",
    "move_unit",
    "remove_member",
    "rename_project",
    "rename_unit",
    "revoke_s3_key_pair",
    "revoke_token",
]
