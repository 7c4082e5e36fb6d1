"""Inspect AI's own self-check, and a whole evaluation without a model."""
import atoll
import pytest
from atoll.integrations.inspect_ai import AtollConfig, AtollSandboxEnvironment
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import includes
from inspect_ai.solver import solver
from inspect_ai.util import SandboxEnvironmentSpec, sandbox
from inspect_ai.util._sandbox import self_check
from inspect_ai.util._sandbox.environment import SandboxUnavailableError
from inspect_ai.util._sandbox.registry import registry_find_sandboxenv
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

pytestmark = pytest.mark.anyio


def lacks_a_distribution(client):
    """Whether the environment is the programs of this machine, which come without /etc/skel and the like."""
    with client.create(environment="base") as session:
        return not session.files.exists("/etc/skel")


@pytest.fixture(scope="session")
def not_built(daemon):
    with atoll.SandboxClient() as client:
        return lacks_a_distribution(client)


@pytest.fixture
async def sandbox_env(daemon, not_built, request):
    if request.node.originalname == "test_exec_as_user" and not_built:
        request.applymarker(pytest.mark.xfail(reason="adduser needs a built environment: atoll env build base"))
    made = await AtollSandboxEnvironment.sample_init("check", None, {})
    yield made["default"]
    await AtollSandboxEnvironment.sample_cleanup("check", None, made, False)


def test_all_of_its_checks_are_run():
    assert len(self_check.__all__) >= 40


async def test_a_session_that_has_ended(sandbox_env):
    await sandbox_env.session.end()
    with pytest.raises(SandboxUnavailableError):
        await sandbox_env.exec(["true"])


async def test_cleanup_from_the_command_line(daemon):
    made = await AtollSandboxEnvironment.sample_init("left", AtollConfig(environment="host"), {})
    await AtollSandboxEnvironment.cli_cleanup(None)
    assert (await made["default"].session.refresh()).state == "stopped"
    await made["default"]._client.aclose()


@pytest.mark.parametrize("spec", ["atoll", SandboxEnvironmentSpec("atoll", AtollConfig(environment="host", limits={"memory_mb": 256}))])
def test_a_whole_evaluation(daemon, tmp_path, monkeypatch, spec):
    monkeypatch.chdir(tmp_path)
    assert registry_find_sandboxenv("atoll") is AtollSandboxEnvironment

    @solver
    def reads_the_note():
        async def solve(state, generate):
            done = await sandbox().exec(["sh", "-c", "cat note.txt; whoami"])
            state.output = ModelOutput.from_content("mockllm/model", done.stdout)
            return state

        return solve

    task = Task(dataset=[Sample(input="read the note", target="forty-two", files={"note.txt": "forty-two\n"})],
                solver=reads_the_note(), scorer=includes(), sandbox=spec)
    log = eval(task, model="mockllm/model", display="none", log_dir=str(tmp_path))[0]
    assert log.status == "success", log.error
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    assert log.samples[0].output.completion == "forty-two\nuser\n"
    with atoll.SandboxClient() as client:
        assert not list(client.list(state=["running"], metadata={"inspect_ai": "yes"}))
