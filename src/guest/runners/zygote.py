# The Python part of a zygote: imports what programs usually want, then interpreters are forked from it into sandboxes. It never
# sees a sandbox's files or its user's words; everything after serve() runs in a child that has no power any more.
import gc
import os
import site
import sys

sys.path[:] = [path for path in sys.path if path]  # nothing comes from a working directory here
STANDARD = (
    "abc argparse ast asyncio base64 bisect collections collections.abc contextlib copy csv dataclasses datetime "
    "decimal enum fcntl fractions functools glob heapq importlib.machinery importlib.util inspect io itertools json "
    "linecache logging math operator os pathlib pickle pprint pwd random re shutil signal site statistics string "
    "struct subprocess sys tempfile textwrap threading time timeit traceback types typing urllib.parse uuid warnings "
    "weakref").split()


def load_module():
    import importlib.machinery
    import importlib.util
    loader = importlib.machinery.ExtensionFileLoader("atoll_zygote", PLACE + "/zygote.so")
    spec = importlib.util.spec_from_file_location("atoll_zygote", loader.path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def preload(names):
    """The names that could not be imported, each with its reason."""
    import importlib
    failed = []
    for name in names:
        before = set(sys.modules)
        try:
            importlib.import_module(name)
        except BaseException as problem:
            failed.append(f"{name}: {type(problem).__name__}")
            # What is left of a package that failed half-way would break it for everybody who imports it later.
            package = name.partition(".")[0]
            for part in [part for part in sys.modules if part == package or part.startswith(package + ".")]:
                if part not in before:
                    del sys.modules[part]
    return failed


def read(name):
    with open(f"{PLACE}/{name}", "rb") as file:
        return file.read()


class Hooks:
    """Listens who wants to be told of forks. A child of a process that has one thread needs none of those that mend locks and
    lists of threads, and they write to a hundred pages that it would share otherwise: they are called for others' sake only."""
    OF_THREADS = ("threading", "logging", "concurrent.futures.thread")
    OF_CHANCE = ("random",)  # a child is seeded by arrive()

    def __init__(self):
        self.are_needed = False
        self.register = os.register_at_fork
        os.register_at_fork = self.hear

    def hear(self, **hooks):
        if sys._getframe(1).f_globals.get("__name__") not in self.OF_THREADS + self.OF_CHANCE:
            self.are_needed = True
        self.register(**hooks)

    def close(self):
        os.register_at_fork = self.register


class Packages:
    """What a fresh interpreter's start would put on the path: its user's packages, looked up in this sandbox by that user,
    and those of the system, which are the zygote's own: a child is forked only where they are the same."""

    def __init__(self):
        installed = set(site.getsitepackages())
        first = next((at for at, path in enumerate(sys.path) if path in installed), len(sys.path))
        self.standard, self.systems = sys.path[:first], sys.path[first:]
        os.environ["HOME"] = "/h"
        site.USER_BASE = site.USER_SITE = None
        self.own, self.base = site.getusersitepackages()[2:], site.USER_BASE[2:]  # below a home

    def find(self, home):
        sys.path[:] = self.standard
        has_own = not self.are_none(home) and self.add_own()
        sys.path += self.systems
        if has_own:
            site.execusercustomize()
        sys.path.insert(0, "")

    def are_none(self, home):
        """The usual case, without a dozen functions of `site`: each costs pages."""
        if home[:1] != "/" or home[-1] == "/":
            return False
        try:
            os.stat(home + self.own)
            return False
        except OSError:
            site.USER_BASE, site.USER_SITE, site.ENABLE_USER_SITE = home + self.base, home + self.own, True
            return True

    def add_own(self):
        site.USER_BASE = site.USER_SITE = None
        site.ENABLE_USER_SITE = site.check_enableusersite()
        has_own = site.ENABLE_USER_SITE and os.path.isdir(site.getusersitepackages())
        if has_own:
            site.addusersitepackages(set(self.standard))
        return has_own


def arrive(runner, packages, name, home, shell):
    """Makes a child the interpreter of its user in its sandbox."""
    SEED()
    runner["reseed_numpy"]()
    if os.getpid() == PID:  # OpenSSL notices a fork by the process number
        RESEED_LIBRARIES()
    THREADING.main_thread()._set_native_id()  # the only one of the hooks of threads that a child would miss
    for key, value in ((b"HOME", home), (b"USER", name), (b"LOGNAME", name), (b"SHELL", shell),
                       (b"PATH", b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")):
        os.environb[key] = value
    packages.find(os.environ["HOME"])
    runner["begin"]()


class Rehearsed(BaseException):
    pass


def end_rehearsal(_):
    raise Rehearsed


def rehearse(runner, packages):
    """A child's first steps and cells of our own, before anybody's: CPython rewrites code and fills tables on the first calls,
    and a page that a child writes to is a page of its own. Of it are left the streams, which are open on what 1 and 2 are in
    every child: pipes."""
    import _signal
    import linecache
    import socket
    before = sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__, sys.modules["__main__"]
    park, on_interrupt = runner["PARK"], _signal.getsignal(2)
    host, child = (end.detach() for end in socket.socketpair())
    read_end, write_end = os.pipe()
    os.dup2(write_end, 1)
    os.dup2(write_end, 2)
    runner.update(FD=child, PARK=end_rehearsal)
    code = b"x = 1\nprint(x)\nx"
    words = b"A 4\nmark" + b"X %d\n%s" % (len(code), code)
    for _ in range(24):
        arrive(runner, packages, b"user", b"/h", b"/bin/sh")
        os.write(host, words + words + b"B 0\n")
        try:
            runner["serve"]()
        except Rehearsed:
            pass
        os.read(host, 1 << 16)
        os.read(read_end, 1 << 16)
        for name in ("saved_out", "saved_err"):
            os.close(runner.pop(name))
    sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__, sys.modules["__main__"] = before
    _signal.signal(2, on_interrupt)
    for number in (1, 2):
        os.dup2(0, number)
    for number in (host, child, read_end, write_end):
        os.close(number)
    for name in runner["cells"]:
        linecache.cache.pop(name, None)
    runner["cells"].clear()
    for name in ("x", "_"):
        del runner["names"][name]
    runner.update(PARK=park, count=0, mark=b"")
    del runner["FD"], runner["MAIN_PID"]


def prepare():
    """All that children share: the module that forks them, the runner's names, where packages are, whether hooks are called."""
    import builtins
    module = load_module()
    hooks = Hooks()
    os.environ["MPLBACKEND"] = "agg"  # as every interpreter has it
    failed = preload(STANDARD) + preload(sys.argv[1:])
    hooks.close()
    del sys.argv[1:]
    import _random
    import functools
    import random
    global SEED, THREADING, PID, RESEED_LIBRARIES
    import threading as THREADING
    PID, RESEED_LIBRARIES = os.getpid(), module.reseed_libraries
    RESEED_LIBRARIES()  # the first time is expensive
    SEED = functools.partial(_random.Random.seed, random._inst)
    runner = {"__name__": "__atoll__", "__builtins__": dict(vars(builtins)), "REST": read("python_rest.py") + read("python_charts.py"),
              "PARK": module.park, "SPARE": module.spare, "END_SPARE": module.end_spare}
    for part in ("python.py", "python_chance.py"):
        exec(compile(read(part), "<atoll>", "exec"), runner)
    runner["load_rest"]()
    packages = Packages()
    rehearse(runner, packages)
    for name in [name for name in os.environ if name != "LC_CTYPE"]:
        del os.environ[name]
    return module, runner, packages, hooks.are_needed, ("ready\n" + "\n".join(failed)).encode()


# Not in a function: what it held would be taken apart by every child, in pages that it shares until then.
module, runner, packages, hooks_are_needed, ready = prepare()
gc.collect()
module.fill_pools()
gc.freeze()
gc.disable()
os.write(FD, ready)
control, name, home, shell = module.serve(FD, hooks_are_needed)
# From here on: the child, inside.
gc.enable()
runner["FD"] = control
arrive(runner, packages, name, home, shell)
runner["serve"]()
