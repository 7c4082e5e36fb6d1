"""What a fuzzer that knows only the description cannot know: names of things that exist. Loaded by schemathesis."""
import io
import json
import os
import random
import tarfile
import threading
import urllib.request

import schemathesis
from hypothesis import strategies

BASE = os.environ["ATOLL_FUZZ_URL"]
KEY = os.environ["ATOLL_FUZZ_KEY"]
PROVIDER = os.environ["ATOLL_FUZZ_PROVIDER"]
lock = threading.Lock()
known = {}


def ask(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, {"X-API-Key": KEY}, method=method)
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.loads(response.read() or b"null")


def session():
    """One that runs; what a request ended is made again."""
    with lock:
        try:
            if "session" in known and ask("GET", "/api/sessions/" + known["session"])["state"] == "running":
                return known["session"]
        except OSError:
            pass
        made = ask("POST", "/api/sessions", {"provider": PROVIDER, "metadata": {"made": "for the fuzzer"}})
        known["session"] = made["session_id"]
        return known["session"]


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    for name in ("id", "session_id"):
        if path_parameters and name in path_parameters and random.random() < 0.8:
            path_parameters[name] = session()
    return path_parameters


@schemathesis.hook
def map_query(context, query):
    if query and isinstance(query.get("path"), str) and query["path"].startswith("/") and random.random() < 0.7:
        query["path"] = random.choice(["/home/user", "/home/user/file", "/tmp", "/home/user/new/file"])
    return query


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and isinstance(body.get("session_id"), str):
        body["session_id"] = session()
    return body


# What a description cannot list: names of things that exist, or not.
NAMES_OF_THINGS = {"provider", "environment", "agent", "policy", "user", "snapshot", "context", "skills"}


@schemathesis.check
def what_is_allowed_is_not_malformed(context, response, case):
    """A request that the description allows may meet a state that forbids it (a directory where a file is meant, a trait
    that the provider lacks), but it is never malformed."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if response.status_code != 400:
        return
    error = response.json()["error"]
    names_nothing = (error["details"].get("field") in NAMES_OF_THINGS and error["message"].startswith("no ")
                     or error["message"].endswith("' does not exist"))
    filesystem_says = error["message"].endswith((": Invalid argument", ": is not a regular file"))
    rule_says = error["details"].get("field", "").startswith("network")
    context_says = error["message"].startswith("context ") and error["details"].get("field") == "language"
    machine_says = " is at most " in error["message"]  # how much of a limit there is, or the operator gives
    assert error["code"] != "invalid_argument" or names_nothing or filesystem_says or rule_says or context_says or machine_says, (
        f"allowed, and yet refused: {error}")


def archive(names):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(name)
            tar.addfile(info, io.BytesIO(name.encode()))
    return out.getvalue()


NAMES = strategies.text("abc./", min_size=1, max_size=20)
schemathesis.openapi.media_type("application/x-tar", strategies.lists(NAMES, max_size=4).map(archive))


@schemathesis.deserializer("application/x-tar")
def read_archive(context, response):
    tarfile.open(fileobj=io.BytesIO(response.content)).getmembers()
    return ""


@schemathesis.deserializer("application/x-ndjson")
def read_lines(context, response):
    return [json.loads(line) for line in response.text.splitlines()]
