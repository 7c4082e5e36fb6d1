"""`atoll shell` from outside: its options, and its prompt on a real (pseudo) terminal."""
import fcntl, http.server, os, pathlib, pty, re, select, shutil, signal, struct, subprocess, tempfile, termios, threading, time, unittest

ATOLL = "atoll"  # set by whoever runs this
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm", "ATOLL_TEST_SECRET": "of-the-host"}
PATIENCE = 60  # seconds; only a hang is that slow


def shell(*arguments, input=b"", **options):
    return subprocess.run([ATOLL, "shell", *arguments], input=input, capture_output=True, timeout=PATIENCE, env=ENVIRONMENT, **options)


class Options(unittest.TestCase):
    def setUp(self):
        self.host = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.host, ignore_errors=True)

    def test_a_script_and_its_arguments(self):
        done = shell("-c", 'echo "$0 $1 $#"; exit 7', "name", "one", "two words")
        self.assertEqual((done.stdout, done.returncode), (b"name one 2\n", 7))

    def test_a_file_of_the_host(self):
        (self.host / "s.sh").write_text('echo "in $1"; nonsense')
        done = shell(str(self.host / "s.sh"), "arg")
        self.assertEqual((done.stdout, done.returncode), (b"in arg\n", 127))
        self.assertIn(b"s.sh: line 1: nonsense: command not found", done.stderr)

    def test_a_missing_file_is_an_error_that_names_it(self):
        done = shell(str(self.host / "none"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"none", done.stderr)

    def test_a_script_on_standard_input(self):
        self.assertEqual(shell(input=b"x=5\necho $((x * 2))\nexit 4\n").stdout, b"10\n")
        self.assertEqual(shell(input=b"x=5\necho $((x * 2))\nexit 4\n").returncode, 4)

    def test_standard_input_of_a_script(self):
        self.assertEqual(shell("-c", "read a; cat; echo [$a]", input=b"1\n2\n").stdout, b"2\n[1]\n")

    def test_a_signal_ends_us_as_it_ended_the_script(self):
        self.assertEqual(shell("-c", "kill -TERM $$").returncode, -signal.SIGTERM)

    def test_the_environment_is_our_own(self):
        done = shell("-c", "env; cat /proc/self/environ /etc/passwd /etc/hostname 2>/dev/null; echo $TZ; date +%Z; ls -a /")
        self.assertNotIn(b"of-the-host", done.stdout)
        self.assertIn(b"UTC", done.stdout)
        self.assertIn(b"HOME=/home/user", done.stdout)

    def test_the_zone_of_the_host_is_not_seen(self):
        done = subprocess.run([ATOLL, "shell", "-c", "date -d @0 +%H:%M%Z; printf '%(%H:%M)T\\n' 0; touch -d @0 f; ls -l --time-style=+%H:%M f"],
                              capture_output=True, timeout=PATIENCE, env={**ENVIRONMENT, "TZ": "Asia/Tokyo"})
        self.assertEqual(done.stdout.split(), [b"00:00UTC", b"00:00"] + done.stdout.split()[2:])
        self.assertNotIn(b"09:00", done.stdout)

    def test_variables_given(self):
        self.assertEqual(shell("--env", "A=1 2", "--env", "B=", "-c", 'echo "[$A][$B][$HOME]"').stdout, b"[1 2][][/home/user]\n")
        self.assertEqual(shell("--clean-env", "--env", "A=1", "-c", 'echo "[$A][$HOME][$USER]"').stdout, b"[1][][]\n")

    def test_a_variable_without_a_name_is_refused(self):
        done = shell("--env", "=x", "-c", "echo no")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, b"")
        self.assertIn(b"NAME=VALUE", done.stderr)

    def test_where_it_starts(self):
        self.assertEqual(shell("-c", "pwd; ls -a").stdout, b"/home/user\n.\n..\n")
        self.assertEqual(shell("--cwd", "/a/b", "-c", "pwd").stdout, b"/a/b\n")

    def test_a_directory_is_copied_in_and_nothing_is_written_back(self):
        (self.host / "sub").mkdir()
        (self.host / "sub" / "f").write_text("text")
        (self.host / "run").write_text("#!/bin/bash\necho ran\n")
        (self.host / "run").chmod(0o755)
        os.symlink("sub/f", self.host / "link")
        os.mkfifo(self.host / "pipe")
        done = shell("--dir", str(self.host), "-c", "cat sub/f link; ./run; echo changed > sub/f; rm link; ls")
        self.assertEqual(done.stdout, b"texttextran\nrun\nsub\n")
        self.assertEqual((self.host / "sub" / "f").read_text(), "text")
        self.assertTrue((self.host / "link").is_symlink())

    def test_a_directory_elsewhere(self):
        (self.host / "f").write_text("text")
        self.assertEqual(shell("--dir", f"{self.host}:/data/in", "--cwd", "/data/in", "-c", "pwd; cat f").stdout, b"/data/in\ntext")

    def test_a_directory_that_is_none_is_refused(self):
        done = shell("--dir", str(self.host / "none"), "-c", "echo no")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"none", done.stderr)
        self.assertIn(b"absolute", shell("--dir", f"{self.host}:relative", "-c", "echo no").stderr)

    def test_write_back(self):
        (self.host / "kept").write_text("kept")
        (self.host / "gone").write_text("gone")
        (self.host / "turned").write_text("file")
        done = shell("--dir", str(self.host), "--write-back", "-c",
                     "rm gone turned; mkdir -p turned new/deep; echo 1 > new/deep/f; chmod 750 new/deep/f; ln -s kept link; echo more >> kept; echo x > /tmp/outside; exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertEqual((self.host / "new/deep/f").read_text(), "1\n")
        self.assertEqual((self.host / "new/deep/f").stat().st_mode & 0o777, 0o750)
        self.assertEqual((self.host / "kept").read_text(), "keptmore\n")
        self.assertEqual(os.readlink(self.host / "link"), "kept")
        self.assertEqual(sorted(os.listdir(self.host)), ["kept", "link", "new", "turned"])
        self.assertTrue((self.host / "turned").is_dir())

    def test_write_back_never_leaves_its_directory(self):
        outside = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, outside, ignore_errors=True)
        (outside / "precious").write_text("untouched")
        os.symlink(outside, self.host / "way")
        os.symlink(outside / "precious", self.host / "file")
        done = shell("--dir", str(self.host), "--write-back", "-c",
                     "rm way file; mkdir way; echo evil > way/precious; echo evil > way/new; echo evil > file; ln -s / root; ln -s ../.. up")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((outside / "precious").read_text(), "untouched")
        self.assertEqual(os.listdir(outside), ["precious"])
        self.assertEqual((self.host / "way" / "new").read_text(), "evil\n")
        self.assertEqual((self.host / "file").read_text(), "evil\n")

    def test_commands_for_test_suites(self):
        self.assertEqual(shell("--test-commands", "-c", "argv.py a 'b c'").stdout, b"['a', 'b c']\n")
        self.assertEqual(shell("-c", "argv.py a").returncode, 127)

    def test_an_unknown_option_is_refused(self):
        done = shell("--nonsense", "-c", "echo no")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"--nonsense", done.stderr + done.stdout)

    def test_an_interrupt_ends_a_script(self):
        child = subprocess.Popen([ATOLL, "shell", "-c", "echo begun; while :; do :; done"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
        try:
            self.assertEqual(child.stdout.readline(), b"begun\n")
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(timeout=PATIENCE), 130)
        finally:
            child.kill()
            child.communicate()


class Limits(unittest.TestCase):
    def test_a_limit_has_its_own_status_and_says_how_to_raise_it(self):
        done = shell("--limit", "iterations=100", "-c", "while :; do :; done")
        self.assertEqual(done.returncode, 205)
        self.assertIn(b"limit reached: loop iterations (100); raise iterations to allow more", done.stderr)
        done = shell("--limit", "wall_time=0.2", "-c", "sleep 1000")
        self.assertEqual(done.returncode, 222)

    def test_a_raised_limit_is_not_reached(self):
        script = "for i in {1..300}; do :; done; echo $i"
        self.assertEqual(shell("--limit", "iterations=299", "-c", script).returncode, 205)
        self.assertEqual(shell("--limit", "iterations=300", "-c", script).stdout, b"300\n")

    def test_a_wrong_limit_is_refused(self):
        for given, words in (("loops=1", b"there is no limit 'loops'; there are script_bytes, tokens"), ("commands", b"NAME=VALUE"),
                             ("commands=many", b"commands"), ("cpu_time=-1", b"cpu_time")):
            done = shell("--limit", given, "-c", "echo no")
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, b"")
            self.assertIn(words, done.stderr)


