"""What a client gives up ends inside the sandbox, and is not answered: in every revision, over HTTP and over lines."""
import json
import socket
import threading
import time

from peer import META, NEWEST, OLDER, OLDEST, Lines, Peer, harness

CASES = []
META_NEWEST = {META + "protocolVersion": NEWEST, META + "clientCapabilities": {}}


def case(function):
    CASES.append(function)
    return function


def until(condition, seconds=30):
    deadline = time.time() + seconds
    while not (found := condition()):
        assert time.time() < deadline, "it did not come about"
        time.sleep(0.05)
    return found


class OverHttp:
    """Canceled by a notification where there are connections, by closing the stream where there are none."""

    def __init__(self, daemon, revision):
        self.port, self.peer, self.box = daemon.port, Peer(daemon.port, revision=revision), []

    def call(self, name, arguments):
        self.message = self.peer.message("tools/call", {"name": name, "arguments": arguments})
        if self.peer.revision != NEWEST:
            self.thread = threading.Thread(target=lambda: self.box.append(self.peer.send(self.message)))
            return self.thread.start()
        self.wire = socket.create_connection(("127.0.0.1", self.port))
        body = json.dumps(self.message).encode()
        head = "".join(f"{name}: {value}\r\n" for name, value in self.peer.headers(self.message).items())
        self.wire.sendall(f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def cancel(self):
        if self.peer.revision == NEWEST:
            return self.wire.close()
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": self.message["id"]}}
        # The call goes over a connection of its own and may come after this: what is not known yet cannot be given up.
        deadline = time.time() + 30
        while self.thread.is_alive() and time.time() < deadline:
            assert self.peer.send(told).status == 202
            self.thread.join(0.2)
        assert self.box and not [one for one in self.box[0].messages if "result" in one or "error" in one], self.box and self.box[0].messages

    def end(self):
        if self.peer.revision != NEWEST:
            self.peer.send(method="DELETE")


class OverLines:
    def __init__(self, daemon, revision):
        self.revision = revision
        self.lines = Lines("--url", f"http://127.0.0.1:{daemon.port}", key=harness.KEY)
        if revision != NEWEST:
            self.lines.initialize(revision)

    def call(self, name, arguments):
        params = {"name": name, "arguments": arguments}
        if self.revision == NEWEST:
            params["_meta"] = META_NEWEST
        self.lines.send({"jsonrpc": "2.0", "id": "to be canceled", "method": "tools/call", "params": params})

    def cancel(self):
        self.lines.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "to be canceled"}})

    def end(self):
        """What was canceled is not answered; the line goes on."""
        method, params = ("server/discover", {"_meta": META_NEWEST}) if self.revision == NEWEST else ("ping", {})
        self.lines.send({"jsonrpc": "2.0", "id": "after", "method": method, "params": params})
        while (message := self.lines.receive()).get("id") != "after":
            assert message.get("id") != "to be canceled", message
        assert "result" in message, message
        assert self.lines.end() == 0


class Inside:
    """A sandbox, and whether a program runs in it."""

    def __init__(self, daemon):
        self.client = daemon.client()
        self.id = self.client.ok("POST", "/api/sessions", {})["session_id"]

    def runs(self, words):
        seen = self.client.ok("POST", f"/api/sessions/{self.id}/commands", {"command": "ps axo args"})["stdout"]
        return [line for line in seen.splitlines() if line.strip() == words]

    def end(self):
        self.client.ok("DELETE", "/api/sessions/" + self.id)


def each_way(daemon, name, arguments, program):
    """Calls it each way, and gives it up when the program runs."""
    inside = Inside(daemon)
    for way in (OverHttp, OverLines):
        for revision in (NEWEST, OLDER, OLDEST):
            client = way(daemon, revision)
            client.call(name, {**arguments, "sandbox_id": inside.id})
            until(lambda: inside.runs(program))
            client.cancel()
            until(lambda: not inside.runs(program), 15)
            client.end()
    return inside


@case
def a_cell_that_is_given_up_ends(daemon):
    code = "import subprocess\nsubprocess.run(['sleep', '4001'])"
    inside = each_way(daemon, "run_code", {"code": code, "timeout_seconds": 300}, "sleep 4001")
    assert Peer(daemon.port).does("run_code", {"code": "print(subprocess.__name__)", "sandbox_id": inside.id})["stdout"] == "subprocess\n"
    inside.end()


@case
def a_command_that_is_given_up_ends(daemon):
    each_way(daemon, "run_command", {"command": "trap '' INT TERM; echo on; sleep 4002; sleep 4003", "timeout_seconds": 300}, "sleep 4002").end()


@case
def a_tool_of_the_registry_that_is_given_up_ends(daemon):
    client = daemon.client()
    for name, run in (("slow", {"command": ["sleep", "4004"]}), ("slow_code", {"language": "python", "code": "import subprocess\nsubprocess.run(['sleep', '4004'])\n"})):
        client.ok("PUT", "/api/registry/tools/" + name, {"name": name, "description": "Takes its time.", "run": run})
        each_way(daemon, name, {}, "sleep 4004").end()
        client.ok("DELETE", "/api/registry/tools/" + name)


@case
def a_poll_that_is_given_up_leaves_its_command(daemon):
    """Who starts a command and polls may come back for it: only the waiting ends."""
    peer = Peer(daemon.port)
    handle = {"command_id": peer.does("command_start", {"command": "sleep 4005"})["command_id"]}
    for way in (OverHttp, OverLines):
        for revision in (NEWEST, OLDER, OLDEST):
            client = way(daemon, revision)
            began = time.time()
            client.call("command_poll", {**handle, "wait_seconds": 30})
            client.cancel()
            client.end()
            assert time.time() - began < 20, (way, revision)
    assert peer.does("command_poll", handle)["status"] == "running"
    assert peer.does("command_stop", handle)["status"] == "ended"
