"""Clients that do not mean well, with and without a key, beside a neighbour of another tenant whose answers are counted
and timed. Each on a daemon of its own, whose memory and descriptors are watched."""
import json
import os
import pathlib
import re
import resource
import socket
import struct
import subprocess
import threading
import time

import harness
from admission_cases import Box
from cases import until
from service_cases import running

MIB = 1 << 20


def descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def limit_of(daemon):
    line = [one for one in pathlib.Path(f"/proc/{daemon.process.pid}/limits").read_text().splitlines()
            if one.startswith("Max open files")][0]
    return int(line.split()[3])


def neighbour_key(daemon):
    made = daemon.keys("create", "--tenant", "neighbour", "--name", "neighbour")
    assert made.returncode == 0, made.stderr
    key = made.stdout.strip()
    until(lambda: daemon.client(key)("GET", "/api/sessions").status == 200, "the key is known")
    return key


def settle(daemon):
    """Until the pools are full: each waiting sandbox has descriptors of its own."""
    count, since = descriptors(daemon), time.time()
    deadline = since + 60
    while time.time() - since < 2 and time.time() < deadline:
        time.sleep(0.1)
        if descriptors(daemon) != count:
            count, since = descriptors(daemon), time.time()


class Watch:
    """A neighbour that works all the time, on connections of its own, and how much the daemon takes meanwhile."""

    def __init__(self, daemon, session=None):
        self.daemon, self.session = daemon, session
        self.key = neighbour_key(daemon)
        self.slowest, self.answers, self.failures = 0.0, 0, []
        self.memory, self.files = daemon.memory_bytes(), descriptors(daemon)
        self.memory_peak, self.files_peak = self.memory, self.files
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def work(self):
        client = self.daemon.client(self.key)
        while not self.over.is_set():
            client.connection = None  # a new one each time: getting in is part of it
            for method, path, body in (("GET", "/health", None), ("GET", "/api/sessions", None),
                                       ("POST", "/api/validate", {"code": "print(1)", "language": "python"})):
                began = time.monotonic()
                try:
                    status = client(method, path, body).status
                    if status != 200:
                        self.failures.append((method, path, status))
                except OSError as error:
                    self.failures.append((method, path, repr(error)))
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.answers += 1
            self.memory_peak = max(self.memory_peak, self.daemon.memory_bytes())
            self.files_peak = max(self.files_peak, descriptors(self.daemon))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        print(f"      (the neighbour: {self.answers} answers, the slowest in {self.slowest * 1000:.0f} ms; memory "
              f"{self.memory // MIB} -> at most {self.memory_peak // MIB} -> {self.daemon.memory_bytes() // MIB} MiB; "
              f"descriptors {self.files} -> at most {self.files_peak} of {limit_of(self.daemon)})", flush=True)
        assert not self.failures, self.failures[:5]
        assert self.answers > 0


def connect(port):
    sock = socket.socket()
    sock.settimeout(60)
    sock.connect(("127.0.0.1", port))
    return sock


def whole_answer(port, request, half_close=False):
    """Everything until the other side closes; an exception if it does not within the time of the socket."""
    with connect(port) as sock:
        sock.sendall(request)
        if half_close:
            sock.shutdown(socket.SHUT_WR)
        out = b""
        while block := sock.recv(65536):
            out += block
        return out


def body_of(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), answer[:500]
    return json.loads(body)


def request_of(method, path, body, *headers):
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"X-API-Key: {harness.KEY}", f"Content-Length: {len(body)}",
             *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def what_is_asked_to_close_is_closed_and_half_closed_clients_are_answered():
    with running("provider=virtual") as daemon:
        client = daemon.client()
        path = "/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"]
        for tail, body in (("/execute", b'{"code": "echo hi", "language": "shell"}'), ("/commands", b'{"command": "echo hi"}')):
            closed = whole_answer(daemon.port, request_of("POST", path + tail, body, "Connection: close"))
            assert body_of(closed)["stdout"] == "hi\n", closed
            assert b"connection: close" in closed.lower()
            half = whole_answer(daemon.port, request_of("POST", path + tail, body), half_close=True)
            assert body_of(half)["stdout"] == "hi\n", half
            live = whole_answer(daemon.port, request_of("POST", path + tail, body, "Accept: text/event-stream"),
                                half_close=True)
            assert b'data: {"text":"hi\\n"}' in live and live.endswith(b"\r\n\r\n"), live
        until(lambda: descriptors(daemon) < 200, "connections are gone")


