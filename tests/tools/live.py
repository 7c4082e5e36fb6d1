"""Calls while they run: their events, the tools that an agent is bound to, and processes that answer calls themselves."""
import concurrent.futures
import http.client
import json
import threading
import time

CASES = []


def case(function):
    CASES.append(function)
    return function


def another(client):
    """A client for another thread."""
    return type(client)(client.port, client.key)


class Stream:
    """One call as server-sent events."""

    def __init__(self, client, session, tool, given, **more):
        self.connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
        self.connection.request("POST", f"/api/sessions/{session}/tools/{tool}", json.dumps({"input": given, **more}),
                                {"X-API-Key": client.key, "Accept": "text/event-stream"})
        self.answer = self.connection.getresponse()

    def events(self):
        name = None
        for line in self.answer:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                yield name, json.loads(line[6:])

    def close(self):
        self.answer.close()
        self.connection.close()


@case
def progress_is_told_while_a_tool_runs(client, session):
    stream = Stream(client, session, "steps", {"count": 3})
    assert stream.answer.status == 200 and stream.answer.headers["Content-Type"] == "text/event-stream"
    events = list(stream.events())
    assert events[0][0] == "start" and events[0][1]["record_id"].startswith("exe_"), events
    told = [data for name, data in events if name == "progress"]
    assert told == [{"progress": i, "total": 3, "message": f"step {i}"} for i in (1, 2, 3)], told
    text = "".join(data["text"] for name, data in events if name == "stderr")
    assert text == "ünd so weiter\n" * 3 + '{"progress": "no number"}\n{"progress": 1e999}\nlast words', text
    assert events[-1][0] == "done" and events[-1][1]["output"] == {"done": 3}, events[-1]
    assert events[-1][1]["record_id"] == events[0][1]["record_id"]


@case
def events_come_before_the_end(client, session):
    client.ok("POST", f"/api/sessions/{session}/tools/run_command", {"input": {"command": "mkfifo /tmp/gate"}})
    stream = Stream(client, session, "run_command", {"command": "echo first; read line < /tmp/gate; echo $line"})
    events = stream.events()
    assert next(events)[0] == "start"
    assert next(events) == ("stdout", {"text": "first\n"})
    # It waits at the gate, and nothing but this lets it go on.
    client.ok("POST", f"/api/sessions/{session}/tools/run_command", {"input": {"command": "echo second > /tmp/gate"}})
    rest = list(events)
    assert rest[0] == ("stdout", {"text": "second\n"}) and rest[-1][1]["output"]["stdout"] == "first\nsecond\n", rest


@case
def what_is_refused_before_the_call_is_an_ordinary_answer(client, session):
    for tool, given, status in (("steps", {}, 400), ("nothing", {}, 404)):
        stream = Stream(client, session, tool, given)
        assert stream.answer.status == status and "error" in json.load(stream.answer), tool
        stream.close()


@case
def a_watcher_that_leaves_ends_the_call(client, session):
    stream = Stream(client, session, "sleeper", {"seconds": 60})
    record = next(stream.events())[1]["record_id"]
    stream.close()
    deadline = time.time() + 20
    while time.time() < deadline:
        found = [one for one in client.ok("GET", f"/api/sessions/{session}/history?limit=20")["records"]
                 if one["record_id"] == record]
        if found and found[0]["status"] == "killed":
            return
        time.sleep(0.1)
    raise AssertionError(found)


@case
def an_agents_tools_bind_its_sessions(client, session):
    made = client.ok("POST", "/api/sessions", {"agent": "narrow"})
    narrow, base = made["session_id"], f"/api/sessions/{made['session_id']}"
    assert made["tools"] == ["word_count"], made
    assert client.ok("POST", f"{base}/tools/word_count", {"input": {"text": "a b"}})["output"] == {"words": 2}
    error = client.fails(403, "permission_denied", "POST", f"{base}/tools/read_file", {"input": {"path": "/etc/passwd"}})
    assert "'narrow'" in error["message"] and "word_count" in error["message"], error
    # Also with input that the schema would refuse, and as events.
    client.fails(403, "permission_denied", "POST", f"{base}/tools/read_file", {"input": {}})
    stream = Stream(client, narrow, "run_command", {"command": "id"})
    assert stream.answer.status == 403
    stream.close()
    client.fails(404, "not_found", "POST", f"{base}/tools/nothing", {"input": {}})
    assert [one["name"] for one in client.ok("GET", f"{base}/tools")["tools"]] == ["word_count"]
    assert client.ok("GET", f"{base}/tools?format=openai")["tools"][0]["function"]["name"] == "word_count"
    # A fork is of the same agent.
    forked = client.ok("POST", f"{base}/fork", {})
    client.fails(403, "permission_denied", "POST", f"/api/sessions/{forked['session_id']}/tools/read_file", {"input": {"path": "/"}})
    for one in (narrow, forked["session_id"]):
        client.ok("DELETE", f"/api/sessions/{one}")
    made = client.ok("POST", "/api/sessions", {"agent": "idle"})
    assert made["tools"] == [] and client.ok("GET", f"/api/sessions/{made['session_id']}/tools")["tools"] == []
    client.fails(403, "permission_denied", "POST", f"/api/sessions/{made['session_id']}/tools/word_count", {"input": {"text": ""}})
    client.ok("DELETE", f"/api/sessions/{made['session_id']}")
    made = client.ok("POST", "/api/sessions", {"agent": "free"})
    assert made["tools"] == ["*"], made
    assert client.ok("POST", f"/api/sessions/{made['session_id']}/tools/word_count", {"input": {"text": "a"}})["output"]
    client.ok("DELETE", f"/api/sessions/{made['session_id']}")


