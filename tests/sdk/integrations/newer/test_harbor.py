"""Harbor's own trials in sessions of Atoll, without a model: its oracle runs a task's solution, its verifier the tests."""
import asyncio
import json
import os
import pathlib
import subprocess
import sys

import atoll
import pytest
from atoll.integrations._dockerfile import DockerfileError, read_dockerfile
from atoll.integrations.harbor import AtollEnvironment
from harbor.environments.factory import EnvironmentFactory
from harbor.models.task.config import EnvironmentConfig, NetworkMode, NetworkPolicy
from harbor.models.trial.paths import TrialPaths

PATH = "atoll.integrations.harbor:AtollEnvironment"


@pytest.fixture
def definition(tmp_path):
    where = tmp_path / "environment"
    where.mkdir()
    (where / "tool.sh").write_text("#!/bin/sh\necho a tool\n")
    (where / "tool.sh").chmod(0o755)
    (where / "Dockerfile").write_text(
        "FROM base\nENV WHO=harbor LINE=\"two words\"\nWORKDIR /app\nCOPY tool.sh /app/bin/\n"
        "# a remark\nRUN echo built > made && \\\n    id -u >> made\n")
    return where


def make(definition, tmp_path, **more):
    paths = TrialPaths(tmp_path / "trial")
    paths.mkdir()
    options = {"network_policy": NetworkPolicy(network_mode=NetworkMode.NO_NETWORK), **more}
    return EnvironmentFactory.create_environment_from_import_path(
        PATH, environment_dir=definition, environment_name="task", session_id="task__x__env", trial_paths=paths,
        task_env_config=EnvironmentConfig(memory_mb=512, cpus=1), **options)


@pytest.mark.parametrize("text,match", [
    ("", "no FROM"), ("RUN x", "before FROM"), ("FROM a\nFROM b", "second FROM"), ("FROM a\nSHELL [\"x\"]", "SHELL"),
    ("FROM a\nCOPY --from=b x y", "stages"), ("FROM a\nADD https://x.y/z /z", "curl"), ("FROM a\nCOPY x", "target"),
    ("FROM a\nRUN <<E\nx\nE", "here-document"), ("FROM a\nRUN --mount=type=secret,id=x y", "secret"),
    ("FROM a\nCOPY a b /c", "end the target"), ("FROM a\nENV X", "NAME=VALUE"),
])
def test_what_cannot_be_carried_out_is_refused(tmp_path, text, match):
    (tmp_path / "Dockerfile").write_text(text)
    with pytest.raises(DockerfileError, match=match):
        read_dockerfile(tmp_path / "Dockerfile")


def test_nothing_to_build_from(tmp_path):
    (tmp_path / "none").mkdir()
    with pytest.raises(FileNotFoundError, match="docker_image"):
        make(tmp_path / "none", tmp_path)


def test_a_key_is_asked_for_first(monkeypatch):
    monkeypatch.delenv("ATOLL_API_KEY", raising=False)
    with pytest.raises(SystemExit, match="ATOLL_API_KEY"):
        AtollEnvironment.preflight()


def test_failures(daemon, definition, tmp_path):
    async def all_of_it():
        environment = make(definition, tmp_path)
        with pytest.raises(RuntimeError, match="not started"):
            await environment.exec("true")
        (definition / "Dockerfile").write_text("FROM base\nRUN echo no >&2; exit 3\n")
        with pytest.raises(RuntimeError, match="Dockerfile:2: .* ended with 3: no"):
            await make(definition, tmp_path).start(True)
        (definition / "Dockerfile").write_text("FROM base\nCOPY ../.. /x\n")
        with pytest.raises(DockerfileError, match="leads out"):
            await make(definition, tmp_path).start(True)
        with atoll.SandboxClient() as client:
            assert not list(client.list(state=["running"], metadata={"harbor": "yes"})), "nothing is left behind"

    asyncio.run(all_of_it())


