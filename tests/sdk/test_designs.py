"""The designs' own names: directories with skills, the lifecycle, records, security, execution."""
import dataclasses
import inspect
import json
import os
import pathlib
import typing

import atoll
import pytest
from atoll import errors

POLICIES = """\
python:
  forbidden_imports: [os, subprocess, sys, socket]
  forbidden_functions: [eval, exec, compile]
  forbidden_patterns: ["__import__", "globals()", "locals()"]
javascript:
  forbidden_patterns: ["require('fs')", "require('child_process')", "process.exit", "eval("]
shell:
  forbidden_commands: [rm, sudo, chmod, chown]
  forbidden_patterns: [">/dev/", "curl", "wget"]
"""
LIMITS = {
    "default_limits": {"memory_mb": 512, "cpu_cores": 1, "execution_time_seconds": 30, "max_processes": 5,
                       "disk_mb": 100},
    "language_specific": {"python": {"memory_mb": 512, "execution_time_seconds": 30},
                          "shell": {"memory_mb": 128, "execution_time_seconds": 10}},
}


@pytest.fixture
def here(daemon, tmp_path, monkeypatch):
    """A directory with skills, as the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATOLL_PROGRAM", os.environ["ATOLL"])
    (tmp_path / "skills/web").mkdir(parents=True)
    (tmp_path / "skills/web/__init__.py").write_text('"""Reach the web."""\n')
    (tmp_path / "skills/web/http.py").write_text('def fetch(url):\n    return "fetched " + url\n')
    (tmp_path / "skills/pdf").mkdir()
    (tmp_path / "skills/pdf/SKILL.md").write_text("---\nname: pdf\ndescription: >-\n  Fill forms\n  in documents\n---\nx")
    (tmp_path / "skills/one.py").write_text('"""A single file.\n\nMore."""\n')
    (tmp_path / "skills/broken.py").write_text("def (")
    (tmp_path / "skills/notes.txt").write_text("no skill")
    (tmp_path / "policies.yaml").write_text(POLICIES)
    return tmp_path


# Sandbox


def test_a_sandbox_that_cannot_be_made(here):
    (here / "file").write_text("")
    for skills in ("./none", "./file", "./box/inside"):
        (here / "box/inside").mkdir(parents=True, exist_ok=True)
        with pytest.raises(errors.ConfigurationError):
            atoll.Sandbox(sandbox_dir="./box", skills_dir=skills)
    with pytest.raises(OSError):
        atoll.Sandbox(sandbox_dir="./file/below", skills_dir="./skills")
    with pytest.raises(errors.ConfigurationError, match="client"):
        atoll.Sandbox(sandbox_dir="./box").execute("1")


def test_the_sandbox_as_the_design_writes_it(here):
    from atoll.infrastructure.sandbox import Sandbox

    sandbox = Sandbox(
        sandbox_dir="./sandbox/agent1",
        skills_dir="./skills"
    )
    assert sandbox.sandbox_dir == here / "sandbox/agent1" and sandbox.sandbox_dir.is_absolute()
    assert sandbox.skills_link == sandbox.sandbox_dir / "skills" and sandbox.skills_link.is_symlink()
    assert sandbox.list_skills() == ("Available skills:\n- broken\n- one: A single file.\n"
                                     "- pdf: Fill forms in documents\n- web: Reach the web.")
    (here / "skills/web/new.py").write_text("")
    assert (sandbox.skills_link / "web/new.py").exists()
    Sandbox("./sandbox/agent1", "./skills")
    assert sandbox.skills_link.is_symlink()
    sandbox.cleanup()
    assert not sandbox.sandbox_dir.exists() and (here / "skills/web/http.py").exists()
    assert Sandbox("./sandbox/agent2").list_skills() == "No skills available."


def test_skills_are_copied_where_links_are_not(here, monkeypatch):
    def refuse(*_, **__):
        raise OSError("no links here")

    monkeypatch.setattr("pathlib.Path.symlink_to", refuse)
    for _ in range(2):
        sandbox = atoll.Sandbox("./a", "./skills")
        assert sandbox.skills_link.is_dir() and not sandbox.skills_link.is_symlink()
        assert "web: Reach" in sandbox.list_skills()
    sandbox.cleanup()
    assert (here / "skills/web/http.py").exists()


@pytest.mark.parametrize("copy", [False, True])
def test_the_directory_is_shown_in_a_session(here, plain, copy):
    with atoll.Sandbox("./box", "./skills", client=plain, copy_skills=copy) as sandbox:
        (here / "box/in.txt").write_text("one")
        (here / "box/gone.txt").write_text("x")
        done = sandbox.execute("from skills.web.http import fetch\nimport os\nprint(fetch('a'), sorted(os.listdir('.')))")
        assert done.stdout == "fetched a ['gone.txt', 'in.txt', 'skills']\n", done
        assert sandbox.execute("fetch('b')").text == "'fetched b'"
        code = ("os.remove('gone.txt'); os.makedirs('new/er'); open('new/er/f', 'w').write('made')\n"
                "open('in.txt', 'w').write('two'); open('skills/evil.py', 'w').write('x')")
        assert sandbox.execute(code).status == "success"
        assert (here / "box/new/er/f").read_text() == "made" and (here / "box/in.txt").read_text() == "two"
        assert not (here / "box/gone.txt").exists()
        assert not (here / "skills/evil.py").exists() and not (here / "box/skills/evil.py").exists()
        (here / "box/in.txt").unlink()
        assert sandbox.run("pwd; ls").stdout == "/home/user/sandbox\nnew\nskills\n"
        session_id = sandbox.session.id
    assert plain.get(session_id).state == "stopped" and (here / "box/new/er/f").exists()


def test_a_sandbox_cannot_write_outside_its_directory(here, plain):
    with atoll.Sandbox("./box", client=plain) as sandbox:
        sandbox.run("ln -s /etc/passwd link; ln -s / root; mkfifo pipe; echo x > f").check()
        assert sorted(one.name for one in (here / "box").iterdir()) == ["f"]


# Lifecycle


def test_the_lifecycle_as_the_design_writes_it(here, plain):
    from atoll.lifecycle import Lifecycle

    lifecycle = Lifecycle(
        storage_path="./storage",
        runtime_path="./sandbox_runtime",
        e2b_api_key="your_key"
    )
    session = lifecycle.start(
        agent_config={"type": "code_executor"},
        environment="Python3",
        provider="e2b"
    )
    result = lifecycle.sandbox_mgr.execute_code(
        session_id=session["session_id"],
        code="print('Hello World')"
    )
    assert set(session) == {"session_id", "sandbox_id", "provider", "url"} and session["provider"] == "native"
    assert result.stdout == result["stdout"] == "Hello World\n" and result["artifacts"] == [] and result["results"] == []
    lifecycle.sandbox_mgr.execute_code(session["session_id"], "open('output/a b.txt', 'w').write('kept')")
    lifecycle.stop(session["session_id"], session["sandbox_id"])
    assert plain.get(session["session_id"]).state == "stopped"
    noted = json.loads((here / f"storage/sessions/{session['session_id']}.json").read_text())
    assert noted["state"] == "stopped" and noted["agent_config"] == {"type": "code_executor"}
    assert pathlib.Path(noted["artifacts"][0]["file"]).read_text() == "kept"
    lifecycle.stop(session["session_id"], session["sandbox_id"])
    lifecycle.close()


def test_the_lifecycle_refuses(here, monkeypatch):
    lifecycle = atoll.Lifecycle("./storage", "./run")
    with pytest.raises(errors.InvalidArgumentError) as caught:
        lifecycle.sandbox_mgr.start_sandbox("mine", "Python3", provider="nowhere")
    assert caught.value.field == "provider"
    with pytest.raises(errors.NotFoundError):
        lifecycle.sandbox_mgr.execute_code("mine", "1")
    facts = lifecycle.sandbox_mgr.start_sandbox("mine", "Python3", provider="e2b")
    assert facts["session_id"] == "mine" and lifecycle.sandbox_mgr.execute_code("mine", "1 + 1").text == "2"
    with pytest.raises(errors.InvalidArgumentError):
        lifecycle.sandbox_mgr.start_sandbox("mine")
    with pytest.raises(errors.AtollError):
        lifecycle.stop("mine", "another")
    assert lifecycle.sandbox_mgr.execute_code("mine", "1").status == "success"
    lifecycle.stop("mine", facts["sandbox_id"])
    monkeypatch.delenv("ATOLL_API_KEY")
    with pytest.raises(errors.UnauthenticatedError):
        atoll.Lifecycle("./storage", "./run", "your_key").start()


# Records


def test_records_have_the_fields_of_the_design():
    names = [one.name for one in dataclasses.fields(atoll.ExecutionRecord)]
    assert names == ["timestamp", "type", "code", "status", "stdout", "stderr", "error", "traceback", "metadata"]
    plain = atoll.ExecutionRecord("t", "python", "1", "success")
    assert (plain.stdout, plain.traceback, plain.metadata) == ("", "", {})
    hints = typing.get_type_hints(atoll.ExecutionRecordData)
    assert list(hints) == ["type", "code", "command", "status", "stdout", "stderr", "error", "traceback", "returncode",
                           "metadata"]
    assert atoll.ExecutionRecordData.__total__ is False
    made = atoll.ExecutionRecord.from_data({"command": "false", "returncode": 1})
    assert (made.type, made.code, made.status, made.metadata) == ("shell", "false", "error", {"returncode": 1})
    assert atoll.ExecutionRecord.from_data({"code": "1"}).status == "success"


def test_records_of_the_service(plain):
    with plain.create() as session:
        session.execute("1 / 0")
        record = atoll.ExecutionRecord.from_record(next(iter(session.history())))
    assert (record.type, record.code, record.status) == ("python", "1 / 0", "error")
    assert record.error.startswith("ZeroDivisionError") and "Traceback" in record.traceback


# SecurityManager


def test_policies_that_cannot_be_read(here, monkeypatch):
    for wrong in ("nope", "./none.yaml"):
        with pytest.raises(errors.ConfigurationError, match="no policy"):
            atoll.SecurityManager(wrong)
    (here / "bad.yaml").write_text("python:\n  forbidden_import: [os]\n")
    with pytest.raises(errors.ConfigurationError, match="bad.yaml:2:3"):
        atoll.SecurityManager(config_path=str(here / "bad.yaml"))
    monkeypatch.setenv("ATOLL_PROGRAM", "/nonexistent/atoll")
    with pytest.raises(errors.ConfigurationError, match="ATOLL_PROGRAM"):
        atoll.SecurityManager("strict")


@pytest.mark.parametrize("how", ["file", "program", "daemon"])
def test_the_security_manager(here, plain, how):
    manager = {"file": lambda: atoll.SecurityManager(config_path="policies.yaml"),
               "program": lambda: atoll.SecurityManager("strict"),
               "daemon": lambda: atoll.SecurityManager("strict", client=plain)}[how]()
    denied = manager.validate_python_code("import os\nos.system('ls')")
    assert not denied.allowed and denied.risk >= atoll.RiskLevel.HIGH and denied.findings[0].line == 1
    assert denied.recommendations and len(set(denied.recommendations)) == len(denied.recommendations)
    fine = manager.validate_python_code("print('grüße')")
    assert fine.allowed and fine.risk == atoll.RiskLevel.NONE and not fine.findings and not fine.recommendations
    assert not manager.validate_javascript_code("require('child_process')").allowed
    assert manager.validate_javascript_code("console.log(1)").allowed
    assert not manager.validate_shell_code("sudo rm -rf x").allowed and manager.validate_shell_code("echo hi").allowed
    code = "if 1:\n    import json, os.path as p, sys\n    from socket import socket\n    import os.path"
    assert manager.check_imports(code, "python") == ["os.path", "sys", "socket"]
    assert manager.check_imports("import json", "python") == []
    assert manager.check_imports("import fs from 'fs'; import x from 'x'", "javascript") == ["fs"]
    assert manager.analyze_security_risk("print(1)", "python") == atoll.RiskLevel.NONE
    assert manager.analyze_security_risk("import os, sys, socket", "python") >= atoll.RiskLevel.HIGH
    with pytest.raises(errors.InvalidArgumentError):
        manager.validate("x", "cobol")


# ExecutionEngine


def test_the_engine(here, plain):
    engine = atoll.ExecutionEngine(atoll.SecurityManager("policies.yaml"), atoll.ResourceMonitor(LIMITS))
    denied = engine.execute_code("import os", "python", atoll.ExecutionContext(metadata={"who": "me"}))
    assert denied.status == "denied" and denied.execution is None and "os" in denied.error
    done = engine.execute_code("print(1 + 1)", "python", atoll.ExecutionContext())
    assert (done.status, done.stdout) == ("success", "2\n") and done.usage.wall_seconds > 0
    assert plain.get(done.execution.session_id).state == "stopped"
    assert engine.execute_code("while True: pass", "python", atoll.ExecutionContext(timeout=0.5)).status == "timeout"

    environment = engine.prepare_environment("shell")
    assert plain.get(environment.session_id).info.limits["memory_mb"] == 128 == environment.limits["memory_mb"]
    kept = atoll.ExecutionContext(env_id=environment.env_id, env={"A": "b"})
    engine.execute_code("echo $A > f", "shell", kept)
    assert engine.execute_code("cat f", "shell", kept).stdout == "b\n"
    assert engine.cleanup_environment(environment.env_id) is True
    assert engine.cleanup_environment(environment.env_id) is False
    assert plain.get(environment.session_id).state == "stopped"
    with pytest.raises(errors.NotFoundError):
        engine.execute_code("cat f", "shell", kept)

    history = engine.get_execution_history()
    assert [one.status for one in history] == ["success", "success", "timeout", "success", "denied"]
    assert history[-1].metadata == {"who": "me"} and history[0].metadata["usage"]["wall_seconds"] > 0
    assert len(engine.get_execution_history(limit=2)) == 2 and engine.get_execution_history(0) == []
    left = engine.prepare_environment("python")
    engine.close()
    assert plain.get(left.session_id).state == "stopped"


def test_the_engine_enforces_memory(here):
    engine = atoll.ExecutionEngine(atoll.SecurityManager("off"), atoll.ResourceMonitor({"memory_mb": 64}))
    assert engine.execute_code("x = bytearray(200 << 20)", "python").status in ("oom", "error")
    engine.close()


# Signatures as the third design writes them: names, order, defaults.
SIGNATURES = {
    atoll.SecurityManager: {
        "__init__": "config_path", "validate_python_code": "code", "validate_javascript_code": "code",
        "validate_shell_code": "code", "check_imports": "code, language", "analyze_security_risk": "code, language"},
    atoll.ResourceMonitor: {
        "__init__": "limits_config", "start_monitoring": "process_id", "get_current_usage": "session_id",
        "check_limits": "session_id", "terminate_if_exceeded": "session_id", "get_performance_metrics": "session_id"},
    atoll.ExecutionEngine: {
        "__init__": "security_manager, resource_monitor", "execute_code": "code, language, context",
        "prepare_environment": "language", "cleanup_environment": "env_id", "get_execution_history": "limit=100"},
}


@pytest.mark.parametrize("kind", SIGNATURES, ids=lambda kind: kind.__name__)
def test_signatures_are_the_designs(kind):
    for name, wanted in SIGNATURES[kind].items():
        given = [one for one in inspect.signature(getattr(kind, name)).parameters.values() if one.name != "self"]
        for parameter, written in zip(given, wanted.split(", ")):
            word, _, default = written.partition("=")
            assert parameter.name == word and parameter.kind is parameter.POSITIONAL_OR_KEYWORD, (name, written)
            assert not default or parameter.default == int(default), (name, written)
        assert len(given) >= len(wanted.split(", ")), name
        # What we add beyond the design may be left out.
        assert all(one.default is not one.empty for one in given[len(wanted.split(", ")):]), name


def test_providers_behind_one_call_as_the_design_writes_them(here):
    manager = atoll.Lifecycle(storage_path="./storage", runtime_path="./sandbox_runtime").sandbox_mgr
    session_id = "one"
    facts = manager.start_sandbox(session_id, "Python3", provider="e2b")
    assert manager.execute_code(session_id, "6 * 7").text == "42" and facts["session_id"] == session_id
    # Without an engine the answer names what is missing, and nothing is left behind.
    with pytest.raises(errors.AtollError, match="docker"):
        manager.start_sandbox("two", "python:latest", provider="docker")
    with pytest.raises(errors.NotFoundError):
        manager.execute_code("two", "1")
