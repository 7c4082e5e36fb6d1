"""More cases of tests/commands/run, which hands itself over: JSON held against the service's own description, interrupts of what
makes something, --watch, colours of a terminal."""
import http.server
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "api"))
import harness  # noqa: E402

# What passes on the bytes of a program, a file or a protocol, or is read by people and shells alone.
WITHOUT_JSON = {("serve",), ("quickstart",), ("run",), ("shell",), ("mcp",), ("completion",), ("man",), ("help",), ("model", "install")}
TEXT, NUMBER, FLAG, LIST, OBJECT = ({"type": kind} for kind in ("string", "number", "boolean", "array", "object"))


def shape(**members):
    """An object with exactly these members."""
    return {"type": "object", "required": sorted(members), "additionalProperties": False, "properties": members}


def list_of(items):
    return {"type": "array", "items": items}


ENVIRONMENT = shape(name=TEXT, description=TEXT, state=TEXT, layers=list_of(TEXT), size_bytes=NUMBER, user=TEXT, working_directory=TEXT,
                    sudo=FLAG)
FINDING = shape(grade={"enum": ["good", "note", "bad"]}, subject=TEXT, fact=TEXT, remedy=TEXT)
SKILL = shape(name=TEXT, description=TEXT, source=TEXT, digest=TEXT, pinned=FLAG, files=NUMBER)


