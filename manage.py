"""Run one of Counterfoil's commands; `manage.py help` lists them."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config.env import BadSetting
    from kit import commands

    try:
        commands.execute(sys.argv)
    except BadSetting as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
