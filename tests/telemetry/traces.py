"""Requests with traces of their own, and what must be found of them: by a receiver of this suite (run) and by Jaeger (run-long).
A span is {"name", "spanId", "parentSpanId", "kind", "attributes", "begin", "end"} with times in nanoseconds."""
import hashlib

from kit import comes_to

CALLER = "00f067aa0ba902b7"
WORDS = ("create", "made", "execute", "command", "tool", "fork", "denied", "pause", "resume", "snapshot", "stop", "e2b")
GIVEN = {word: f"00-{hashlib.sha256(word.encode()).hexdigest()[:32]}-{CALLER}-01" for word in WORDS}
# name -> name of its parent; None: the request's own span
MAKING = {"spawner.create": "provider.create", "guest.greet": "provider.create"}
COMMON = {"provider.create": None, "guest.prepare": None, "session.store": None}
RUNNING = {"policy": None, "record.admit": None, "record.finish": None}
TREES = {
    "create": ("POST /api/sessions", COMMON),
    "made": ("POST /api/sessions", {**COMMON, **MAKING}),
    "execute": ("POST /api/sessions/{id}/execute", {**RUNNING, "interpreter.start": None, "interpreter.execute": None, "guest.collect": None}),
    "command": ("POST /api/sessions/{id}/commands", {**RUNNING, "guest.process": None}),
    "fork": ("POST /api/sessions/{id}/fork", {"sandbox.checkpoint": None, **COMMON, **MAKING}),
    # What a tool runs is a part of its call.
    "tool": ("POST /api/sessions/{id}/tools/{name}", {"tool.call": None, "guest.process": "tool.call"}),
    "pause": ("POST /api/sessions/{id}/pause", {"sandbox.pause": None}),
    "resume": ("POST /api/sessions/{id}/resume", {"sandbox.resume": None}),
    "snapshot": ("POST /api/sessions/{id}/snapshots", {"sandbox.snapshot": None}),
    "stop": ("DELETE /api/sessions/{id}", {"sandbox.stop": None}),
    # Every dialect comes the same way.
    "e2b": ("POST /sandboxes", COMMON),
    "denied": ("POST /api/sessions/{id}/execute", {"policy": None, "record.admit": None}),
}


def trace_id(word):
    return GIVEN[word].split("-")[1]


def make(client, native):
    """The requests, and their answers by word. `traceparent` is taken, given back, and found inside."""
    answers = {}

    def traced(word, path, body=None, method="POST", asks=client):
        answer = answers[word] = asks(method, path, body, headers={"traceparent": GIVEN[word]})
        assert answer.status < 300, (word, answer.status, answer.body)
        back = answer.headers["traceparent"]
        assert back.startswith(GIVEN[word][:36]) and back.endswith("-01") and CALLER not in back, back
        return answer.json

    if not native:
        session = traced("create", "/api/sessions", {"provider": "virtual"})["session_id"]
        assert traced("execute", f"/api/sessions/{session}/execute", {"code": "echo x", "language": "shell"})["status"] == "success"
        return answers
    session = traced("create", "/api/sessions", {})["session_id"]
    traced("made", "/api/sessions", {"limits": {"memory_mb": 333}})
    code = "import os; print(os.environ['TRACEPARENT'])"
    ran = traced("execute", f"/api/sessions/{session}/execute", {"code": code})
    assert ran["stdout"].startswith(GIVEN["execute"][:36]) and CALLER not in ran["stdout"], ran
    inside = traced("command", f"/api/sessions/{session}/commands", {"command": "echo $TRACEPARENT"})
    assert inside["stdout"].startswith(GIVEN["command"][:36]), inside
    called = traced("tool", f"/api/sessions/{session}/tools/run_command", {"input": {"command": "echo $TRACEPARENT"}})
    assert called["output"]["stdout"].startswith(GIVEN["tool"][:36]), called
    traced("fork", f"/api/sessions/{session}/fork", {})
    traced("pause", f"/api/sessions/{session}/pause", {})
    traced("resume", f"/api/sessions/{session}/resume", {})
    traced("snapshot", f"/api/sessions/{session}/snapshots", {})
    traced("stop", f"/api/sessions/{session}", method="DELETE")
    e2b = type(client)(client.port, client.key)
    e2b.schema = None  # ours describes REST
    traced("e2b", "/sandboxes", {"templateID": "base"}, asks=e2b)
    strict = client.ok("POST", "/api/sessions", {"policy": "strict"})["session_id"]
    traced("denied", f"/api/sessions/{strict}/execute", {"code": "import os; os.system('rm -rf /')"})
    return answers


def named(spans, name):
    return [span for span in spans if span["name"] == name]


def check(word, spans, answer, native):
    """Names, parents, order and attributes of one request's spans."""
    root, tree = TREES[word]
    [top] = named(spans, root)
    ids = {span["spanId"]: span for span in spans}
    assert len(ids) == len(spans), "ids are unique"
    assert top["kind"] == 2 and top["parentSpanId"] == CALLER, top
    assert answer.headers["traceparent"].split("-")[2] == top["spanId"], "what is given back is our span"
    about = top["attributes"]
    assert f"{about['http.request.method']} {about['http.route']}" == root and about["http.response.status_code"] == answer.status
    assert about["atoll.request_id"] == answer.headers["x-request-id"], about
    if not native:
        tree = {name: parent for name, parent in tree.items() if not name.startswith(("interpreter", "guest", "spawner"))}
    for name, parent in {"admission": None, **tree}.items():
        found = named(spans, name)
        assert found, f"{word}: no {name} among {sorted(span['name'] for span in spans)}"
        for span in found:
            assert ids[span["parentSpanId"]]["name"] == (parent or root), (word, span)
    for span in spans:
        if span is top:
            continue
        above = ids[span["parentSpanId"]]
        assert span["kind"] == 1 and span["begin"] >= above["begin"] - 10**6 and span["begin"] <= span["end"], (word, span, above)
    [admission] = named(spans, "admission")
    assert admission["attributes"]["atoll.tenant"] == "default" and admission["attributes"]["atoll.key_id"].startswith("key_")
    for span in named(spans, "provider.create"):
        assert span["attributes"]["atoll.provider"] == ("native" if native else "virtual") and span["attributes"]["atoll.environment"]
    for span in named(spans, "policy"):
        assert span["attributes"]["atoll.allowed"] == (0 if word == "denied" else 1) and span["attributes"]["atoll.policy"]
    for span in named(spans, "record.admit") + named(spans, "record.finish"):
        assert span["attributes"]["atoll.record_id"].startswith("exe_"), span
    for span in named(spans, "record.finish"):
        assert span["attributes"]["atoll.status"] == "success", span
    for span in named(spans, "tool.call"):
        assert span["attributes"]["atoll.tool"] == "run_command" and span["attributes"]["atoll.status"] == "success", span
    for span in named(spans, "interpreter.execute"):
        assert span["attributes"]["atoll.language"] == "python", span
    if word == "denied":
        assert not named(spans, "interpreter.execute") and not named(spans, "record.finish"), "denied code was run"


def check_all(answers, read, native):
    """`read` gives the spans of a trace as they are now."""
    for word, answer in answers.items():
        last = None

        def complete():
            nonlocal last
            try:
                check(word, read(trace_id(word)), answer, native)
                return True
            except (AssertionError, ValueError, KeyError) as error:
                last = error
                return False
        assert comes_to(complete, 30), f"{word}: {type(last).__name__}: {last}"
