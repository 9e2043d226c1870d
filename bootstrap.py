"""Set Counterfoil up and run it: `python3 bootstrap.py up`, `test` or `check`.

This file keeps to the syntax that every Python reads, so that an old one can say what is missing
instead of failing on a line it does not understand. The work is done in tools/bootstrap/.
"""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036
    found = ".".join(str(part) for part in sys.version_info[:2])
    sys.exit("Counterfoil needs Python 3.11 or newer, and this is Python " + found + ".")
if os.name != "posix":
    sys.exit("Counterfoil runs on Linux and macOS; on Windows, start it inside WSL.")

sys.dont_write_bytecode = True

from tools.bootstrap import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main.run(sys.argv[1:]))