def a_client_that_leaves_still_ends_what_it_waits_for():
    with running() as daemon:
        client = daemon.client()
        session = client.ok("POST", "/api/sessions", {})
        path = "/api/sessions/" + session["session_id"]
        for half_close in (False, True):
            with connect(daemon.port) as sock:
                sock.sendall(request_of("POST", path + "/commands", b'{"command": "sleep 300"}'))
                if half_close:
                    sock.shutdown(socket.SHUT_WR)
                until(lambda: len(client.ok("GET", path + "/processes")["processes"]) == 1, "it runs")
            until(lambda: not client.ok("GET", path + "/processes")["processes"], "what nobody waits for has ended")


def heads_that_can_be_read_in_two_ways_are_refused():
    with running("provider=virtual") as daemon:
        hidden = b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for head in (b"Host: a\r\nHost: b\r\n", b"Host: a\r\nTransfer-Encoding: xchunked\r\n",
                     b"Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n",
                     b"Host: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n", b"Host: a\r\nContent-Length : 0\r\n",
                     b"Host: a\r\nX: y\r\n Content-Length: 0\r\n", b"Host: a\nContent-Length: 0\r\n",
                     b"Host: a\r\nContent-Length: +0\r\n", b"Host: a\r\nTransfer-Encoding: chunked, identity\r\n"):
            answer = whole_answer(daemon.port, b"POST /api/validate HTTP/1.1\r\n" + head + b"\r\n" + hidden, half_close=True)
            assert answer.startswith(b"HTTP/1.1 400") and answer.count(b"HTTP/1.1") == 1, (head, answer)


def idle_strangers_take_nothing_from_anybody():
    """More connections than there are descriptors, idle or with half a head: everybody else goes on, sandboxes too."""
    daemon = harness.Daemon()
    hard = 1024
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    started = subprocess.Popen
    try:
        # With a hard limit as small as the soft one used to be.
        subprocess.Popen = lambda *words, **more: started(
            *words, **more, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (hard // 2, hard)))
        daemon.start()
    finally:
        subprocess.Popen = started
    held = []
    try:
        if limits[0] < 3000:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(4000, limits[1]), limits[1]))
        assert limit_of(daemon) == hard, "the soft limit was raised to the hard one"
        client = daemon.client()
        session = client.ok("POST", "/api/sessions", {})
        path = "/api/sessions/" + session["session_id"]
        settle(daemon)
        with Watch(daemon) as watch:
            for number in range(1200):
                sock = connect(daemon.port)
                if number % 3 == 0:
                    sock.sendall(b"GET /health HTTP/1.1\r\nHost: ")
                held.append(sock)
            more = [daemon.client().ok("POST", "/api/sessions", {})["session_id"] for _ in range(3)]
            for one in more + [session["session_id"]]:
                done = daemon.client().ok("POST", f"/api/sessions/{one}/commands", {"command": "echo here"})
                assert done["stdout"] == "here\n", done
            assert daemon.client().ok("GET", path)["state"] == "running"
            for one in more:
                daemon.client().ok("DELETE", "/api/sessions/" + one)
        assert watch.files_peak < hard * 3 // 4, watch.files_peak
        for sock in held:
            sock.close()
        until(lambda: descriptors(daemon) < watch.files + 40, "descriptors are returned")
    finally:
        for sock in held:
            sock.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        daemon.remove()