def test_commands_and_files(daemon, definition, tmp_path):
    async def all_of_it():
        environment = make(definition, tmp_path)
        await environment.start(force_build=False)
        try:
            await used(environment)
        finally:
            await environment.stop(delete=True)
        # The second one begins with what the first one built.
        again = make(definition, tmp_path)
        await again.start(force_build=False)
        try:
            assert (await again.exec("cat made; ls")).stdout == "built\n0\nbin\nmade\n"
        finally:
            await again.stop(delete=True)

    async def used(environment):
        done = await environment.exec("cat made; bin/tool.sh; pwd; id -un; echo $WHO $LINE; echo err >&2; exit 4")
        assert done.stdout == "built\n0\na tool\n/app\nroot\nharbor two words\n", done
        assert (done.stderr, done.return_code) == ("err\n", 4)
        assert (await environment.exec("id -un; pwd", user="user", cwd="/tmp")).stdout == "user\n/tmp\n"
        assert (await environment.exec("echo $A", env={"A": "b"})).stdout == "b\n"
        with pytest.raises(RuntimeError, match="timed out after 1"):
            await environment.exec("sleep 60", timeout_sec=1)
        heard = []

        async def told(text, stream):
            heard.append((stream, text))

        with environment.scoped_output_callback(told):
            await environment.exec("echo one")
        assert heard == [("stdout", "one\n")]
        local = tmp_path / "up"
        (local / "deep").mkdir(parents=True)
        (local / "deep" / "run.sh").write_text("#!/bin/sh\necho ran\n")
        (local / "deep" / "run.sh").chmod(0o755)
        (local / "dangling").symlink_to("nowhere")
        await environment.upload_dir(local, "/tests")
        assert (await environment.exec("/tests/deep/run.sh; ls /tests")).stdout == "ran\ndeep\n"
        await environment.upload_file(local / "deep" / "run.sh", "/solution/run.sh")
        assert (await environment.exec("/solution/run.sh")).stdout == "ran\n"
        await environment.exec("mkdir -p /logs/v; echo 1 > /logs/v/reward.txt; ln -s none /logs/l")
        await environment.download_dir("/logs", tmp_path / "down")
        assert (tmp_path / "down/v/reward.txt").read_text() == "1\n"
        await environment.download_file("/logs/v/reward.txt", tmp_path / "one" / "reward")
        assert (tmp_path / "one" / "reward").read_text() == "1\n"
        assert await environment.is_dir("/logs") and await environment.is_file("/logs/v/reward.txt")
        await environment.download_dir_with_exclusions(source_dir="/logs", target_dir=tmp_path / "some", exclude=["v"])
        assert not (tmp_path / "some/v").exists()

    asyncio.run(all_of_it())


def test_a_trial_with_its_oracle(daemon, tmp_path):
    task = tmp_path / "tasks" / "hello"
    for name, text in {
        "task.toml": 'version = "1.0"\n[verifier]\ntimeout_sec = 60\n[agent]\ntimeout_sec = 60\n'
                     '[environment]\nnetwork_mode = "no-network"\nmemory_mb = 512\ncpus = 1\n',
        "instruction.md": "Write hello into /app/hello.txt.",
        "environment/Dockerfile": "FROM base\nWORKDIR /app\n",
        "solution/solve.sh": "#!/bin/bash\necho hello > /app/hello.txt\n",
        "tests/test.sh": "#!/bin/bash\nif [ \"$(cat /app/hello.txt)\" = hello ]; then echo 1; else echo 0; fi "
                         "> /logs/verifier/reward.txt\n",
    }.items():
        (task / name).parent.mkdir(parents=True, exist_ok=True)
        (task / name).write_text(text)
    harbor = pathlib.Path(sys.executable).with_name("harbor")
    done = subprocess.run([str(harbor), "run", "--path", str(task), "--agent", "oracle", "--env", PATH, "--jobs-dir",
                           str(tmp_path / "jobs"), "-n", "1"], text=True, capture_output=True, timeout=240, cwd=tmp_path,
                          env={**os.environ, "HOME": str(tmp_path), "HARBOR_TELEMETRY": "0", "DO_NOT_TRACK": "1"})
    results = [json.loads(one.read_text()) for one in tmp_path.glob("jobs/*/*/result.json")]
    assert done.returncode == 0 and len(results) == 1, done.stdout[-3000:] + done.stderr[-3000:]
    assert results[0]["exception_info"] is None, results[0]["exception_info"]
    assert results[0]["verifier_result"]["rewards"]["reward"] == 1, results[0]["verifier_result"]
    with atoll.SandboxClient() as client:
        assert not list(client.list(state=["running"], metadata={"harbor": "yes"}))
