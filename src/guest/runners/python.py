# The runner of Python: executes cells in one namespace and tells results, errors and the end on a private descriptor.
#
# Started with FD (that descriptor) and its own copy of the builtins, so that nothing user code does to builtins,
# modules or standard streams reaches it. Only C modules are imported here; the rest comes when it is needed. A zygote
# gives REST, PARK, SPARE, END_SPARE and what is in python_chance.py too, and FD only to a child, where it calls begin() and
# serve() itself.
import _ast
import _io
import _signal
import _thread
import builtins
import os
import sys
from posix import read as _read, write as _write, getpid as _getpid, dup2 as _dup2, fstat as _fstat, _exit
from posix import open as _open, close as _close, listdir as _listdir, waitid as _waitid

OWN = "<atoll>"
TEXT_MAX = 1 << 20
RESULT_MAX = 32 << 20  # of all forms of one value; the host takes no message of twice that
TABLE_CELLS_MAX = 1000000  # more of a table is not told as data
TRACEBACK_MAX = 64 << 10
ALLOW_AWAIT = 0x2000
ONLY_AST = 0x400
IS_COROUTINE = 0x80
CELLS_KEPT = 1000
PAGE = 4096
NEVER_COPIED = "/run/atoll/"  # whom this sandbox trusts: a copy is told anew
ANY_CHILD = (0, 0, 0x1000005)  # P_ALL; WEXITED, WNOHANG, WNOWAIT

modules = sys.modules
main = type(sys)("__main__")
main.__dict__["__builtins__"] = builtins
names = main.__dict__

busy = False
count = 0
mark = b""  # of the running execution: said with every word about it
pending = b""
cells = {}
unlisted = []
rest_source = globals().get("REST", b"")
rest = None
loop = None
writing = _thread.allocate_lock()
out = err = None
spare = 0
SPARE = globals().get("SPARE")


def high_copy(fd):
    import fcntl
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FD + 1)


def send(data):
    view = memoryview(data)
    with writing:  # threads show images too
        while view:
            view = view[_write(FD, view):]


def message(kind, payload):
    return b"%c %d %s\n" % (kind, len(payload), mark) + payload


