# What most cells never need, loaded by the first that does (load_rest() in python.py): tables, lists and dicts that hold
# more than JSON has words for, images that are shown and saved, magics.
import os
import sys

VALUES_MAX = 1000000  # more of a list or dict is not told as data
DEPTH_MAX = 250


# ---- tables

def cell_value(value):
    """One value of a table, as JSON can say it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if type(value).__name__ == "NAType":
        return None
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if hasattr(value, "isoformat"):
        try:
            text = value.isoformat()
            return None if text == "NaT" else text
        except Exception:
            return None
    if hasattr(value, "item"):
        try:
            return cell_value(value.item())
        except Exception:
            pass
    return str(value)


def table(frame):
    """Its columns by name; one that has a name again gets a number, as where pandas reads files."""
    columns = {}
    for at, name in enumerate(frame.columns):
        column, key, again = frame.iloc[:, at], str(name), 0
        while key in columns:
            again += 1
            key = f"{name}.{again}"
        values = column.tolist()
        is_whole = getattr(column.dtype, "kind", "") in "iub" and not hasattr(column.dtype, "na_value")
        columns[key] = values if is_whole else [cell_value(value) for value in values]
    return columns


def table_form(frame):
    import json
    return json.dumps(table(frame))


# ---- lists and dicts

class Converter:
    """Makes of a value what JSON can say: dates, numbers and arrays of numpy, records, identifiers and members of enums have
    a word too. Fails for everything else: half of a value is none."""

    def __init__(self):
        self.left = VALUES_MAX

    def value(self, value, depth=0):
        self.left -= 1
        if self.left < 0 or depth > DEPTH_MAX:
            raise ValueError("it holds too much")
        if value is None or isinstance(value, (bool, str)):
            return value
        import enum
        if isinstance(value, enum.Enum):
            return self.value(value.value, depth + 1)
        if isinstance(value, int):
            if not -1 << 63 <= value < 1 << 64:
                raise TypeError("an integer of more than 64 bits")
            return int(value)
        if isinstance(value, float):
            return float(value) if value == value and abs(value) != float("inf") else None
        if isinstance(value, list) or type(value) is tuple:
            return [self.value(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {self.key(key): self.value(item, depth + 1) for key, item in value.items()}
        return self.other(value, depth)

    def other(self, value, depth):
        import dataclasses
        import datetime
        import uuid
        if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
            return value.isoformat()
        if isinstance(value, uuid.UUID):
            return str(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: self.value(getattr(value, field.name), depth + 1) for field in dataclasses.fields(value)}
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind in "biufM" and value.size <= self.left:
            return self.value(value.tolist() if value.dtype.kind != "M" else value.astype(str).tolist(), depth + 1)
        if numpy is not None and isinstance(value, numpy.datetime64):
            return str(value)
        if numpy is not None and isinstance(value, (numpy.bool_, numpy.integer, numpy.floating)):
            return self.value(value.item(), depth + 1)
        raise TypeError(type(value).__name__)

    def key(self, key):
        key = self.value(key)
        if isinstance(key, (list, dict)):
            raise TypeError("a key that is no word")
        return key if isinstance(key, str) else {None: "null", True: "true", False: "false"}.get(key, str(key)) \
            if key is None or isinstance(key, bool) else str(key)


def json_form(value):
    import json
    return json.dumps(Converter().value(value), ensure_ascii=False, allow_nan=False)


# ---- images

def show_images(module, display):
    """There is no screen: image.show() shows where results are shown, and starts no program."""

    def show(image, *_, **__):
        display(image)
        return True

    module.show = show


def show_saved(module, display):
    """An image that is saved under a name is shown as well."""
    save = module.Image.save

    def saved(self, fp, format=None, **options):
        if isinstance(fp, str):
            display(self)
        return save(self, fp, format, **options)

    saved.__name__, saved.__qualname__, saved.__doc__, saved.__module__ = "save", "Image.save", save.__doc__, "PIL.Image"
    module.Image.save = saved


# ---- magics: the policy (policy/scan/cell.cc) reads what each of them runs, so one more here is one more there

SHOWN = {"html": "text/html", "markdown": "text/markdown", "latex": "text/latex", "svg": "image/svg+xml",
         "javascript": "application/javascript", "js": "application/javascript"}
LINES = ("autoreload", "cd", "config", "env", "load_ext", "lsmagic", "matplotlib", "pip", "pip3", "pwd", "run", "time", "timeit", "who")
CELLS = ("bash", "capture", "file", "script", "sh", "time", "timeit", "writefile", *SHOWN)


def magic(line, shell, expand, names):
    """What a line that begins with % does, and its value."""
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if word in ("pip", "pip3"):
        return shell(f"{sys.executable} -m pip {rest}")
    if word == "cd":
        return os.chdir(os.path.expanduser(expand(rest) or "~"))
    if word == "env":
        key, equals, value = rest.partition("=")
        if equals:
            os.environ[key.strip()] = value.strip()
        return None
    if word in ("matplotlib", "config", "load_ext", "autoreload"):
        return None
    if word == "pwd":
        return os.getcwd()
    if word == "time":
        return timed(lambda: value_of(rest, names))
    if word == "timeit":
        return measure(rest, None, names)
    if word == "run":
        return run_file(expand(rest), names)
    if word == "who":
        return print(*sorted(name for name in names if not name.startswith("_") and name not in ("display", "exit", "quit")), sep="\t")
    if word == "lsmagic":
        return print(*(f"%{one}" for one in LINES), *(f"%%{one}" for one in CELLS))
    raise NameError(f"there is no %{word} here")


def value_of(statement, names):
    """That of an expression; of other statements None."""
    try:
        code = compile(statement, "<magic>", "eval")
    except SyntaxError:
        code = compile(statement, "<magic>", "exec")
    return eval(code, names)


def span(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def timed(run):
    """What it gives, after telling how long it took."""
    import resource
    import time
    before, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    try:
        return run()
    finally:
        wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_SELF)
        user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
        print(f"CPU times: user {span(user)}, sys: {span(system)}, total: {span(user + system)}\nWall time: {span(wall)}")


def measure(rest, body, names):
    """%timeit [-n loops] [-r runs] statement, and %%timeit, whose line is run once before each measure."""
    import re
    import statistics
    import timeit
    given = {"n": 0, "r": 7}
    while option := re.match(r"-([nr])\s*(\d+)(\s+|$)|-[qoc](\s+|$)", rest):
        if option[1]:
            given[option[1]] = int(option[2])
        rest = rest[option.end():]
    if rest.startswith("-"):
        raise ValueError(f"%timeit knows -n, -r, -q, -o and -c, and not {rest.split()[0]}")
    timer = timeit.Timer(rest, globals=names) if body is None else timeit.Timer(body, rest or "pass", globals=names)
    loops = given["n"] or timer.autorange()[0]
    runs = [whole / loops for whole in timer.repeat(max(given["r"], 1), loops)]
    print(f"{span(statistics.fmean(runs))} ± {span(statistics.pstdev(runs))} per loop "
          f"(mean ± std. dev. of {len(runs)} runs, {loops:,} loops each)")


def run_file(words, names):
    """%run file arguments: as a program of its own, whose names are the cell's afterwards."""
    import runpy
    import shlex
    arguments = shlex.split(words)
    if not arguments:
        raise ValueError("%run needs the name of a file")
    before, sys.argv = sys.argv, arguments
    try:
        made = runpy.run_path(arguments[0], run_name="__main__")
    finally:
        sys.argv = before
    names.update((name, value) for name, value in made.items() if not name.startswith("__"))


