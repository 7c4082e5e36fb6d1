"""A service that lies: what the command line does with names, pages and answers that no honest one sends."""
import http.server
import json
import os
import pty
import re
import select
import threading
import time

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

    def refusals(self):
        self.answer({"error": {"code": EVIL, "message": EVIL, "details": {"field": EVIL}, "request_id": EVIL}}, 400)


class Service:
    def __init__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
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
