"""`python -m counterfoil`: the same as the `counterfoil` command."""

from __future__ import annotations

import sys

from counterfoil.cli import main

if __name__ == "__main__":
    sys.exit(main())