def field(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    return b"%d\n" % len(data) + data


def fill():
    global pending
    data = _read(FD, 65536)
    if not data:
        _exit(0)
    pending += data


def receive():
    global pending
    while True:
        line = pending.find(b"\n")
        if line >= 0:
            break
        fill()
    kind, size = pending[0], int(pending[2:line])
    start = line + 1
    while len(pending) < start + size:
        fill()
    payload = pending[start:start + size]
    pending = pending[start + size:]
    return kind, payload


# ---- standard streams

def open_stream(fd):
    return _io.TextIOWrapper(_io.BufferedWriter(_io.FileIO(fd, "w", closefd=False)), "utf-8", "backslashreplace",
                             line_buffering=True)


def open_input():
    """Nobody can type: whoever reads is told the end."""
    try:
        _fstat(0)
    except OSError:
        null = _open("/dev/null", 0)
        if null:
            _dup2(null, 0)
            _close(null)
    return _io.TextIOWrapper(_io.BufferedReader(_io.FileIO(0, "r", closefd=False)), "utf-8", "surrogateescape")


def begin():
    """What is of one process: a zygote has everything else before its children are forked."""
    global MAIN_PID, saved_out, saved_err, out, err
    MAIN_PID = _getpid()
    modules["__main__"] = main
    os.environ.setdefault("MPLBACKEND", "agg")
    saved_out, saved_err = high_copy(1), high_copy(2)
    if out is None:
        out, err = open_stream(1), open_stream(2)
    sys.stdout, sys.stderr = out, err
    sys.__stdout__, sys.__stderr__ = out, err


def mend_streams():
    """Gives back what the last cell closed."""
    global out, err
    for fd, saved in ((1, saved_out), (2, saved_err)):
        try:
            _fstat(fd)
        except OSError:
            _dup2(saved, fd)
    if out.closed:
        out = sys.stdout = open_stream(1)
    if err.closed:
        err = sys.stderr = open_stream(2)
    if sys.stdout is None or getattr(sys.stdout, "closed", False) is True:
        sys.stdout = out
    if sys.stderr is None or getattr(sys.stderr, "closed", False) is True:
        sys.stderr = err
    if sys.stdin is None or getattr(sys.stdin, "closed", False) is True:  # exit() closes it
        sys.stdin = sys.__stdin__ = open_input()


def flush_streams():
    for stream in (out, err, sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass


# ---- results

REPRESENTATIONS = (
    ("_repr_html_", "text/html"), ("_repr_markdown_", "text/markdown"), ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"), ("_repr_jpeg_", "image/jpeg"), ("_repr_pdf_", "application/pdf"),
    ("_repr_latex_", "text/latex"), ("_repr_json_", "application/json"),
    ("_repr_javascript_", "application/javascript"),
)
SIMPLE = (int, float, str, bytes, bool, tuple, set, complex)  # only their text is told
PLAIN = SIMPLE + (list, dict)


def as_text(value):
    if isinstance(value, (bytes, bytearray)):
        import binascii
        return binascii.b2a_base64(value, newline=False).decode()
    if isinstance(value, str):
        return value
    import json
    return json.dumps(value, default=str)


def plain(value):
    try:
        text = repr(value)
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt):
            raise
        text = f"<{type(value).__name__} whose repr failed: {type(problem).__name__}>"
    return text if len(text) <= TEXT_MAX else text[:TEXT_MAX] + "..."


def load_rest():
    """What most cells never need: compiled for the first that does."""
    global rest
    if rest is None:
        rest = {"__name__": OWN, "__builtins__": __builtins__}
        exec(compile(rest_source, OWN, "exec"), rest)
    return rest


def is_a(value, module, name):
    kind = type(value)
    return any(base.__name__ == name and base.__module__.startswith(module) for base in kind.__mro__)


def json_text(value, text):
    """A list or dict as JSON; None if it holds what JSON has no word for, or too much."""
    if len(text) > TEXT_MAX:
        return None
    try:
        import _json
        encoder = _json.make_encoder({}, no_word, _json.encode_basestring, None, ":", ",", False, False, False)
        return "".join(encoder(value, 0))
    except Exception:
        pass  # dates, numbers of numpy, what is no number: slower
    try:
        return load_rest()["json_form"](value)
    except Exception:
        return None


def no_word(value):
    raise TypeError(type(value).__name__)


def bundle(value):
    data = {"text/plain": plain(value)}
    kind = type(value)
    if kind in SIMPLE:
        return data
    if isinstance(value, (list, dict)):
        form = json_text(value, data["text/plain"])
        if form is not None:
            data["application/json"] = form
    if kind in PLAIN:
        return data
    if "matplotlib.figure" in modules and is_a(value, "matplotlib", "Figure"):
        data.update(load_rest()["figure_bundle"](value))
        return data
    method = getattr(kind, "_repr_mimebundle_", None)
    if method is not None:
        try:
            found = method(value, include=None, exclude=None)
            data.update(found[0] if isinstance(found, tuple) else found or {})
        except Exception as problem:
            tell(trace_text(problem))
    for name, mime in REPRESENTATIONS:
        method = getattr(kind, name, None)
        if method is None or mime in data:
            continue
        try:
            found = method(value)
        except Exception as problem:
            tell(trace_text(problem))
            continue
        if isinstance(found, tuple):
            found = found[0]
        if found is not None:
            data[mime] = found
    if "pandas" in modules and is_a(value, "pandas", "DataFrame") and value.size <= TABLE_CELLS_MAX:
        try:
            data["e2b/data"] = load_rest()["table_form"](value)
        except Exception:
            pass
    return data


def result_message(data, is_main):
    payload, left = [b"1" if is_main else b"0"], RESULT_MAX
    for mime, value in data.items():
        said = field(as_text(value))
        if len(said) > left:
            tell(f"{mime} of {len(said)} bytes was left out: one result holds {RESULT_MAX}\n")
            continue
        left -= len(said)
        payload += field(str(mime)), said
    return message(82, b"".join(payload))  # R


def display(*values, raw=False, **_):
    """Shows values on the way; what is raw tells its forms by MIME type itself."""
    if _getpid() != MAIN_PID:
        return  # a worker that the user forked: only one process speaks here
    flush_streams()
    for value in values:
        send(result_message(dict(value) if raw else bundle(value), False))


names["display"] = display


def show_figures(*_, **__):
    pyplot = modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in list(pyplot.get_fignums()):
        figure = pyplot.figure(number)
        if figure.get_axes():
            display(figure)
    pyplot.close("all")


def show_unfinished():
    """What a cell drew before it failed."""
    try:
        show_figures()
    except Exception:
        pass  # the cell's own error is told


# What libraries show is shown here: what is done to their modules once the user imports those.
SHOWN = {
    "matplotlib.pyplot": lambda module: setattr(module, "show", show_figures),
    "IPython.core.display_functions": lambda module: setattr(module, "display", display),
    "PIL.ImageShow": lambda module: load_rest()["show_images"](module, display),
    "PIL.Image": lambda module: load_rest()["show_saved"](module, display),
}


class ShowFinder:
    """Lets plt.show(), image.show() and IPython's display() show, without importing anything before the user does."""

    def find_spec(name, path=None, target=None):
        if name not in SHOWN:
            return None
        for finder in sys.meta_path:
            if finder is ShowFinder:
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                load = spec.loader.exec_module

                def exec_module(module):
                    load(module)
                    SHOWN[name](module)

                spec.loader.exec_module = exec_module
                return spec
        return None


sys.meta_path.insert(0, ShowFinder)
for shown in SHOWN:
    if shown in modules:  # a zygote imported it already
        SHOWN[shown](modules[shown])


# ---- errors

def list_cells():
    """Makes the text of cells known to tracebacks and inspect."""
    import linecache
    while unlisted:
        name = unlisted.pop()
        text = cells.get(name)
        if text is not None:
            lines = [line + "\n" for line in text.split("\n")]  # as of a file: tracebacks count on it
            linecache.cache[name] = (len(text), None, lines, name)


def without_own(shown):
    """Leaves the user's frames, in every error of a chain: not the runner's, nor those of what it calls for the user."""
    errors = [shown]
    while errors:
        error = errors.pop()
        kept, is_own = [], False
        for frame in error.stack:
            name = frame.filename
            is_own = name == OWN or is_own and ("/asyncio/" in name or name.endswith("/subprocess.py"))
            if not is_own:
                kept.append(frame)
        error.stack[:] = kept
        others = error.__cause__, error.__context__, *(getattr(error, "exceptions", None) or ())
        errors += [other for other in others if other is not None]


def trace_text(problem):
    kind = type(problem)
    try:
        list_cells()
        if isinstance(problem, SyntaxError) and problem.text is None and problem.filename in cells:
            problem.text = cells[problem.filename].split("\n")[problem.lineno - 1]
        import traceback
        shown = traceback.TracebackException(kind, problem, problem.__traceback__)
        without_own(shown)
        text = "".join(shown.format())
    except BaseException:
        text = f"{kind.__name__}: {error_value(problem)}"
    if len(text) > TRACEBACK_MAX:
        text = text[:TRACEBACK_MAX // 2] + "\n...\n" + text[-TRACEBACK_MAX // 2:]
    return text


def error_value(problem):
    try:
        return str(problem)
    except BaseException:
        return "<the error cannot be shown>"


def error_message(problem):
    name, value = type(problem).__name__, error_value(problem)[:TEXT_MAX]
    return message(70, field(name) + field(value) + field(trace_text(problem)))  # F


def tell(text):
    """On the error stream, whatever became of sys.stderr."""
    flush_streams()
    try:
        err.write(text)
        err.flush()
    except Exception:
        pass  # the user closed it


# ---- shell escapes

def expand(command):
    import re

    def value(match):
        try:
            return str(eval(match.group(1), names))
        except Exception:
            return match.group(0)

    command = re.sub(r"\{([^{}]+)\}", value, command)
    return re.sub(r"\$([A-Za-z_]\w*)", lambda m: str(names[m.group(1)]) if m.group(1) in names else m.group(0), command)


def shell(command):
    import subprocess
    flush_streams()
    names["_exit_code"] = subprocess.run(["/bin/bash", "-c", expand(command)], stdin=subprocess.DEVNULL).returncode


def shell_lines(command):
    import subprocess
    done = subprocess.run(["/bin/bash", "-c", expand(command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    names["_exit_code"] = done.returncode
    return done.stdout.decode("utf-8", "replace").splitlines()


def magic(line):
    return load_rest()["magic"](line, shell, expand, names)


names["__atoll_shell__"], names["__atoll_lines__"], names["__atoll_magic__"] = shell, shell_lines, magic


def open_after(line, depth, quote):
    """What is open behind a line of Python: brackets, and the quotes of a string. An escape is no part of either."""
    at = 0
    while at < len(line):
        if quote:
            closes = line.startswith(quote, at)
            at += len(quote) if closes else 2 if line[at] == "\\" else 1
            quote = "" if closes else quote
            continue
        char = line[at]
        if char == "#":
            return depth, "", False
        if char in "\"'":
            quote = char * 3 if line.startswith(char * 3, at) else char
        depth = max(depth + (char in "([{") - (char in ")]}"), 0)
        at += len(quote) or 1
    goes_on = line.endswith("\\")
    return depth, quote if len(quote) == 3 or goes_on else "", goes_on


def escape(line):
    """The call that a line with an escape stands for."""
    body = line.lstrip()
    indent = line[:len(line) - len(body)]
    before, equals, after = body.partition("=")
    if body.startswith("!"):
        return f"{indent}__atoll_shell__({body[1:].strip()!r})"
    if body.startswith("%"):
        return f"{indent}__atoll_magic__({body[1:].strip()!r})"
    if equals and after.lstrip().startswith("!") and before.strip().isidentifier():
        return f"{indent}{before.strip()} = __atoll_lines__({after.lstrip()[1:].strip()!r})"
    return None


def rewrite(code):
    """Statements that begin with ! or % become calls; everything else stays as it is, and where it is."""
    lines = code.split("\n")
    depth, quote, goes_on = 0, "", False
    for at, line in enumerate(lines):
        call = None if depth or quote or goes_on else escape(line)
        if call is None:
            depth, quote, goes_on = open_after(line, depth, quote)
            continue
        end = at + 1
        while line.endswith("\\") and end < len(lines):  # the shell's own way to go on
            line += "\n" + lines[end]
            lines[end] = ""
            end += 1
        lines[at] = escape(line)
    return "\n".join(lines)


def dedent(code):
    """Without the indentation of the first line that says something, as IPython reads cells: lines that begin with the same
    words lose it, inside of long strings too, and others stay. Empty lines before stay, so that lines keep their numbers."""
    if not code[:1].isspace():  # nearly every cell; what is touched for the first time after a copy costs a page
        return code
    lines = code.splitlines(True)
    first = next((line for line in lines if not line.isspace()), "")
    size = len(first) - len(first.lstrip(" \t"))
    if not size:
        return code
    indent = first[:size]
    return "".join([line[size:] if line.startswith(indent) else line for line in lines])


def parse(code, name):
    try:
        return compile(code, name, "exec", ONLY_AST | ALLOW_AWAIT, True)
    except SyntaxError:
        if "!" not in code and "%" not in code:
            raise
        changed = rewrite(code)
        if changed == code:
            raise
    return compile(changed, name, "exec", ONLY_AST | ALLOW_AWAIT, True)


# ---- execution

def run_code(code):
    if not code.co_flags & IS_COROUTINE:
        return eval(code, names)
    import asyncio
    global loop
    if loop is None or loop.is_closed():
        loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    task = loop.create_task(eval(code, names))
    try:
        return loop.run_until_complete(task)
    except BaseException:
        if not task.done():
            task.cancel()
            try:
                loop.run_until_complete(asyncio.wait([task], timeout=1))
            except BaseException:
                pass
        raise


def is_quiet(code, last):
    """Whether a semicolon follows the last expression."""
    if ";" not in code:
        return False
    lines = code.split("\n")
    line = lines[last.end_lineno - 1] if last.end_lineno <= len(lines) else ""
    return line.encode("utf-8", "replace")[last.end_col_offset:].lstrip().startswith(b";")


def run_cell(code):
    """What the cell has to say at its end."""
    code = dedent(code)
    if code.lstrip().startswith("%%"):
        flush_streams()
        return load_rest()["cell_magic"](code, names, display, run_cell) or b""
    name = f"<cell {count}>"
    cells[name] = code
    unlisted.append(name)
    if len(cells) > CELLS_KEPT:
        cells.pop(next(iter(cells)))
    if "linecache" in modules:
        try:
            list_cells()
        except Exception:
            pass  # the user's own `linecache`: tracebacks show no lines then
    tree = parse(code, name)
    body = tree.body
    last = None
    if body and type(body[-1]) is _ast.Expr and not is_quiet(code, body[-1]):
        last = body.pop()
    if body:
        run_code(compile(tree, name, "exec", ALLOW_AWAIT, True))
    if last is None:
        return b""
    value = run_code(compile(_ast.Expression(last.value), name, "eval", ALLOW_AWAIT, True))
    if value is None:
        return b""
    names["_"] = value
    return result_message(bundle(value), True)


def execute(code):
    global busy, count
    count += 1
    status, ending = 0, b""
    try:
        busy = True
        try:
            ending = run_cell(code)
        except Exception:
            show_unfinished()
            raise
        show_figures()  # called always: a tracer of the cell's that raises does so here, where it is caught, and is off then
        busy = False
    except SystemExit as leaving:
        busy = False
        status = leaving.code if isinstance(leaving.code, int) else 0 if leaving.code is None else 1
        if status:
            ending = error_message(leaving)
    except BaseException as problem:
        busy = False
        status, ending = 1, error_message(problem)
    if _getpid() != MAIN_PID:
        _exit(status & 255)  # a fork of the user's that came back here
    flush_streams()
    return ending + message(68, b"%d %d" % (status & 255, count))  # D


def on_interrupt(_number, _frame):
    if busy:
        raise KeyboardInterrupt


def with_environment(changes, code):
    if not changes:
        return execute(code)
    before = {}
    for change in changes:
        key, _, value = change.decode("utf-8", "surrogateescape").partition("=")
        before.setdefault(key, os.environ.get(key))
        os.environ[key] = value
    try:
        return execute(code)
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def here():
    try:
        return os.getcwdb()
    except OSError:
        return b""


def load_spare(image):
    """What a zygote's child has from its zygote, for one that was started as a program."""
    global SPARE, END_SPARE
    import _imp
    from posix import memfd_create
    fd = memfd_create("atoll", 1)
    try:
        view = memoryview(image)
        while view:
            view = view[_write(fd, view):]
        spec = type("Spec", (), {"name": "atoll_spare", "origin": f"/proc/self/fd/{fd}"})()
        module = _imp.create_dynamic(spec)
        _imp.exec_dynamic(module)
    finally:
        _close(fd)
    SPARE, END_SPARE = module.spare, module.end_spare


def end_spare():
    global spare
    if spare:
        END_SPARE(spare)
    spare = 0


def hindrance(bytes_max):
    """Why no copy can be kept that goes on as this interpreter would; nothing if one can."""
    if SPARE is None:
        return "this Python cannot load what copies it"
    if len(_listdir("/proc/self/task")) != 1:
        return "it has threads"
    try:
        _waitid(*ANY_CHILD)
        return "it has child processes"
    except ChildProcessError:
        pass
    for kind in range(3):
        if _signal.getitimer(kind)[0]:
            return "it has a timer"
    fd = _open("/proc/self/statm", 0x80000)  # O_CLOEXEC
    try:
        resident, shared = _read(fd, 256).split()[1:3]
    finally:
        _close(fd)
    if (int(resident) - int(shared)) * PAGE > bytes_max:
        return f"it holds more than {bytes_max >> 20} MiB"
    return None


def make_spare(bytes_max, word):
    """Leaves a copy behind that waits for the end of this interpreter and then goes on from here."""
    global spare, MAIN_PID, pending
    try:
        end_spare()
        flush_streams()
        why = hindrance(bytes_max)
        pid = SPARE() if why is None else -1
    except BaseException as problem:
        why, pid = f"{type(problem).__name__}: {problem}", -1
    if pid > 0:
        spare = pid
        return send(message(81, b"%d" % pid))  # Q
    if pid < 0:
        return send(message(81, (why or "the system has no room for it").encode("utf-8", "backslashreplace")[:200]))
    # The copy, and alone now. What the other one was still to hear is not for this one: the host says where that ends,
    # and hears from the same word on.
    MAIN_PID = _getpid()
    while word not in pending:
        pending = pending[-len(word):]
        fill()
    pending = pending[pending.find(word) + len(word):]
    send(word + message(75, here()))  # K


def park():
    """Stands still while the host looks; a copy of this interpreter comes out of here too."""
    global loop
    end_spare()
    flush_streams()
    waking = PARK(FD)
    if not waking:
        return
    loop = None  # its descriptors stayed behind
    try:
        for name in [name for name, value in os.environ.items() if value.startswith(NEVER_COPIED)]:
            del os.environ[name]
    except BaseException:
        pass  # the user's own `environ`
    if waking == 1:  # one that was resumed goes on where it was
        reseed()
    send(message(75, here()))  # K


def serve():
    global rest_source, mark
    changes = []
    _signal.signal(2, on_interrupt)
    send(message(75, here()))  # K
    while True:
        kind, payload = receive()
        if kind == 88:  # X
            mend_streams()
            if _signal.getsignal(2) is not on_interrupt:
                _signal.signal(2, on_interrupt)
            send(with_environment(changes, payload.decode("utf-8", "replace")))
            changes = []
        elif kind == 65:  # A
            mark = payload
        elif kind == 86:  # V
            changes.append(payload)
        elif kind == 80:  # P
            key, _, value = payload.decode("utf-8", "surrogateescape").partition("=")
            os.environ[key] = value
        elif kind == 81:  # Q
            bytes_max, _, word = payload.partition(b" ")
            make_spare(int(bytes_max), word)
        elif kind == 76:  # L
            try:
                load_spare(payload)
            except BaseException:
                pass  # there will be none
        elif kind == 66:  # B
            park()
        elif kind == 87:  # W
            try:
                os.chdir(payload)
                send(message(87, b""))
            except OSError as problem:
                send(message(87, (problem.strerror or "it cannot be entered").encode()))
        elif kind == 67:  # C
            rest_source = payload
        elif kind == 71:  # G
            try:
                exec(compile(payload, OWN, "exec"), globals())
                reseed()
            except BaseException:
                pass  # it draws what others draw


if "FD" in globals():
    begin()
    serve()
