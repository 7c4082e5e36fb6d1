"""What goes wrong, first: each kind of failure is the exception that says what to do."""
import pickle
import re
import socket
import threading
import time

import atoll
import pytest
from atoll import errors
from conftest import HERE


def test_every_code_of_the_service_has_a_class():
    table = (HERE.parents[1] / "src/base/error.cc").read_text()
    rows = re.findall(r'CodeRow\{\w+, "(\w+)", (?:Category::)?(\w+), (\d+),', table)
    assert len(rows) > 20
    assert {name for name, *_ in rows} == set(errors.BY_CODE)
    groups = {"kUser": errors.UserError, "kRetry": errors.RetryableError, "kLimit": errors.LimitError,
              "policy": errors.PolicyError, "kProvider": errors.ProviderError, "internal": errors.InternalError}
    for name, category, _ in rows:
        assert issubclass(errors.BY_CODE[name], groups[category]), name
        assert errors.BY_CODE[name].hint, name


def test_an_unknown_code_is_told_by_its_category():
    made = errors.from_answer(418, {"error": {"code": "new", "message": "m", "request_id": "r",
                                              "details": {"category": "limit", "retryable": True}}})
    assert type(made) is errors.LimitError and made.retryable and made.code == "new"
    assert isinstance(errors.from_answer(500, "text"), errors.ProtocolError)
    assert isinstance(errors.from_answer(500, {"error": "text"}), errors.ProtocolError)


def test_errors_can_be_pickled():
    made = errors.from_answer(404, {"error": {"code": "not_found", "message": "no x", "request_id": "r",
                                              "details": {"category": "user", "retryable": False, "field": "id"}}})
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is errors.NotFoundError and str(again) == str(made) and again.request_id == "r"


@pytest.mark.parametrize("options, words", [
    ({"url": "127.0.0.1:8000"}, "no address"),
    ({"url": "ftp://x"}, "no address"),
    ({"api_key": "a b"}, "API key"),
    ({"api_key": "a\nb"}, "API key"),
    ({"retries": -1}, "retries"),
])
def test_a_wrong_configuration(options, words):
    with pytest.raises(errors.ConfigurationError, match=words):
        atoll.SandboxClient(**options)


def test_no_key_and_a_wrong_key(make_client):
    for key in ("", "e2b_ffffffffffffffffffffffffffffffffffffffff"):
        with pytest.raises(errors.UnauthenticatedError) as caught:
            make_client(api_key=key).create()
        assert caught.value.status == 401 and "ATOLL_API_KEY" in str(caught.value) and caught.value.request_id
        assert key == "" or key not in str(caught.value)


def test_nobody_listens(make_client):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(errors.ConnectError, match="ATOLL_URL"):
        make_client(url=url, retries=1).create()


