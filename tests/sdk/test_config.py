"""ConfigManager against `atoll config` itself."""
import os
import subprocess

import atoll
import pytest
from atoll import errors

PROGRAM = os.environ.get("ATOLL", "build/atoll")


@pytest.fixture
def config(tmp_path):
    def make(text=None, **more):
        file = None
        if text is not None:
            file = tmp_path / "config.yaml"
            file.write_text(text)
        more.setdefault("environment", {"HOME": str(tmp_path)})
        return atoll.ConfigManager(file, program=PROGRAM, **more)

    return make


@pytest.mark.parametrize("text, words", [
    ("listn: x\n", "config.yaml:1:1"), ("workers: many\n", "config.yaml:1:10"), ("tls: {keys: a}\n", "did you mean"),
    ("- a\n", "config.yaml"), ("a: [\n", "config.yaml"),
])
def test_files_with_mistakes(config, text, words):
    with pytest.raises(errors.ConfigurationError, match=words):
        config(text)


def test_other_mistakes(config, tmp_path):
    with pytest.raises(errors.ConfigurationError, match="ATOLL_WORKERS"):
        config(environment={"ATOLL_WORKERS": "many", "HOME": str(tmp_path)})
    with pytest.raises(errors.ConfigurationError, match="--set workers"):
        config(arguments={"workers": "many"})
    with pytest.raises(errors.ConfigurationError, match="no setting 'worker'"):
        config(arguments={"worker": "1"})
    with pytest.raises(errors.ConfigurationError, match="no setting 'worker'"):
        config().get("worker")
    with pytest.raises(errors.ConfigurationError, match="ATOLL_PROGRAM"):
        atoll.ConfigManager(program="/nonexistent/atoll")
    with pytest.raises(errors.ConfigurationError):
        atoll.ConfigManager(tmp_path / "none.yaml", program=PROGRAM)


def test_later_sources_win_and_each_value_has_its_origin(config, tmp_path):
    made = config("listen: 127.0.0.1:1\nworkers: 2\nsession:\n  ttl: 2h\ncors:\n  origins: [a, b]\n",
                  environment={"HOME": str(tmp_path), "ATOLL_WORKERS": "3", "ATOLL_SESSION_TTL": "3h",
                               "ATOLL_API_KEY": "e2b_" + "0" * 40, "ATOLL_URL": "http://x", "ATOLL_LISTN": "x"},
                  arguments={"session.ttl": "4h", "log.access": "/a # b"})
    file = str(tmp_path / "config.yaml")
    expected = {"listen": ("127.0.0.1:1", f"{file}:1"), "workers": ("3", "environment ATOLL_WORKERS"),
                "session.ttl": ("4h", "--set session.ttl"), "cors.origins": ("a,b", f"{file}:6"),
                "api_key": ("(set)", "environment ATOLL_API_KEY"), "log.level": ("info", "default"),
                "log.access": ("/a # b", "--set log.access"), "data": ("", "default")}
    assert {key: (made.get(key), made.origin(key)) for key in expected} == expected
    assert len(made.warnings) == 1 and "ATOLL_LISTN" in made.warnings[0]
    assert "workers = 3  [environment ATOLL_WORKERS]" in made.explain()
    assert made.explain("data").startswith("data = (empty)  [default]  directory")


def test_every_setting_of_the_program_is_there(config):
    said = subprocess.run([PROGRAM, "config"], capture_output=True, text=True, check=True).stdout
    made = config()
    assert list(made.values()) == [line.split(":", 1)[0] for line in said.splitlines()] and len(made.values()) > 50
    assert all(one.help for one in made.values().values())


def test_the_file_is_found(config, tmp_path):
    (tmp_path / "xdg/atoll").mkdir(parents=True)
    (tmp_path / "xdg/atoll/config.yaml").write_text("workers: 7\n")
    (tmp_path / "named.yaml").write_text("workers: 8\n")
    found = config(environment={"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    assert (found.get("workers"), found.origin("workers")) == ("7", str(tmp_path / "xdg/atoll/config.yaml") + ":1")
    named = config(environment={"XDG_CONFIG_HOME": str(tmp_path / "xdg"), "ATOLL_CONFIG": str(tmp_path / "named.yaml")})
    assert named.get("workers") == "8"
