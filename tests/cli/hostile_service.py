"""A service that lies: what the command line does with names, pages and answers that no honest one sends."""
import http.server
import json
import os
import pty
import re
import resource
import select
import subprocess
import threading
import time

MUCH = 1 << 30
EVIL = "x\x1b]0;owned\x07\x1b[31m\x9b2J\u202ey\r"


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers as `mode` of its server says."""

    def log_message(self, *_):
        pass

    def handle_any(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            getattr(self, self.server.mode)()
        except OSError:
            pass
        self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = handle_any

    def answer(self, document, status=200):
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def evil_names(self):
        one = {name: EVIL for name in (
            "session_id sandbox_id state status environment provider reason name path type id key_id prefix tenant role created_at "
            "policy kind action actor object outcome time record_id error error_value traceback code target host owner group "
            "description source version interpreter_restarted ending snapshot_id title snippet backend graph_backend model doing origin digest "
            "body address message").split()}
        one |= {"size": -1, "size_bytes": 1e300, "mode": EVIL, "labels": {EVIL: EVIL}, "metadata": {EVIL: EVIL}, "limits": {EVIL: EVIL},
                "artifacts": [EVIL], "left_behind": [EVIL], "usage": {}, "verdict": {"findings": [{"message": EVIL, "rule": EVIL}]}}
        lists = {name: [one, EVIL, None, 5, [one]] for name in (
            "sessions entries files records history keys samples snapshots events processes tools skills hits usage artifacts problems file_list "
            "executions").split()}
        self.answer({**one, **lists, "next_cursor": None})

    def head(self, *more, status="200 OK", kind="application/json"):
        self.wfile.write(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n".encode() + b"".join(more))

    def for_ever(self, piece):
        """As long as anybody takes it; bounded, so that who takes all of it is found out and no machine suffers."""
        piece *= max(1, 65536 // len(piece))
        for _ in range(0, MUCH, len(piece)):
            self.wfile.write(piece)

    def endless_list(self):
        self.head(b"Transfer-Encoding: chunked\r\n\r\n")
        self.for_ever(b"10\r\n{\"sessions\":[1,[\r\n" + b"2\r\n1,\r\n" * 1000)

    def endless_text(self):
        self.head(b"\r\n")
        self.for_ever(b"{\"a\":\"" + b"a" * 65536)

    def endless_head(self):
        self.head()
        self.for_ever(b"X-Name: value\r\n")

    def endless_extension(self):
        self.head(b"Transfer-Encoding: chunked\r\n\r\n1;x=")
        self.for_ever(b"a")

    def endless_trailers(self):
        self.head(b"Transfer-Encoding: chunked\r\n\r\n0\r\n")
        self.for_ever(b"X-Name: value\r\n")

    def endless_announcements(self):
        self.for_ever(b"HTTP/1.1 100 Continue\r\n\r\n")

    def endless_event(self):
        self.head(b"\r\n", kind="text/event-stream")
        self.for_ever(b"data: " + b"a" * 1000)

    def lying_length(self):
        self.head(b"Content-Length: 9223372036854775807\r\n\r\n")
        self.for_ever(b"[")

    def endless_pages(self):
        self.answer({"sessions": [{"session_id": "x" * 1_000_000}], "records": [], "entries": [], "next_cursor": "again"})

    def endless_refusal(self):
        self.head(b"\r\n", status="500 Internal Server Error")
        self.for_ever(b"{\"error\":{\"code\":\"")

    def many_values(self):
        data = b"[" + b"0," * 20_000_000 + b"0]"
        self.head(f"Content-Length: {len(data)}\r\n\r\n".encode())
        self.wfile.write(data)

    def deep(self):
        data = b"[" * 1_000_000
        self.head(f"Content-Length: {len(data)}\r\n\r\n".encode())
        self.wfile.write(data)

    def half(self):
        self.head(b"Content-Length: 1000\r\n\r\n{\"sessions\":")

    def garbage(self):
        self.wfile.write(bytes(range(256)) * 100)

    def elsewhere(self):
        self.head(b"Location: http://127.0.0.1:1/\xc2\x9b31m\r\nContent-Length: 0\r\n\r\n", status="302 Found")

    def silence(self):
        self.server.over.wait(60)

    def silence_after_the_head(self):
        self.head(b"Content-Length: 1000\r\n\r\n{")
        self.server.over.wait(60)

    def a_byte_now_and_then(self):
        self.head(b"Content-Length: 1000000\r\n\r\n")
        while not self.server.over.wait(0.1):
            self.wfile.write(b" ")

    def refusals(self):
        self.answer({"error": {"code": EVIL, "message": EVIL, "details": {"field": EVIL}, "request_id": EVIL}}, 400)


class Service:
    def __init__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
        self.server.daemon_threads = True
        self.server.over = threading.Event()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.over.set()
        self.server.shutdown()
        self.server.server_close()


COMMANDS = [("session", "list"), ("session", "show", "ses_1"), ("session", "history", "ses_1"), ("session", "files", "ls", "ses_1", "/"),
            ("session", "exec", "ses_1", "1"), ("session", "run", "ses_1", "--", "true"), ("session", "create"),
            ("session", "rm", "ses_1"), ("top", "--once"), ("session", "logs", "ses_1"), ("session", "fork", "ses_1"), ("usage",),
            ("events",), ("search", "x"), ("index", "show"), ("tools", "list"), ("tools", "show", "x"), ("skills", "list"), ("skills", "show", "x"),
            ("skills", "list", "--text"), ("registry", "list"), ("registry", "show", "agents", "x"), ("audit", "list"), ("audit", "show", "1")]


def on_a_terminal(program, words, environment, seconds):
    """Exit status and all that it wrote to its terminal; -1: it did not end."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(program, [program, *words], environment)
    seen, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        elif os.waitpid(pid, os.WNOHANG)[0]:
            os.close(terminal)
            return 0, seen
    else:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)
        return -1, seen
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    return status, seen