class Captured:
    """What a cell wrote under %%capture."""

    def __init__(self, stdout, stderr):
        self.stdout, self.stderr = stdout, stderr

    def show(self):
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)

    __call__ = show

    def __str__(self):
        return self.stdout


def capture(words, names, run):
    import contextlib
    import io
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            run()
    finally:
        for name in (word for word in words if not word.startswith("-")):
            names[name] = Captured(out.getvalue(), err.getvalue())


def cell_magic(code, names, display, run_cell):
    """%%words take the whole cell. Gives what the cell has to say at its end, or nothing. Lines keep their numbers."""
    above = len(code) - len(code.lstrip())
    head, _, body = code.lstrip().partition("\n")
    word, *words = head[2:].split() or [""]
    below = "\n" * (code[:above].count("\n") + 1) + body
    if word in ("bash", "sh", "script"):
        import subprocess
        done = subprocess.run(["/bin/bash", "-s"], input=body.encode())
        if done.returncode:
            raise RuntimeError(f"the script ended with status {done.returncode}")
    elif word in ("writefile", "file") and words:
        with open(words[-1], "a" if words[0] == "-a" else "w") as file:
            file.write(body)
    elif word == "time":
        return timed(lambda: run_cell(below))
    elif word == "timeit":
        measure(head[2:].partition("timeit")[2].strip(), body, names)
    elif word == "capture":
        capture(words, names, lambda: run_cell(below))
    elif word in SHOWN:
        display({SHOWN[word]: body}, raw=True)
    else:
        raise NameError(f"there is no %%{word} here")
    return None