def take(client, tools=("remote",), wait=20):
    return client.ok("POST", "/api/tool-calls/next", {"tools": list(tools), "wait_seconds": wait})["call"]


@case
def a_process_outside_answers_calls(client, session):
    path = f"/api/sessions/{session}/tools/remote"
    assert take(client, wait=0) is None
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        def call(a):
            return pool.submit(lambda: another(client)("POST", path, {"input": {"a": a}}))
        waiting = pool.submit(lambda: take(another(client)))
        answer = call(1)
        taken = waiting.result()
        assert taken["input"] == {"a": 1} and taken["tool"] == "remote" and taken["session_id"] == session, taken
        result = f"/api/tool-calls/{taken['call_id']}/result"
        client.fails(400, "invalid_argument", "POST", result, {"output": 1, "error": {"name": "x"}})
        client.ok("POST", result, {"output": 2})
        answer = answer.result().json
        assert answer["status"] == "success" and answer["output"] == 2, answer
        client.fails(404, "not_found", "POST", result, {"output": 2})
        # What it gives is checked as any output is, and its errors are told.
        answer = call(2)
        client.ok("POST", f"/api/tool-calls/{take(client)['call_id']}/result", {"output": "two"})
        answer = answer.result().json
        assert answer["status"] == "error" and answer["error"]["name"] == "InvalidOutput", answer
        answer = call(3)
        client.ok("POST", f"/api/tool-calls/{take(client)['call_id']}/result", {"error": {"name": "KeyError", "value": "a"}})
        answer = answer.result().json
        assert answer["status"] == "error" and answer["error"]["name"] == "KeyError", answer
    client.fails(400, "invalid_argument", "POST", "/api/tool-calls/next", {"tools": ["word_count"]})
    client.fails(404, "not_found", "POST", "/api/tool-calls/next", {"tools": ["nothing"]})
    client.fails(400, "invalid_argument", "POST", "/api/tool-calls/next", {"tools": []})
    client.fails(404, "not_found", "POST", "/api/tool-calls/call_none/progress", {"progress": 1})


@case
def progress_of_a_process_outside_reaches_the_caller(client, session):
    taken = []
    thread = threading.Thread(target=lambda: taken.append(take(another(client))))
    thread.start()
    stream = Stream(client, session, "remote", {"a": 1})
    events = stream.events()
    assert next(events)[0] == "start"
    thread.join()
    call = f"/api/tool-calls/{taken[0]['call_id']}"
    client.ok("POST", call + "/progress", {"progress": 1, "total": 2})
    assert next(events) == ("progress", {"progress": 1, "total": 2, "message": None})
    client.fails(400, "invalid_argument", "POST", call + "/progress", {"message": "no number"})
    stream.close()
    # The caller left: whoever serves learns it when it tells more.
    deadline = time.time() + 20
    while client("POST", call + "/progress", {"progress": 2}).status != 404:
        assert time.time() < deadline
        time.sleep(0.05)


@case
def a_call_that_nobody_serves_fails(client, session):
    answer = client.ok("POST", f"/api/sessions/{session}/tools/remote", {"input": {"a": 1}, "timeout_seconds": 0.5})
    assert answer["status"] == "error" and answer["error"]["name"] == "NotServed", answer
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: take(another(client)))
        answer = client.ok("POST", f"/api/sessions/{session}/tools/remote", {"input": {"a": 1}, "timeout_seconds": 1})
        assert answer["status"] == "timeout" and waiting.result(), answer


@case
def a_tool_that_calls_itself_comes_to_an_end(client, session):
    """A process that serves a tool by calling the same tool again: the calls of one session have a bound."""
    path, depths, ended = f"/api/sessions/{session}/tools/remote", [], threading.Event()

    def serve():
        mine = another(client)
        while not ended.is_set():
            taken = take(mine, wait=0.2)
            if taken is None:
                continue
            depths.append(taken["input"]["a"])
            answer = mine("POST", path, {"input": {"a": taken["input"]["a"] + 1}})
            result = {"output": answer.json["output"]} if answer.status == 200 else {"output": -answer.status}
            mine("POST", f"/api/tool-calls/{taken['call_id']}/result", result)

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        servers = [pool.submit(serve) for _ in range(16)]
        answer = client.ok("POST", path, {"input": {"a": 1}, "timeout_seconds": 30})
        ended.set()
        for server in servers:
            server.result()
    assert answer["status"] == "success" and answer["output"] == -429, (answer, depths)
    assert sorted(depths) == list(range(1, len(depths) + 1)) and len(depths) == 8, depths
    assert client.ok("POST", f"/api/sessions/{session}/tools/word_count", {"input": {"text": "a"}})["output"] == {"words": 1}


@case
def statistics_tell_what_calls_took(client, session):
    client.ok("POST", f"/api/sessions/{session}/tools/word_count", {"input": {"text": "a"}})
    told = client.ok("GET", "/api/tools/word_count")["statistics"]
    assert told["wall_time_ms"] > 0 and told["cpu_time_ms"] >= 0 and told["calls"] > 0, told