def flood(daemon, path, headers, count, size):
    """`count` bodies of `size` bytes at once, each but its last byte. How they were answered, None for not yet."""
    socks = []
    for _ in range(count):
        sock = connect(daemon.port)
        sock.settimeout(1)
        sock.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {size}\r\n\r\n".encode())
        socks.append(sock)
    answers = [None] * count
    piece = b'"' + b"a" * (MIB - 1)
    sent = [0] * count

    def feed(share):
        for turn in range(size // MIB + 1):
            for at in share:
                try:
                    left = min(MIB, size - 1 - turn * MIB)
                    if answers[at] is None and left > 0:
                        socks[at].sendall(piece[:left])
                        sent[at] += left
                except OSError as error:
                    answers[at] = repr(error)
                try:
                    told = socks[at].recv(4096, socket.MSG_DONTWAIT)
                    answers[at] = answers[at] or told[:12]
                except OSError:
                    pass

    threads = [threading.Thread(target=feed, args=(range(part, count, 8),)) for part in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return socks, answers


def large_bodies_have_one_budget():
    """120 bodies of 16 MiB, from a stranger and from a tenant: memory stays within the budget, and is given back."""
    with running("http.body_bytes=64M", "rate.per_second=100000", "rate.burst=100000") as daemon:
        for who, headers in (("a stranger", ""), ("a tenant", f"X-API-Key: {harness.KEY}\r\n")):
            with Watch(daemon) as watch:
                socks, answers = flood(daemon, "/api/validate", headers, 120, 16 * MIB)
                told = [one for one in answers if one is not None]
                assert told, "nobody was refused"
                if who == "a tenant":
                    assert any(one == b"HTTP/1.1 503" for one in told), told[:5]
                for sock in socks:
                    sock.close()
            assert watch.memory_peak - watch.memory < 200 * MIB, (who, watch.memory_peak // MIB)
            until(lambda: daemon.memory_bytes() < watch.memory + 48 * MIB, f"the memory that {who} took is back")
        answer = whole_answer(daemon.port, request_of("POST", "/api/validate", b'{"code": "1"}', "Connection: close"))
        assert body_of(answer)["allowed"] is True


def what_does_not_fit_is_told_when_to_come_again():
    with running("http.body_bytes=1M", "provider=virtual") as daemon:
        answer = whole_answer(daemon.port, request_of("POST", "/api/validate", b'{"code": "' + b"a" * MIB + b'"}'))
        assert answer.startswith(b"HTTP/1.1 503") and b"Retry-After: 1\r\n" in answer, answer[:500]


def documents_of_many_keys_hold_nobody_up():
    keys = ",".join(f'"key{number:07}":0' for number in range(900_000))
    values = ",".join("0" for _ in range(7_000_000))
    with running("provider=virtual", "rate.per_second=100000", "rate.burst=100000") as daemon:
        client = daemon.client()
        client.ok("POST", "/api/validate", {"code": "1"})
        with Watch(daemon) as watch:
            for text in ("{" + keys + "}", '{"code":[' + values + "]}", '{"code":"1","env":{' + keys + "}}"):
                error = client.fails(413, "too_large", "POST", "/api/validate", raw=text.encode())
                assert "more than" in error["message"], error
        print(f"      (the slowest answer to the neighbour took {watch.slowest * 1000:.0f} ms)")
        until(lambda: daemon.memory_bytes() < watch.memory + 48 * MIB, "the memory is back")


DEEP = """
import os
name, here = 'd' * 250, '/home/user/deep'
os.makedirs(here), os.chdir(here)
for level in range(15):
    os.mkdir(name), os.chdir(name)
for number in range(6000):
    open(f'{number:05}' + 'f' * 200, 'w').close()
"""


def listings_are_bounded():
    """Six thousand paths of four kilobytes: refused with what to do, in every dialect, and cheap in memory."""
    with running("rate.per_second=100000", "rate.burst=100000") as daemon:
        client = daemon.client()
        session = client.ok("POST", "/api/sessions", {})
        path = "/api/sessions/" + session["session_id"]
        if session["provider"] != "native":
            print("      (no native provider here: left out)")
            return
        done = client.ok("POST", path + "/execute", {"code": DEEP, "stateless": True})
        assert done["status"] == "success", done
        with Watch(daemon) as watch:
            for tail in ("/files?path=/home/user/deep&depth=64", "/files/archive?path=/home/user/deep"):
                error = client.fails(413, "too_large", "GET", path + tail)
                assert "list fewer levels" in error["message"], error
            assert len(client.ok("GET", path + "/files?path=/home/user/deep&depth=3")["entries"]) == 3
            client.ok("POST", path + "/execute", {"stateless": True, "code":
                "import os\nos.mkdir('/home/user/wide')\nfor n in range(20000): open(f'/home/user/wide/{n}', 'w').close()"})
            assert len(client.ok("GET", path + "/files?path=/home/user/wide")["entries"]) == 20000
        assert watch.memory_peak - watch.memory < 200 * MIB, watch.memory_peak // MIB


def pages_of_long_records_are_shorter():
    """A page ends with its bytes, not only with its count, and leads on to the rest."""
    with running("provider=virtual", "rate.per_second=100000", "rate.burst=100000") as daemon:
        client = daemon.client()
        path = "/api/sessions/" + client.ok("POST", "/api/sessions", {})["session_id"]
        for number in range(8):
            client.ok("POST", path + "/commands", {"command": f"echo {number} #" + "x" * (3 * MIB)})
        seen, cursor, pages = [], "", 0
        while cursor is not None:
            page = client.ok("GET", f"{path}/history?limit=1000&order=asc" + (f"&cursor={cursor}" if cursor else ""))
            assert sum(len(one["code"]) for one in page["records"]) < 16 * MIB
            seen += [one["stdout"] for one in page["records"]]
            cursor, pages = page["next_cursor"], pages + 1
        assert seen == [f"{number}\n" for number in range(8)] and pages > 1, (seen, pages)


def watchers_are_bounded_in_each_sandbox():
    """A watcher lives until it is removed, in the guest and in the service: one sandbox has 64, and others have theirs."""
    with running() as daemon:
        client = daemon.client()
        one, two = (client.ok("POST", "/api/sessions", {}) for _ in range(2))
        if one["provider"] != "native":
            print("      (no native provider here: left out)")
            return

        def call(session, method, body):
            status, _, text = Box(daemon, session["sandbox_id"])(
                "POST", "/filesystem.Filesystem/" + method, body=json.dumps(body).encode(),
                Content_Type="application/json", X_Access_Token=session["access_token"])
            return status, json.loads(text)
        made = [call(one, "CreateWatcher", {"path": "/home/user"}) for _ in range(64)]
        assert {status for status, _ in made} == {200}, made[-1]
        for _ in range(3):
            status, refused = call(one, "CreateWatcher", {"path": "/home/user"})
            assert status == 429 and refused["code"] == "resource_exhausted", (status, refused)
            assert "64 watchers" in refused["message"] and "RemoveWatcher" in refused["message"], refused
        assert call(two, "CreateWatcher", {"path": "/home/user"})[0] == 200
        # Those that are there still tell, and one that is removed makes room.
        client.ok("PUT", f"/api/sessions/{one['session_id']}/files?path=/home/user/new", raw=b"x")
        seen = call(one, "GetWatcherEvents", made[0][1])[1]["events"]
        assert "new" in [event["name"] for event in seen], seen
        assert call(one, "RemoveWatcher", made[0][1])[0] == 200
        assert call(one, "CreateWatcher", {"path": "/home/user"})[0] == 200
        assert call(one, "CreateWatcher", {"path": "/home/user"})[0] == 429


def path_of(pattern, session_id):
    """A path of the description with something in its places: a session that is there, names of nobody."""
    known = {"port": "8080", "pid": "1", "digest": "0" * 64, "kind": "tools", "file": "tools.json"}

    def fill(place):
        name = place.group(1)
        is_session = pattern.startswith("/api/sessions/") and name == "id" or name == "session_id"
        return session_id if is_session else known.get(name, "none")
    return re.sub(r"\{(\w+)\}", fill, pattern)


def head_of_answer(sock):
    out = b""
    while b"\r\n\r\n" not in out:
        block = sock.recv(65536)
        assert block, f"closed after {out!r}"
        out += block
    return out


def every_route_bears_clients_that_stall_or_leave():
    """All operations of the description, with a good key: a body that stops in its middle, a client that is gone, one that
    ends its half. Nobody else notices, what was held is given back, and who waits is answered."""
    with running("provider=virtual", "rate.per_second=100000", "rate.burst=100000") as daemon:
        client = daemon.client()
        session = client.ok("POST", "/api/sessions", {})["session_id"]
        operations = sorted((method.upper(), pattern) for pattern, all_of in daemon.described().document["paths"].items()
                            for method in all_of)
        # What would end the session comes last.
        operations.sort(key=lambda one: one[0] == "DELETE" and one[1] == "/api/sessions/{id}")
        assert len(operations) > 80, len(operations)
        settle(daemon)
        before = descriptors(daemon)
        with Watch(daemon) as watch:
            held = []
            for method, pattern in operations:
                for part in (b"", b"{", b'{"code": "' + b"a" * 70000):
                    sock = connect(daemon.port)
                    whole = request_of(method, path_of(pattern, session), b"x" * 100000)
                    sock.sendall(whole[:-100000] + part)
                    held.append(sock)
            at_most = time.time() + 3
            until(lambda: watch.answers > 60 or time.time() > at_most, "the neighbour works beside them")
            for number, sock in enumerate(held):
                if number % 2:  # gone without a word
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sock.close()
        assert watch.memory_peak - watch.memory < 200 * MIB, watch.memory_peak // MIB
        until(lambda: descriptors(daemon) < before + 20, "descriptors are returned")
        for method, pattern in operations:
            with connect(daemon.port) as sock:
                sock.sendall(request_of(method, path_of(pattern, session), b"{}" if method in ("POST", "PUT", "PATCH") else b""))
                sock.shutdown(socket.SHUT_WR)
                status = int(head_of_answer(sock).split(b" ")[1])
                assert status < 500 or status == 501, (method, pattern, status)
        assert client("GET", f"/api/sessions/{session}").json["state"] != "running", "the last operation ended it"
        until(lambda: descriptors(daemon) < before + 20, "descriptors are returned")


ALL = (every_route_bears_clients_that_stall_or_leave, what_is_asked_to_close_is_closed_and_half_closed_clients_are_answered,
       a_client_that_leaves_still_ends_what_it_waits_for, heads_that_can_be_read_in_two_ways_are_refused,
       idle_strangers_take_nothing_from_anybody, large_bodies_have_one_budget, what_does_not_fit_is_told_when_to_come_again,
       documents_of_many_keys_hold_nobody_up, listings_are_bounded, pages_of_long_records_are_shorter,
       watchers_are_bounded_in_each_sandbox)
