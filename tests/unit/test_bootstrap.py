"""bootstrap.py in a copy of the checkout that needs one small package, from a folder."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture import ROOT
from tools.bootstrap import environment, install, main, steps

SERVER = """
import sys
import stub
print("running", sys.argv[1:], sys.prefix)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Make a small checkout whose path has a space, and the wheel that its locks name."""
    root = tmp_path / "a checkout"
    (root / "requirements").mkdir(parents=True)
    shutil.copy(ROOT / "bootstrap.py", root)
    shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "manage.py").write_text(SERVER)
    write_locks(root, make_wheel(tmp_path / "wheels", "1"))
    return root


def make_wheel(folder: Path, version: str) -> Path:
    folder.mkdir(exist_ok=True)
    wheel = folder / f"stub-{version}-py3-none-any.whl"
    info = f"stub-{version}.dist-info"
    tags = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("stub.py", f"version = {version!r}\n")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: stub\nVersion: {version}\n"
        )
        archive.writestr(f"{info}/WHEEL", tags)
        archive.writestr(f"{info}/RECORD", f"stub.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")
    return wheel


def write_locks(root: Path, wheel: Path, digest: str | None = None) -> None:
    digest = digest or hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock = f"stub=={wheel.name.split('-')[1]} \\\n    --hash=sha256:{digest}\n"
    for name in ("base", "dev"):
        (root / "requirements" / f"{name}.txt").write_text(lock)


def run(
    root: Path, *arguments: str, python: str = sys.executable, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run bootstrap.py from another folder, as a user without network would."""
    return subprocess.run(
        [python, root / "bootstrap.py", *arguments],
        cwd=root.parent,
        env={**os.environ, "PATH": "/usr/bin:/bin", **more},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def up(root: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return run(root, "up", "--offline", str(root.parent / "wheels"), *arguments, **more)


@pytest.fixture
def without_ensurepip(tmp_path: Path) -> str:
    """Give a Python that cannot put pip into an environment, as Debian's without python3-venv."""
    fake = tmp_path / "python3"
    fake.write_text(f"""#!/bin/sh
case "$*" in
    *--without-pip*) ;;
    *"-m venv"*) mkdir -p "$3"; echo half > "$3/half"; echo "ensurepip is not available"; exit 1 ;;
esac
exec "{os.path.realpath(sys.executable)}" "$@"
""")
    fake.chmod(0o755)
    return str(fake)


@pytest.mark.slow
def test_a_first_start_installs_and_runs_and_a_second_one_only_runs(checkout: Path) -> None:
    first = up(checkout, "--port", "8123", "--data-dir", "x y", "--no-demo")
    second = up(checkout)

    assert first.returncode == 0, first.stderr
    assert "Installing 1 packages of base.txt, each by its hash ... " in first.stdout
    assert "running ['up', '--port=8123', '--data-dir=x y', '--no-demo']" in first.stdout
    assert second.stdout.startswith("running ['up']"), second.stdout


@pytest.mark.slow
def test_a_folder_that_is_no_environment_is_made_again(checkout: Path) -> None:
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").write_text("not a program")

    done = up(checkout)

    assert done.returncode == 0, done.stderr
    assert "Making " in done.stdout
    assert "running ['up']" in done.stdout


@pytest.mark.slow
def test_two_starts_at_once_install_once_and_both_run(checkout: Path) -> None:
    command = [sys.executable, checkout / "bootstrap.py", "up", "--offline", "../wheels"]

    both = [
        subprocess.Popen(command, cwd=checkout, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    outputs = [process.communicate(timeout=90)[0] for process in both]

    assert [process.returncode for process in both] == [0, 0]
    assert sum("Installing" in output for output in outputs) == 1
    assert all("running ['up']" in output for output in outputs)


@pytest.mark.slow
class TestWithoutEnsurepip:
    """Each of these makes a bare environment and fills it with the pip of the running Python."""

    @pytest.fixture(autouse=True)
    def _bare(self, without_ensurepip: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "_base_executable", without_ensurepip)
        monkeypatch.setenv("PATH", "/usr/bin:/bin")

    def prepare(self, checkout: Path, lock: str = "base") -> environment.Environment:
        return environment.prepare(checkout, lock, checkout.parent / "wheels")

    def test_the_half_made_folder_goes_and_the_packages_come(self, checkout: Path) -> None:
        ready = self.prepare(checkout)

        assert not (ready.folder / "half").exists()
        assert installed(ready) == "1"

    def test_what_is_installed_completely_is_not_installed_again(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.prepare(checkout, "dev")
        monkeypatch.setattr(install, "install", lambda *_: pytest.fail("installed again"))

        self.prepare(checkout, "dev")
        self.prepare(checkout, "base")

    def test_what_is_installed_completely_runs_where_nothing_may_be_written(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.prepare(checkout)
        monkeypatch.setattr(environment, "only_one", lambda _: pytest.fail("took the lock"))

        self.prepare(checkout)

    def test_a_changed_lock_is_installed_over_the_old_one(self, checkout: Path) -> None:
        self.prepare(checkout)
        write_locks(checkout, make_wheel(checkout.parent / "wheels", "2"))

        assert installed(self.prepare(checkout)) == "2"

    def test_an_interrupted_install_is_begun_again_in_an_empty_environment(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as interrupted:
            interrupted.setattr(install, "install", raise_interrupt)
            with pytest.raises(KeyboardInterrupt):
                self.prepare(checkout)
        (checkout / ".venv" / "rest of the first try").touch()

        ready = self.prepare(checkout)

        assert installed(ready) == "1"
        assert not (ready.folder / "rest of the first try").exists()
        assert not ready.unfinished.exists()

    def test_another_python_in_the_environment_makes_the_stamp_void(
        self, checkout: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        ready = self.prepare(checkout)
        stamp = json.loads(ready.stamp.read_text())
        ready.stamp.write_text(json.dumps({**stamp, "python": "3.11.0"}))
        capsys.readouterr()

        self.prepare(checkout)

        assert "Installing 1 packages" in capsys.readouterr().out

    @pytest.mark.parametrize("stamp", ["", "[]", "{}", '{"python": 1, "locks": 2}'])
    def test_a_stamp_that_cannot_be_read_counts_as_none(self, checkout: Path, stamp: str) -> None:
        ready = environment.Environment(checkout)
        ready.folder.mkdir()
        ready.stamp.write_text(stamp)

        assert not environment.is_stamped(ready, "base", "3.11.7")

    def test_a_package_with_another_hash_is_refused(
        self, checkout: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_locks(checkout, checkout.parent / "wheels" / "stub-1-py3-none-any.whl", "0" * 64)

        with pytest.raises(steps.Stop):
            self.prepare(checkout)

        assert "DO NOT MATCH" in capsys.readouterr().err
        assert not (checkout / ".venv" / "counterfoil-stamp.json").exists()

    def test_a_link_to_another_environment_is_replaced_and_the_other_left_alone(
        self, checkout: Path, tmp_path: Path
    ) -> None:
        other = tmp_path / "other"
        (other / "kept").mkdir(parents=True)
        (checkout / ".venv").symlink_to(other)

        self.prepare(checkout)

        assert (other / "kept").exists()
        assert not (checkout / ".venv").is_symlink()

    def test_settings_of_pip_that_aim_elsewhere_are_not_followed(
        self, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
        monkeypatch.setenv("PIP_USER", "1")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

        assert installed(self.prepare(checkout)) == "1"

    def test_a_pip_too_old_to_help_names_the_package_to_install(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            install, "find_pip", lambda python: (22, 2) if python == [sys.executable] else None
        )

        with pytest.raises(steps.Stop, match="apt install python3-venv"):
            self.prepare(checkout)


def test_a_uv_that_fails_leaves_the_work_to_pip(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text('#!/bin/sh\necho "$@" > "$(dirname "$0")/asked"\nexit 2\n')
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}:/usr/bin:/bin")

    commands = list(install.iter_installers(Path(sys.executable)))
    done = install.run_installer([*commands[0], *install.LOCKED])

    assert done.returncode == 2
    assert "--require-hashes" in uv.with_name("asked").read_text()
    assert commands[1][:3] == [sys.executable, "-m", "pip"]


def test_a_waiting_start_says_so(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = fcntl.flock, []

    def held_once(lock: object, how: int) -> None:
        asked.append(how)
        if len(asked) == 1:
            raise BlockingIOError
        real(lock, how)  # type: ignore[arg-type]

    monkeypatch.setattr(fcntl, "flock", held_once)

    with environment.only_one(checkout):
        pass

    assert "waiting for it" in capsys.readouterr().out
    assert asked[1] == fcntl.LOCK_EX


def test_a_checkout_that_may_not_be_written_says_so(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(root: Path) -> None:
        raise PermissionError(13, "Permission denied", str(root / ".venv.lock"))

    monkeypatch.setattr(environment, "only_one", refuse)

    with pytest.raises(steps.Stop, match=r"Cannot write .*\.venv\.lock .*Permission denied"):
        environment.prepare(checkout, "base")


def test_a_folder_of_packages_that_is_not_there_is_named(checkout: Path) -> None:
    done = run(checkout, "up", "--offline", "nowhere")

    assert (done.returncode, done.stderr) == (
        1,
        "There is no folder nowhere to take packages from.\n",
    )


def test_a_mistyped_option_stops_before_anything_is_set_up(checkout: Path) -> None:
    done = run(checkout, "up", "--prot", "8000")

    assert done.returncode == 2
    assert "unrecognized arguments: --prot 8000" in done.stderr
    assert not (checkout / ".venv").exists()


def test_an_old_python_reads_far_enough_to_say_what_is_missing(checkout: Path) -> None:
    source = (checkout / "bootstrap.py").read_text()
    pretend = f"import sys; sys.version_info = (3, 6, 15); exec({source!r})"

    done = subprocess.run(
        [sys.executable, "-c", pretend], cwd=checkout, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr == "Counterfoil needs Python 3.11 or newer, and this is Python 3.6.\n"


@pytest.mark.parametrize(
    ("arguments", "spread"),
    [
        pytest.param(["-m", "quick"], True, id="a marker"),
        pytest.param([], True, id="all"),
        pytest.param(["-n", "0"], False, id="a number chosen"),
        pytest.param(["-n0"], False, id="a number chosen, short"),
        pytest.param(["--pdb"], False, id="a debugger"),
        pytest.param(["tests/unit/test_x.py::test_y"], False, id="one test"),
    ],
)
def test_a_run_is_spread_unless_the_caller_chose(arguments: list[str], spread: bool) -> None:
    assert bool(main.workers(arguments)) is spread


def test_test_hands_everything_it_does_not_know_to_pytest(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    became: list[object] = []
    ready = environment.Environment(checkout)
    monkeypatch.setattr(environment, "prepare", lambda *_: ready)
    monkeypatch.setattr(main, "become", lambda *given: became.extend(given) or 0)

    main.run(["test", "--strict", "-m", "quick", "-n", "0", "--strict-markers", "tests/unit"])

    arguments = ["-m", "pytest", "-m", "quick", "-n", "0", "--strict-markers", "tests/unit"]
    assert became == [ready, arguments, {"COUNTERFOIL_STRICT": "1"}]


def test_ctrl_c_while_installing_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(environment, "prepare", raise_interrupt)

    assert main.run(["check"]) == 128 + signal.SIGINT
    assert capsys.readouterr().err == "Interrupted; run the same command again to go on.\n"


def raise_interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def installed(ready: environment.Environment) -> str:
    command = [ready.python, "-c", "import stub; print(stub.version)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