# What we write ourselves on a terminal: colours.
OWN = re.compile(rb"\x1b\[[0-9;]*m|\r\n|\n|\t")


def environment_of(service):
    return {**os.environ, "ATOLL_URL": service.url, "ATOLL_API_KEY": "e2b_" + "0" * 40, "TERM": "xterm", "NO_COLOR": "1"}


def names_of_a_service_are_shown_and_never_obeyed(program, crashes):
    service = Service()
    try:
        for mode in ("evil_names", "refusals"):
            service.server.mode = mode
            for words in COMMANDS:
                status, seen = on_a_terminal(program, words, environment_of(service), 20)
                assert status not in crashes, (mode, words, status, seen[-300:])
                left = OWN.sub(b"", seen)
                for bad in (b"\x1b", b"\x07", b"\r", "\u202e".encode(), b"\xc2\x9b"):
                    assert bad not in left, (mode, words, left[-400:])
    finally:
        service.close()


MEMORY = 700 << 20
NO_END = ("endless_list endless_text endless_head endless_extension endless_trailers endless_announcements endless_event "
          "lying_length endless_pages endless_refusal many_values deep half garbage elsewhere").split()
# A follower of events waits for them without an end, and what it is given is no event before it is complete.
FOLLOWS = {("session", "exec", "ses_1", "1"), ("session", "run", "ses_1", "--", "true"), ("session", "logs", "ses_1"), ("events",)}


def in_little_memory():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_bounded(program, words, environment, seconds):
    """Exit status, what it said, and the most memory that it had; -1: it did not end."""
    process = subprocess.Popen([program, *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, preexec_fn=in_little_memory)
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    said = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    late = not timer.is_alive()
    timer.cancel()
    return -1 if late else process.returncode, said, usage.ru_maxrss << 10


def answers_without_an_end_are_given_up(program, crashes):
    service = Service()
    try:
        for mode in NO_END:
            service.server.mode = mode
            for words in COMMANDS:
                if mode == "endless_pages" and words != ("session", "list"):
                    continue  # nothing that has pages
                status, said, memory = run_bounded(program, words, environment_of(service), 60)
                what = (mode, words, status, said[-300:], memory >> 20)
                assert status not in crashes and status > 0, what
                assert memory < MEMORY, what
                assert said.strip() and b"\x1b" not in said and b"\xc2\x9b" not in said, what
    finally:
        service.close()


def silence_is_given_up(program, crashes):
    service = Service()
    try:
        environment = {**environment_of(service), "ATOLL_TIMEOUT": "1"}
        for mode in ("silence", "silence_after_the_head", "a_byte_now_and_then"):
            service.server.mode = mode
            for words in COMMANDS:
                if words in FOLLOWS or words == ("usage",):  # which asks the service of the data directory alone
                    continue
                status, said, _ = run_bounded(program, words, environment, 30)
                assert status not in crashes and status > 0, (mode, words, status, said[-300:])
                assert b"ATOLL_TIMEOUT" in said, (mode, words, status, said[-300:])
        for time_ in ("nan", "0", "-3", "inf", "x"):
            status, said, _ = run_bounded(program, ("session", "list"), {**environment, "ATOLL_TIMEOUT": time_}, 30)
            assert status > 0 and b"ATOLL_TIMEOUT" in said and b"number of seconds" in said, (time_, status, said)
    finally:
        service.close()