def leaves(suite, path=()):
    """Every command that does something, as its help names it."""
    text = subprocess.run([suite.ATOLL, *path, "--help"], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
    below = re.findall(r"^  (\S+) ", text.partition("\nSubcommands:")[2].partition("\n\n")[0], re.M)
    if path == ("help",) or not below:
        yield path, text
    else:
        for word in below:
            yield from leaves(suite, (*path, word))


def every_command_that_answers_has_json(suite):
    for path, text in leaves(suite):
        assert ("--json" in text) != (path in WITHOUT_JSON), path


class Described:
    """Holds what commands print against the service's description."""

    def __init__(self, suite):
        self.suite = suite
        self.schema = harness.Schema(suite.SERVICE.ask("GET", "/openapi.json"))

    def fits(self, value, form, words):
        # Of one form it is known what does not fit.
        found = self.schema.complaints(value, form["oneOf"][0] if len(form.get("oneOf", [])) == 1 else form)
        assert not found, (words, found[:5])
        return value

    def answer(self, method, path):
        """What an operation answers where it succeeds."""
        good = [answer for status, answer in self.schema.operation(method, path)["responses"].items() if status.startswith("2")]
        return {"oneOf": [answer["content"]["application/json"]["schema"] for answer in good if "application/json" in answer.get("content", {})]}

    def rest(self, method, path, *words, **more):
        """REST's own answer, to the letter."""
        return self.own(self.answer(method, path), *words, **more)

    def own(self, form, *words, **more):
        """What only commands tell has a form of its own."""
        return self.fits(json.loads(self.suite.atoll(words[0], "--json", *words[1:], **more)), form, words)

    def lines(self, form, *words):
        for line in self.suite.atoll(*words, "--json").splitlines():
            self.fits(json.loads(line), form, words)


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def json_of_sessions_is_as_rest_describes_it(suite):
    with tempfile.TemporaryDirectory() as work:
        given = Described(suite)
        session = given.rest("POST", "/api/sessions", "session", "create")["session_id"]
        route = f"/api/sessions/{session}"
        try:
            given.rest("GET", "/api/sessions", "session", "list")
            given.rest("GET", route, "session", "show", session)
            given.rest("POST", f"{route}/execute", "session", "exec", session, "print(1); 2")
            given.rest("POST", f"{route}/commands", "session", "run", session, "--", "true")
            given.rest("POST", f"{route}/commands", "session", "run", session, "-d", "--", "sleep", "1")
            given.rest("GET", f"{route}/history", "session", "history", session)
            given.lines(ref("Record"), "session", "logs", session)
            pathlib.Path(work, "notes").write_text("notes")
            given.rest("PUT", f"{route}/files", "session", "files", "put", session, f"{work}/notes", "/home/user/notes")
            given.rest("GET", f"{route}/files", "session", "files", "ls", session)
            given.own(shape(path=TEXT, removed=FLAG), "session", "files", "rm", session, "/home/user/notes")
            given.rest("POST", f"{route}/pause", "session", "pause", session)
            given.rest("POST", f"{route}/resume", "session", "resume", session)
            given.rest("POST", f"{route}/snapshots", "session", "snapshot", session)
            fork = given.rest("POST", f"{route}/fork", "session", "fork", session)
            given.rest("DELETE", route, "session", "rm", fork["session_id"])
            row = shape(session=ref("Session"), cpu_percent=NUMBER, cpu_history=list_of(NUMBER), usage=ref("Usage"))
            top = given.own(shape(sessions=list_of(row)), "top")
            assert session in [one["session"]["session_id"] for one in top["sessions"]], top
            given.lines(shape(id=TEXT, event=TEXT, data=ref("ServiceEvent")), "events", "--since", "0", "--limit", "3")
        finally:
            suite.atoll("session", "rm", session)


def json_of_a_service_is_as_rest_describes_it(suite):
    given = Described(suite)
    key = given.rest("POST", "/api/keys", "keys", "create")["key_id"]
    given.rest("GET", "/api/keys", "keys", "list")
    given.rest("POST", f"/api/keys/{key}/rotate", "keys", "rotate", key)
    given.own(shape(key_id=TEXT, revoked=FLAG), "keys", "revoke", key)
    given.rest("GET", "/api/usage", "usage")
    given.rest("GET", "/api/skills", "skills", "list")
    given.rest("GET", "/api/skills/csv", "skills", "show", "csv")
    given.rest("GET", "/api/tools/run_command", "tools", "show", "run_command")
    given.fits({"tools": json.loads(suite.atoll("tools", "list", "--json"))}, given.answer("GET", "/api/tools"), "tools list")
    given.rest("POST", "/api/index/search", "search", "web")
    given.rest("GET", "/api/index", "index", "show")
    given.own(ref("IndexState"), "index", "rebuild")
    given.rest("GET", "/version", "version")
    given.own(ref("ServiceHealth"), "doctor", "--live")
    given.lines(ref("AuditEntry"), "audit", "list")
    given.own(ref("AuditEntry"), "audit", "show", "1")
    given.lines(ref("AuditEntry"), "audit", "export", "--data", suite.SERVICE.data)
    given.own(shape(good=FLAG, entries=NUMBER, first_seq=NUMBER, last_seq=NUMBER, signed_seq=NUMBER, key=TEXT), "audit", "verify", "--data",
              suite.SERVICE.data)


def json_of_this_machine_has_its_form(suite):
    given = Described(suite)
    with tempfile.TemporaryDirectory() as work:
        alone = ["--data", f"{work}/alone"]
        bare = {name: value for name, value in suite.SERVICE.env.items() if not name.startswith("ATOLL_")}
        # Keys of a store are told as those of a service.
        made = given.rest("POST", "/api/keys", "keys", "create", "--expires", "60", *alone, env=bare)
        given.rest("POST", f"/api/keys/{made['key_id']}/rotate", "keys", "rotate", made["key_id"], *alone, env=bare)
        given.rest("GET", "/api/keys", "keys", "list", *alone, env=bare)
        given.own({"type": "object", "additionalProperties": shape(value=TEXT, origin=TEXT, help=TEXT)}, "config")
        given.own(shape(environments=list_of(ENVIRONMENT)), "env", "list", *alone)
        given.own(ENVIRONMENT, "env", "show", "host", *alone)
        given.own(shape(removed_layers=NUMBER, removed_bytes=NUMBER, layers=NUMBER, size_bytes=NUMBER), "env", "gc", *alone)
        given.own(list_of(OBJECT), "registry", "list", "agents")
        given.own(OBJECT, "registry", "show", "agents", "code-executor")
        given.own(shape(declarations=NUMBER), "registry", "validate")
        given.own(shape(files=list_of(TEXT)), "registry", "schemas", work)
        given.own(shape(skills=list_of(SKILL)), "skills", "list", env=bare)
        given.own(shape(files=list_of(TEXT)), "tools", "new", "mine", "--directory", f"{work}/tools")
        given.own(shape(examples=LIST), "tools", "test", "run_command")
        given.own({"type": "object", "required": ["allowed"]}, "check", "--language", "python", "-", input=b"print(1)", stdin=None)
        doctor = subprocess.run([suite.ATOLL, "doctor", "--json"], stdout=subprocess.PIPE, env=bare, timeout=120)
        given.fits(json.loads(doctor.stdout), shape(machine=list_of(FINDING), providers=list_of(FINDING), sandbox=OBJECT), "doctor")


class SlowService(http.server.BaseHTTPRequestHandler):
    """Makes things slowly, and remembers what it was asked."""

    asked = []
    answer = {}

    def do_POST(self):
        self.asked.append(("POST", self.path))
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(1)
        self.give(201, self.answer)

    def do_DELETE(self):
        self.asked.append(("DELETE", self.path))
        self.give(200, {})

    def give(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        try:
            self.end_headers()
            self.wfile.write(data)
        except BrokenPipeError:
            pass

    def log_message(self, *_):
        pass


def what_is_interrupted_while_it_is_made_is_removed(suite):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SlowService)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = {**suite.SERVICE.env, "ATOLL_URL": f"http://127.0.0.1:{server.server_port}"}
    fork = {"session_id": "ses_b", "fork": {"copies": [{"session": {"session_id": "ses_b"}}, {"error": {"message": "no"}},
                                                       {"session": {"session_id": "ses_c"}}]}}
    for words, answer, removed in ((["create"], {"session_id": "ses_a"}, ["/api/sessions/ses_a"]),
                                   (["fork", "ses_a", "--count", "3"], fork, ["/api/sessions/ses_b", "/api/sessions/ses_c"]),
                                   (["snapshot", "ses_a"], {"snapshot_id": "snp_a"}, ["/api/snapshots/snp_a"])):
        SlowService.answer = answer
        for signals in (1, 2):
            SlowService.asked.clear()
            command = subprocess.Popen([suite.ATOLL, "session", *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            suite.until(lambda: SlowService.asked, "the call")
            for _ in range(signals):
                command.send_signal(signal.SIGINT)
                time.sleep(0.2)
            out, err = command.communicate(timeout=60)
            if signals == 2:  # nobody waits longer than they want to
                assert command.returncode == -signal.SIGINT, (words, command.returncode, err)
                continue
            assert command.returncode == 130 and out == b"" and b"interrupted" in err, (words, command.returncode, out, err)
            assert [path for method, path in SlowService.asked if method == "DELETE"] == removed, SlowService.asked
    server.shutdown()


def an_interrupted_quickstart_leaves_nothing(suite):
    def running():
        return {one["session_id"] for one in suite.SERVICE.ask("GET", "/api/sessions?state=running")["sessions"]}
    before = running()
    command = subprocess.Popen([suite.ATOLL, "quickstart"], env=suite.SERVICE.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not command.stdout.readline().startswith(b"ses_"):
        pass
    command.send_signal(signal.SIGINT)
    _, err = command.communicate(timeout=60)
    # It may have been through before the signal came.
    assert command.returncode in (0, 130), (command.returncode, err)
    assert running() <= before, running() - before


def watching_repeats_a_list(suite):
    with suite.Session() as session:
        for words in (["list", "--watch"], ["show", "--watch", "0.2", session], ["history", session, "--watch=0.2", "--json"]):
            watch = subprocess.Popen([suite.ATOLL, "session", *words], env=suite.SERVICE.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            first = watch.stdout.readline()
            assert first, (words, watch.communicate(timeout=60))
            suite.until(lambda: watch.stdout.readline() == first, f"the second time of {words}", 30)
            watch.send_signal(signal.SIGINT)
            _, err = watch.communicate(timeout=60)
            assert watch.returncode == -signal.SIGINT and err == b"", (watch.returncode, err)
        suite.atoll("session", "list", "--watch", "0", status=2, says=["--watch"])


def a_terminal_gets_tables_of_other_commands(suite):
    if suite.shutil.which("tmux") is None:
        print("     (tmux is not here)")
        return
    # Words of code that is looked at reach no terminal as commands.
    hostile = pathlib.Path(suite.SERVICE.work, "hostile.py")
    hostile.write_text("import os\nos.system('rm -rf / \x1b[35mpurple\x1b]0;title\x07')\n")
    for words, title, colour in ((["audit", "list", "--limit", "5"], "OUTCOME", r"\x1b\[32m\s*ok"), (["keys", "list"], "STATE", r"\x1b\[32m\s*in force"),
                                 (["usage"], "EXECUTIONS", r"\x1b\["), (["doctor", "--live"], "Everything is well", r"\x1b\[32m\s*ok"),
                                 (["check", str(hostile)], "denied by policy strict", r"\x1b\[31m(\x1b\[49m)?\s*denied")):
        for paint in (True, False):
            env = {**suite.SERVICE.env, "TERM": "screen-256color", **({} if paint else {"NO_COLOR": "1"})}
            with suite.Tmux(env) as tmux:
                tmux.type(f"clear; {shlex.quote(suite.ATOLL)} {shlex.join(words)}; echo left=$?")
                tmux.shows("left=1" if words[0] == "check" else "left=0")
                screen = tmux.call("capture-pane", "-p", "-e", "-J", "-t", "t")
            assert title in re.sub(r"\x1b\[[0-9;]*m", "", screen), (words, screen)
            assert bool(re.search(colour, screen)) == paint and "\x1b[35m" not in screen, (words, paint, screen)


def a_service_on_a_socket_greets_and_is_found(suite):
    bare = {name: value for name, value in suite.SERVICE.env.items() if not name.startswith("ATOLL_")}
    with tempfile.TemporaryDirectory() as work:
        place, out = f"{work}/so cket", pathlib.Path(work, "out")
        served = subprocess.Popen([suite.ATOLL, "serve", "--listen", f"unix:{place}", "--data", f"{work}/data"], env=bare,
                                  stdout=out.open("wb"), stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            suite.until(lambda: f"ready on unix:{place}" in out.read_text(), "the service")
            lines = [line.split(": ", 1)[1] for line in out.read_text().splitlines() if line.startswith(("First: ", "Try: "))]
            assert len([line for line in lines if not line.startswith("export")]) == 3 and "another machine" not in out.read_text(), lines
            done = subprocess.run(["bash", "-e", "-c", "\n".join(lines)], env={**bare, "HOME": work}, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0 and "It works" in done.stdout and '"session_id"' in done.stdout, done
            key = re.search(r"e2b_\w+", out.read_text())[0]
            named = {**bare, "ATOLL_URL": f"unix:{place}", "ATOLL_API_KEY": key}
            session = suite.atoll("session", "create", env=named).strip()
            assert suite.atoll("session", "run", session, "--", "cat", env=named, input=b"through", stdin=None) == "through"
            suite.atoll("session", "list", "--url", f"unix:{work}/none", env=bare, status=125, says=[f"unix:{work}/none", "atoll serve"])
        finally:
            served.terminate()
            served.wait(120)
        assert not os.path.exists(place)


def a_terminal_outlives_the_service(suite):
    if not suite.has_terminals():
        return
    bare = {name: value for name, value in suite.SERVICE.env.items() if not name.startswith("ATOLL_")}
    with tempfile.TemporaryDirectory() as work:
        def serve(listen):
            served = subprocess.Popen([suite.ATOLL, "serve", "--listen", listen, "--data", f"{work}/data"], env=bare,
                                      stdout=open(f"{work}/out", "wb"), stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            ready = suite.until(lambda: re.search(r"ready on http://(\S+)", pathlib.Path(work, "out").read_text()), "the service")
            return served, ready[1]
        served, address = serve("127.0.0.1:0")
        env = {**bare, "ATOLL_DATA": f"{work}/data", "TERM": "screen"}
        try:
            session = suite.atoll("session", "create", "--processes", "50", env=env).strip()
            with suite.Tmux(env) as tmux:
                tmux.type(f"{shlex.quote(suite.ATOLL)} session attach {session}; echo left=$?")
                tmux.type("kept=yes; echo be''fore")
                tmux.shows("before")
                served.kill()
                served.wait(60)
                tmux.shows("the connection was cut")
                # The key that the first one left for its owner is no longer good.
                served, _ = serve(address)
                tmux.type("echo kept is $kept; echo af''ter")
                screen = tmux.shows("after")
                assert "kept is yes" in screen and not re.search(r"left=\d", screen), screen
                tmux.type("exit 6")
                tmux.shows("left=6")
            # What is no terminal is none to come back to.
            pid = suite.atoll("session", "run", session, "-d", "--", "sleep", "100", env=env).strip()
            with suite.Tmux(env) as tmux:
                tmux.type(f"{shlex.quote(suite.ATOLL)} session attach {session} --process {pid}; echo left=$?")
                assert f"no terminal has the process id {pid}" in tmux.shows("left=1")
        finally:
            served.terminate()
            served.wait(120)


def the_emulated_shell_has_a_line_editor(suite):
    """`atoll shell` on a terminal, without a service: editing, history, completion, Ctrl-C and Ctrl-D."""
    if suite.shutil.which("tmux") is None:
        print("     (tmux is not here)")
        return
    with suite.Tmux({**suite.SERVICE.env, "TERM": "screen"}) as tmux:
        tmux.type(f"clear; {shlex.quote(suite.ATOLL)} shell; echo left=$?")
        tmux.type("mkdir -p /tmp/orchard; echo gr\u00fc\u00dfe >/tmp/orchard/pears; >/tmp/orchard/plums; echo ready $((6 * 7))")
        tmux.shows("ready 42")
        tmux.type("cat /tmp/orch", enter=False)
        tmux.key("Tab")
        tmux.type("pe", enter=False)
        tmux.key("Tab", "Enter")
        tmux.shows("\ngr\u00fc\u00dfe\n")
        # The line before comes back and is changed where the cursor is.
        tmux.type("echo fist", enter=False)
        tmux.key("Left", "Left")
        tmux.type("r", enter=False)
        tmux.key("Enter")
        tmux.shows("\nfirst\n")
        tmux.key("Up")
        tmux.type(" again")
        tmux.shows("\nfirst again\n")
        # Two that fit are listed; a line that is given up does nothing.
        tmux.type("rm /tmp/orchard/pears /tmp/orchard/p", enter=False)
        tmux.key("Tab")
        tmux.shows("pears  /tmp/orchard/plums")
        tmux.key("C-c")
        tmux.type("ls /tmp/orchard | wc -l; for i in 1 2")
        tmux.type("do echo row $i; done")
        tmux.shows("row 2")
        tmux.key("C-d")
        screen = tmux.shows("left=0")
        assert "\n2\n" in screen, screen


CASES = [the_emulated_shell_has_a_line_editor, a_terminal_outlives_the_service, a_service_on_a_socket_greets_and_is_found, every_command_that_answers_has_json,
         json_of_sessions_is_as_rest_describes_it, json_of_a_service_is_as_rest_describes_it, json_of_this_machine_has_its_form,
         what_is_interrupted_while_it_is_made_is_removed,
         an_interrupted_quickstart_leaves_nothing, watching_repeats_a_list, a_terminal_gets_tables_of_other_commands]
