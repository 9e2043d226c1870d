"""The settings of a test run: the server's own, in an empty data folder that goes with the run.

What the caller's environment says about a database or a secret is dropped first, so that no test
reaches a real one. Processes that a test starts inherit the test's folder.

With COUNTERFOIL_TEST_DATABASE=postgresql the run's own database is a private PostgreSQL instead of
an SQLite file.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from config import env
from tests import servers

for setting in env.SETTINGS:
    os.environ.pop(setting.name, None)
    os.environ.pop(f"{setting.name}_FILE", None)

_folder = tempfile.mkdtemp(prefix="counterfoil-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)

os.environ["DATA_DIR"] = _folder
os.environ["SECRET_KEY"] = "only-for-tests-" + "0123456789" * 4
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

if os.environ.get("COUNTERFOIL_TEST_DATABASE") == "postgresql":
    server = servers.Postgres().start()
    atexit.register(server.close)
    os.environ["DATABASE_URL"] = server.url_of("counterfoil")

from config.settings import *  # noqa: E402, F403

# Each of a test's browsers would read every static file anew before its first request.
SERVESTATIC_USE_FINDERS = False
SERVESTATIC_USE_STATIC_ROOT = False