def test_another_service_answers(make_client):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def answer():
            for body in (b"<html>hello</html>", b"{}", b'{"sessions": 3}'):
                one, _ = listener.accept()
                one.recv(65536)
                one.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                one.close()
        threading.Thread(target=answer, daemon=True).start()
        other = make_client(url=f"http://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(errors.ProtocolError, match="no JSON"):
            other.create()
        with pytest.raises(errors.ProtocolError, match="KeyError"):
            other.get("ses_x")
        with pytest.raises(errors.ProtocolError, match="without 'sessions'"):
            list(other.list())


def test_arguments_that_are_refused(client):
    for options, field in (({"provider": "nope"}, "provider"), ({"limits": {"memory_mb": 1}}, "limits.memory_mb"),
                           ({"ttl_seconds": -1}, "ttl_seconds"), ({"network": "all"}, "network")):
        with pytest.raises(errors.InvalidArgumentError) as caught:
            client.create(**options)
        assert caught.value.field == field, caught.value
    with pytest.raises(errors.NotFoundError):
        client.create(snapshot="snap_nope")


@pytest.mark.parametrize("name", ["ses_nope", "a/../b", "a b?c#d", "ü", "%2e%2e"])
def test_sessions_that_are_not_there(client, name):
    with pytest.raises(errors.NotFoundError):
        client.get(name)


def test_files_that_are_not_there(session):
    files = session.files
    with pytest.raises(errors.NotFoundError):
        files.read("/home/user/none")
    with pytest.raises(errors.NotFoundError):
        files.stat("/home/user/none")
    with pytest.raises(errors.NotFoundError):
        files.remove("/home/user/none")
    with pytest.raises(errors.InvalidArgumentError):
        files.read("relative")
    with pytest.raises(errors.InvalidArgumentError):
        files.stat("/")
    with pytest.raises(errors.PathIsADirectoryError):
        files.read("/home/user")
    files.write("/home/user/f", "x")
    with pytest.raises(errors.PathNotADirectoryError):
        files.list("/home/user/f")
    files.write("/home/user/d/f", "x")
    with pytest.raises(errors.NotEmptyError):
        files.remove("/home/user/d")
    with pytest.raises(errors.AlreadyExistsError):
        files.mkdir("/home/user/d")
    with pytest.raises(errors.AlreadyExistsError):
        files.mkdir("/home/user/f", exist_ok=True)
    with pytest.raises(errors.AlreadyExistsError):
        files.rename("/home/user/f", "/home/user/d/f")
    with pytest.raises(errors.InvalidArgumentError):
        files.unpack("/home/user/d", b"no archive at all")
    with pytest.raises(errors.NotFoundError), files.stream("/home/user/none") as pieces:
        list(pieces)
    with pytest.raises(errors.NotFoundError), files.watch("/home/user/none") as changes:
        list(changes)


def test_a_full_disk(client):
    with client.create(limits={"disk_mb": 2}) as small, pytest.raises(errors.NoSpaceError, match="disk_mb"):
        small.files.write("/home/user/big", b"x" * (4 << 20))


def test_processes_and_contexts_that_are_not_there(session):
    with pytest.raises(errors.NotFoundError):
        session.commands.connect(4711)
    with pytest.raises(errors.NotFoundError):
        session.contexts.remove("nope")
    with pytest.raises(errors.NotFoundError):
        session.execute("1", context="nope")
    with pytest.raises(errors.InvalidArgumentError):
        session.execute("1", language="cobol")
    with pytest.raises(errors.InvalidArgumentError):
        session.commands.run("")
    with pytest.raises(errors.NotFoundError):
        session.restore("snap_nope")


def test_a_session_that_has_ended(client):
    session = client.create()
    session.end()
    assert session.end().state == "stopped"
    for call in (lambda: session.execute("1"), lambda: session.commands.run("true"), lambda: session.fork(),
                 lambda: session.files.read("/etc/hostname"), lambda: session.pty.open()):
        with pytest.raises((errors.ConflictError, errors.NotFoundError)):
            call()
    assert session.refresh().state == "stopped"


def test_what_the_provider_cannot(client):
    with client.create(provider="virtual") as session:
        with pytest.raises(errors.UnsupportedError, match="capabilities"):
            session.pty.open()
        with pytest.raises(errors.UnsupportedError):
            session.pause()


def test_guest_failures_are_answers(session):
    failed = session.execute("1 / 0")
    assert failed.status == "error" and failed.error.name == "ZeroDivisionError" and not failed.ok
    with pytest.raises(errors.ExecutionFailedError, match="ZeroDivisionError") as caught:
        failed.check()
    assert caught.value.execution is failed
    slow = session.execute("while True: pass", timeout=0.5)
    assert slow.status == "timeout", slow
    command = session.commands.run("echo no >&2; exit 3")
    assert (command.status, command.exit_code, command.stderr) == ("error", 3, "no\n")
    with pytest.raises(errors.ExecutionFailedError, match="exit code 3"):
        command.check()


def test_a_policy_says_no(client):
    with client.create(policy="strict") as session:
        denied = session.execute("import os")
        assert denied.status == "denied" and denied.verdict.findings[0].rule == "forbidden-import"
        seen = []
        assert session.execute("import os", on_stdout=seen.append).status == "denied" and not seen
        assert session.commands.run("sudo ls").status == "denied"
        assert session.commands.run("sudo ls", on_stdout=seen.append).status == "denied" and not seen
        for follow in (True, False):
            with pytest.raises(errors.PolicyDeniedError):
                session.commands.start("sudo ls", follow=follow)


def test_an_answer_that_does_not_come(make_client, proxy):
    proxy.faults = [{"silent": True}]
    slow = make_client(url=proxy.url, timeout=0.3, retries=0)
    start = time.monotonic()
    with pytest.raises(errors.RequestTimeoutError, match="request_timeout"):
        slow.create()
    assert time.monotonic() - start < 10


def test_secrets_stay_out_of_logs(session):
    assert session.info.access_token and session.info.access_token not in repr(session) + repr(session.info)
