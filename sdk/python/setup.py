"""Builds the package, and its native module where a compiler and the repository around it are.

    ATOLL_NATIVE=0 pip install sdk/python          without the module
    ATOLL_NATIVE=required pip install sdk/python   with it, or not at all
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MAKES_PACKAGE = {"bdist_wheel", "build", "build_py", "install", "editable_wheel", "develop"}


def say(text):
    print(f"atoll: {text}", file=sys.stderr, flush=True)


def run(words, log):
    with open(log, "ab") as out:
        done = subprocess.run([str(word) for word in words], stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        tail = log.read_text(errors="replace").splitlines()[-15:]
        raise RuntimeError(f"{words[0]} failed; the end of {log}:\n  " + "\n  ".join(tail))


def missing():
    """Why the module cannot be built here; empty if it can be tried."""
    if os.environ.get("ATOLL_NATIVE") == "0":
        return "ATOLL_NATIVE=0 says so"
    if not sys.platform.startswith("linux"):
        return f"it is for Linux, and this is {sys.platform}"
    if not (ROOT / "src/vfs/file_system.h").exists():
        return "the sources of Atoll are not around the package"
    if not (ROOT / ".deps/npm/node_modules/tree-sitter-python").exists():
        return "the grammars are not installed: run scripts/setup"
    for program in ("cmake", "ninja", "g++"):
        if not shutil.which(program):
            return f"{program} is not installed"
    return ""


@contextlib.contextmanager
def alone(directory):
    """One build at a time uses a directory; others wait for it."""
    import fcntl  # not on Windows, where nothing is built

    with open(directory / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def kept(nanobind, shared):
    """nanobind where it stays: pip unpacks it somewhere else each time, and everything would be compiled anew."""
    place = shared / f"nanobind-{nanobind.__version__}"
    if not place.exists():
        half = pathlib.Path(tempfile.mkdtemp(dir=shared))
        shutil.copytree(pathlib.Path(nanobind.__file__).parent, half / "nanobind")
        (half / "nanobind").rename(place)
        half.rmdir()
    return place


def compile_native(nanobind):
    """Compiles it, and the core below it unless an earlier call did: that does not depend on the Python, so that modules for
    several Pythons share one directory."""
    shared = ROOT / ".deps/sdk/native"
    shared.mkdir(parents=True, exist_ok=True)
    tag = f"{sys.implementation.name}-{sys.version_info.major}.{sys.version_info.minor}"
    log, into = shared / f"log-{tag}", shared / f"module-{tag}"
    with alone(shared):
        log.unlink(missing_ok=True)
        first = not (shared / "core/build.ninja").exists()
        say("building the native module" + ("; the first time takes some minutes" if first else ""))
        run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", shared / "core", "-DATOLL_PYTHON_MODULE=ON",
             "-DCMAKE_BUILD_TYPE=Release", "-DATOLL_UNITY=ON", f"-DATOLL_PYTHON_MODULE_INTO={into}",
             f"-DPython_EXECUTABLE={sys.executable}", "-UPython_INCLUDE_DIR*", "-U_Python_*", "-UNB_*",
             f"-Dnanobind_DIR={kept(nanobind, shared) / 'cmake'}"], log)
        run(["ninja", "-C", shared / "core", "_native"], log)
        made = next(into.glob("_native*.so"))
        # One that cannot be loaded must not be packed.
        run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(into)!r}); import _native"], log)
        copy = pathlib.Path(tempfile.mkdtemp()) / made.name
        shutil.copy2(made, copy)
        return copy


def build_native():
    """The module's file, or why it could not be built."""
    reason = missing()
    try:
        if reason:
            raise RuntimeError(reason)
        import nanobind

        return compile_native(nanobind), ""
    except Exception as problem:  # whatever keeps it from being built, the pure package works
        if os.environ.get("ATOLL_NATIVE") == "required":
            raise
        say(f"installing without the native module (atoll.embedded): {problem}")
        return None, str(problem).splitlines()[0]


module, why_not = build_native() if MAKES_PACKAGE & set(sys.argv[1:]) else (None, "")


class BuildWithModule(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "atoll"
        package.mkdir(parents=True, exist_ok=True)
        if module is not None:
            shutil.copy2(module, package / module.name)
        else:
            # pip shows nothing of a build that succeeds: whoever misses the module reads it in the error.
            (package / "_native_missing.py").write_text(f"REASON = {why_not!r}\n", encoding="utf-8")


class MaybeNative(Distribution):
    """A wheel with the module is for one Python and one kind of machine."""

    def has_ext_modules(self):
        return module is not None


setup(distclass=MaybeNative, cmdclass={"build_py": BuildWithModule})
