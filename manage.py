#!/usr/bin/env python
"""Run Django's commands; the settings come from the environment, development by default."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    from django.core.management import execute_from_command_line  # noqa: PLC0415  settings first

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
