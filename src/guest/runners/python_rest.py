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


# ---- magics

def magic(line, shell, expand):
    """What a line that begins with % does."""
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
    raise NameError(f"there is no %{word} here")


def cell_magic(code):
    """%%bash and %%writefile take the whole cell."""
    head, _, body = code.partition("\n")
    word, *words = head[2:].split() or [""]
    if word in ("bash", "sh", "script"):
        import subprocess
        done = subprocess.run(["/bin/bash", "-s"], input=body.encode())
        if done.returncode:
            raise RuntimeError(f"the script ended with status {done.returncode}")
    elif word == "writefile" and words:
        with open(words[-1], "a" if words[0] == "-a" else "w") as file:
            file.write(body)
    else:
        raise NameError(f"there is no %%{word} here")
