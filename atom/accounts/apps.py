"""Django application of `atom.accounts`."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """People, organisations, projects, roles, tokens and the audit trail."""

    name = "atom.accounts"
    label = "accounts"
    verbose_name = "Accounts"