class Answers(http.server.BaseHTTPRequestHandler):
    """/v1/x answers, /v1/away leads to another path, /v1/off to another host; what was asked is kept."""
    asked = []

    def do_GET(self):
        self.asked.append((self.command, self.path))
        location = {"/v1/away": "/v2/x", "/v1/off": f"http://127.0.0.2:{self.server.server_port}/v1/x"}.get(self.path)
        self.send_response(302 if location else 200)
        if location:
            self.send_header("Location", location)
        body = f"{self.command} {self.path}\n".encode()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_DELETE = do_GET

    def log_message(self, *_):
        pass


class Network(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        Answers.asked.clear()

    def curl(self, *arguments, grants=()):
        return shell(*sum((["--allow-url", grant] for grant in grants), []), "-c", 'curl -s -S "$@"', "curl", *arguments)

    def test_nothing_is_reached_without_a_grant(self):
        done = self.curl(self.base + "/v1/x")
        self.assertEqual((done.returncode, done.stdout), (7, b""))
        self.assertIn(b"127.0.0.1", done.stderr)
        self.assertEqual(Answers.asked, [])

    def test_a_grant_covers_its_path_and_what_is_below(self):
        grants = [self.base + "/v1"]
        self.assertEqual(self.curl(self.base + "/v1/x", grants=grants).stdout, b"GET /v1/x\n")
        for other in ("/v2/x", "/v10", "/", "/v1/../v2/x", "/v1/%2e%2e/v2/x"):
            done = self.curl(self.base + other, grants=grants)
            self.assertEqual((done.returncode != 0, done.stdout), (True, b""), other)
        self.assertEqual(Answers.asked, [("GET", "/v1/x")])

    def test_methods_are_those_that_were_named(self):
        self.assertNotEqual(self.curl("-d", "a=1", self.base + "/v1/x", grants=[self.base]).returncode, 0)
        grants = ["POST,DELETE " + self.base]
        self.assertEqual(self.curl("-d", "a=1", self.base + "/v1/x", grants=grants).stdout, b"POST /v1/x\n")
        self.assertEqual(self.curl("-X", "DELETE", self.base + "/v1/x", grants=grants).stdout, b"DELETE /v1/x\n")
        self.assertNotEqual(self.curl(self.base + "/v1/x", grants=grants).returncode, 0)
        self.assertEqual([method for method, _ in Answers.asked], ["POST", "DELETE"])

    def test_a_redirection_must_be_granted_as_well(self):
        for path in ("/v1/away", "/v1/off"):
            done = self.curl("-L", self.base + path, grants=[self.base + "/v1"])
            self.assertNotEqual(done.returncode, 0, path)
            self.assertEqual(done.stdout, b"")
        self.assertEqual(self.curl("-L", self.base + "/v1/away", grants=[self.base]).stdout, b"GET /v2/x\n")
        self.assertEqual([path for _, path in Answers.asked], ["/v1/away", "/v1/off", "/v1/away", "/v2/x"])

    def test_another_port_scheme_or_host_is_another_place(self):
        port = self.server.server_port
        for url in (f"http://127.0.0.1:{port + 1}/v1/x", f"https://127.0.0.1:{port}/v1/x", f"http://localhost:{port}/v1/x"):
            self.assertNotEqual(self.curl(url, grants=[self.base]).returncode, 0, url)
        self.assertEqual(Answers.asked, [])

    def test_a_grant_that_says_nothing_is_refused(self):
        for grant in ("", "example.org", "ftp://example.org", "get http://127.0.0.1", "GET,, http://127.0.0.1", "GET"):
            done = self.curl(self.base, grants=[grant])
            self.assertNotIn(done.returncode, (0, 7), grant)
            self.assertIn(b"--allow-url", done.stderr)


class Terminal:
    """A prompt on a pseudo terminal of its own session, so that Ctrl-C is a signal."""

    def __init__(self, *arguments):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))

        def own_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.child = subprocess.Popen([ATOLL, "shell", *arguments], stdin=slave, stdout=slave, stderr=slave, env=ENVIRONMENT, preexec_fn=own_terminal)
        os.close(slave)
        self.seen = ""

    def type(self, text):
        os.write(self.master, text.encode())

    def expect(self, pattern):
        """Reads until the pattern appears in what was not yet matched; the match."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.seen)):
            if not select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"no {pattern!r} in {self.seen[-500:]!r}")
            try:
                more = os.read(self.master, 65536)
            except OSError:
                more = b""
            if not more:
                raise AssertionError(f"ended without {pattern!r}: {self.seen[-500:]!r}")
            self.seen += more.decode(errors="replace")
        self.seen = self.seen[found.end():]
        return found

    def end(self):
        try:
            return self.child.wait(timeout=PATIENCE)
        finally:
            self.close()

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        if self.master >= 0:
            os.close(self.master)
            self.master = -1


class Prompt(unittest.TestCase):
    def setUp(self):
        self.terminal = Terminal()
        self.addCleanup(self.terminal.close)
        self.terminal.expect(r"~ \$ ")

    def answer(self, typed, pattern):
        """Types a line; the pattern must follow, and then a prompt."""
        self.terminal.type(typed + "\r")
        found = self.terminal.expect(pattern)
        self.terminal.expect(r"~ \$ ")
        return found

    def test_state_stays_and_the_status_is_the_last(self):
        self.answer("echo k$((1 + 1)); x=40", "k2")
        self.answer("echo $((x + 2))end", "42end")
        self.terminal.type("exit 3\r")
        self.assertEqual(self.terminal.end(), 3)

    def test_the_end_of_input_ends_it(self):
        self.answer("echo k$((1 + 1)); false", "k2")
        self.terminal.type("\x04")
        self.assertEqual(self.terminal.end(), 1)

    def test_a_trap_runs_at_the_end(self):
        self.answer("echo k$((1 + 1)); trap 'echo $((6 * 7))bye' EXIT", "k2")
        self.terminal.type("\x04")
        self.terminal.expect("42bye")
        self.assertEqual(self.terminal.end(), 0)

    def test_the_line_can_be_edited(self):
        self.answer("echo ac\x1b[Db", "\nabc")           # left arrow, insert
        self.answer("cho $((1 + 1))x\x01e", "\n2x")      # to the beginning
        self.answer("echo $((1 + 2))yz\x7f", "\n3y\r")   # delete backwards
        self.answer("wrong\x15echo $((2 + 2))w", "\n4w")  # kill the line

    def test_history_comes_back_with_the_arrow(self):
        self.answer("echo $((50 + 5))first", "55first")
        self.answer("echo other", "other")
        self.answer("\x1b[A\x1b[A", "55first")
        self.answer("history", "echo other")

    def test_letters_of_more_than_one_byte(self):
        self.answer("echo é$((1 + 1))ü", "é2ü")

    def test_a_command_goes_on_over_lines(self):
        self.terminal.type("for i in 1 2\r")
        self.terminal.expect("> ")
        self.terminal.type("do echo $((i + 60))x\r")
        self.terminal.expect("> ")
        self.answer("done", "61x\r\n62x")
        self.terminal.type("cat <<E\r")
        self.terminal.expect("> ")
        self.terminal.type("$((7 * 7))t\r")
        self.terminal.expect("> ")
        self.answer("E", "49t")

    def test_an_interrupt_drops_the_line(self):
        self.terminal.type("echo ne\x03")
        self.terminal.expect(r"~ \$ ")
        self.answer("echo $((3 + 5))ok", "8ok")

    def test_an_interrupt_drops_a_command_that_goes_on(self):
        self.terminal.type("if true\r")
        self.terminal.expect("> ")
        self.terminal.type("\x03")
        self.terminal.expect(r"~ \$ ")
        self.answer("echo $((3 + 6))ok", "9ok")

    def test_an_interrupt_ends_what_runs(self):
        for busy in ("sleep 1000", "while :; do :; done"):
            self.terminal.type(f"echo go$((1 + 1)); {busy}\r")
            self.terminal.expect("go2")
            self.terminal.type("\x03")
            self.terminal.expect(r"~ \$ ")
            self.answer("echo status$?", "status130")

    def test_names_are_completed(self):
        self.answer("touch unique_name; mkdir dir_of; touch dir_of/inner; echo k$((1 + 1))", "k2")
        self.answer("echo $((1 + 1)) uniq\t", "2 unique_name")
        self.answer("echo $((1 + 2)) dir_o\tinn\t", "3 dir_of/inner")
        self.answer("basenam\t/a/b$((2 + 2))", "b4")
        self.terminal.type("touch amb_1 amb_2; echo amb\t\t")
        self.terminal.expect("amb_")
        self.terminal.type("\x03")

    def test_a_program_reads_the_terminal(self):
        self.terminal.type("read line; echo got $((4 + 4))$line\r")
        time.sleep(0.2)
        self.terminal.type("typed\r")
        self.terminal.expect("got 8typed")

    def test_the_prompt_can_be_chosen(self):
        self.terminal.type("PS1='<\\W $((1+1))> '\r")
        self.terminal.expect("<~ 2> ")
