"""smolagents' own agent with a scripted model; its code runs in a session."""
import atoll
import pytest
from atoll.integrations.smolagents import AtollExecutor
from smolagents import CodeAgent, Model, Tool
from smolagents.models import ChatMessage, MessageRole
from smolagents.monitoring import AgentLogger, LogLevel
from smolagents.utils import AgentError


@pytest.fixture
def executor(daemon):
    made = AtollExecutor(["json"], AgentLogger(level=LogLevel.OFF))
    yield made
    made.cleanup()


def test_errors(executor):
    with pytest.raises(AgentError, match="ZeroDivisionError"):
        executor("1 / 0")
    with pytest.raises(AgentError, match="SyntaxError"):
        executor("def (")
    assert executor.install_packages(["no_such_package_anywhere"]) == []
    with atoll.SandboxClient() as client:
        before = {one.session_id for one in client.list(state=["running"])}
        with pytest.raises(AgentError, match="no network"):
            AtollExecutor(["no_such_package_anywhere"], AgentLogger(level=LogLevel.OFF))
        assert {one.session_id for one in client.list(state=["running"])} == before


def test_it_remembers(executor):
    assert executor("x = 20\nprint('set')").logs == "set\n"
    out = executor("x + 1")
    assert (out.output, out.is_final_answer) == ("21", False)
    executor.send_variables({"given": {"a": [1, 2]}})
    assert executor("given['a']").output == "[1, 2]"


class Doubler(Tool):
    name = "doubler"
    description = "Doubles a number."
    inputs = {"number": {"type": "integer", "description": "which"}}
    output_type = "integer"

    def forward(self, number: int) -> int:
        return number * 2


class Scripted(Model):
    def __init__(self, *steps):
        super().__init__()
        self.steps = list(steps)

    def generate(self, messages, **kwargs):
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"Thought: go on\n<code>\n{self.steps.pop(0)}\n</code>")


def test_an_agent(executor, daemon):
    model = Scripted("y = doubler(number=21)\nprint(y)", "final_answer({'answer': y})")
    agent = CodeAgent(tools=[Doubler()], model=model, executor=executor, verbosity_level=LogLevel.OFF)
    assert agent.run("double 21") == {"answer": 42}
    with atoll.SandboxClient() as client:
        assert any("doubler" in one.code for one in client.history(session_id=executor.session.id))
