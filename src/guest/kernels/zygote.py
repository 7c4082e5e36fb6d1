# The Python part of a zygote: imports what programs usually want, then bears interpreters into sandboxes. It never
# sees a sandbox's files or its user's words; everything after serve() runs in a child that has no power any more.
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
        try:
            importlib.import_module(name)
        except BaseException as problem:
            failed.append(f"{name}: {type(problem).__name__}")
    return failed


def read(name):
    with open(f"{PLACE}/{name}", "rb") as file:
        return file.read()


def reseed():
    # `random` reseeds itself after a fork, and is told to in a copy.
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is None:
        return
    try:  # a state of pure chance: seed() asks for chance too, by three times as many pages of its own
        import os
        key = sys.modules["numpy"].frombuffer(os.urandom(624 * 4), "uint32")
        numpy_random.set_state(("MT19937", key, 624))
    except Exception:  # a user chose another generator
        numpy_random.seed()


def find_packages(standard, packages):
    """What a fresh interpreter's start would put on the path: its user's packages, looked up in this sandbox by that user,
    and those of the system, which are the zygote's own: a child is born only where they are the same."""
    import os
    import site
    sys.path[:] = standard
    site.USER_BASE = site.USER_SITE = None
    site.ENABLE_USER_SITE = site.check_enableusersite()
    has_own = site.ENABLE_USER_SITE and os.path.isdir(site.getusersitepackages())
    if has_own:
        site.addusersitepackages(set(standard))
    sys.path += packages
    if has_own:
        site.execusercustomize()
    sys.path.insert(0, "")


def rehearse(runner):
    """Cells of our own, before anybody's: CPython rewrites code and fills tables on the first calls, and a page that a child
    writes to is a page of its own. Nothing of it is left."""
    import os
    before = sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__, sys.modules["__main__"]
    runner["FD"] = FD
    runner["begin"]()
    for _ in range(24):
        runner["execute"]("x = 1\nprint(x)\nx")
    sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__, sys.modules["__main__"] = before
    os.close(runner["saved_out"])
    os.close(runner["saved_err"])
    runner["cells"].clear()
    for name in ("x", "_"):
        del runner["names"][name]
    del runner["FD"]
    runner.update(out=None, err=None, count=0)


def main():
    import builtins
    import gc
    import os
    import site
    module = load_module()
    failed = preload(STANDARD) + preload(sys.argv[1:])
    del sys.argv[1:]
    runner = compile(read("python.py"), "<atoll>", "exec")
    charts = read("python_charts.py")
    installed = set(site.getsitepackages())
    first = next((at for at, path in enumerate(sys.path) if path in installed), len(sys.path))
    standard, packages = sys.path[:first], sys.path[first:]
    names = {"__name__": "__atoll__", "__builtins__": dict(vars(builtins)), "CHARTS": charts, "PARK": module.park,
             "RESEED": reseed, "SPARE": module.spare, "END_SPARE": module.end_spare}
    exec(runner, names)
    rehearse(names)
    reseed()
    find_packages(standard, packages)
    for name in [name for name in os.environ if name != "LC_CTYPE"]:
        del os.environ[name]
    gc.collect()
    gc.freeze()
    gc.disable()
    os.write(FD, ("ready\n" + "\n".join(failed)).encode())
    control, name, home, shell = module.serve(FD)
    # From here on: the child, inside.
    gc.enable()
    reseed()
    for key, value in ((b"HOME", home), (b"USER", name), (b"LOGNAME", name), (b"SHELL", shell),
                       (b"PATH", b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")):
        os.environb[key] = value
    find_packages(standard, packages)
    names["FD"] = control
    return names["begin"], names["serve"]


begin, serve = main()
begin()
serve()
