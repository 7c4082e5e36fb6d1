"""The provider that Deep Agents Code finds by its entry point."""
import asyncio

import atoll
import pytest
from deepagents_code.integrations.sandbox_provider import SandboxError, SandboxNotFoundError
from deepagents_code.integrations.sandbox_registry import SandboxRegistry


@pytest.fixture
def provider(daemon, tmp_path):
    registry = SandboxRegistry.load(tmp_path / "none.toml")
    assert "atoll" in registry.available_providers()
    assert registry.get_metadata("atoll").working_dir == "/home/user"
    return registry.create_provider("atoll")


def test_failures_are_its_own(provider, monkeypatch):
    with pytest.raises(SandboxNotFoundError):
        provider.get_or_create(sandbox_id="ses_none")
    with pytest.raises(SandboxError, match="environment"):
        provider.get_or_create(environment="no-such-environment")
    provider.delete(sandbox_id="ses_none")


def test_a_sandbox_that_is_found_again(provider):
    made = provider.get_or_create(environment="host")
    assert made.execute("echo kept > note; echo $((6 * 7))").output == "42\n"
    again = asyncio.run(provider.aget_or_create(sandbox_id=made.id))
    assert again.execute("cat note").output == "kept\n" and again.id == made.id
    provider.delete(sandbox_id=made.id)
    with atoll.SandboxClient() as client:
        assert client.get(made.id).state == "stopped"
