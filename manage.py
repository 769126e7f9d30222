#!/usr/bin/env python3
"""Run Django's management commands."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run the command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atom.settings.development")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
