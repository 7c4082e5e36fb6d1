"""Settings of the service: found, merged and explained by the rules of `atoll config`, which does the work."""
from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Mapping, Optional, Union

from ._program import find_program, run_program
from .errors import ConfigurationError, ProtocolError

# The client's own variables: no settings of the service, and no mistakes either.
_CLIENTS = ("ATOLL_URL", "ATOLL_PROGRAM")


@dataclass(frozen=True)
class ConfigValue:
    """`origin` is default, FILE:LINE, environment NAME or --set KEY. A secret's value is "(set)", never the secret."""

    key: str
    value: str
    origin: str
    help: str


class ConfigManager:
    """Merges, in order of growing priority, defaults, a file, variables ATOLL_*, and arguments.

    `file` is named here, else by ATOLL_CONFIG, else found in $XDG_CONFIG_HOME/atoll and /etc/atoll. `environment` is
    this process's unless given. An unknown key or a wrong value is ConfigurationError with its place and a hint."""

    def __init__(self, file: Union[str, Path, None] = None, *, environment: Optional[Mapping[str, str]] = None,
                 arguments: Optional[Mapping[str, str]] = None, program: Optional[str] = None) -> None:
        self._program = find_program(program)
        given = dict(os.environ if environment is None else environment)
        variables = {name: value for name, value in given.items() if name not in _CLIENTS}
        plain = {name: value for name, value in given.items() if not name.startswith(("ATOLL_", "XDG_", "HOME"))}
        # With nothing given, a line has a default and the help text alone, so that values need no guessing afterwards.
        with tempfile.NamedTemporaryFile(suffix=".yaml") as nothing:
            helps = {key: rest for key, _, rest in self._lines(["--config", nothing.name], plain)}
        words: List[str] = []
        if file is not None:
            words += ["--config", os.fspath(file)]
        for key, value in (arguments or {}).items():
            words += ["--set", f"{key}={value}"]
        self.warnings: List[str] = []
        self._values: Dict[str, ConfigValue] = {}
        for key, text, rest in self._lines(words, variables):
            help_text = helps[key].split("; ", 1)[1]
            whole = f"{text}# {rest}"
            if not whole.endswith("; " + help_text):
                raise ProtocolError(f"`atoll config` wrote a line for '{key}' that cannot be read")
            value, _, origin = whole[:-len(help_text) - 2].rpartition("# ")
            value = value.strip()
            self._values[key] = ConfigValue(key, "" if value == '""' else value, origin, help_text)

    def _lines(self, words: List[str], env: Mapping[str, str]) -> Iterator[List[str]]:
        done = run_program(self._program, ["config", *words], env=env)
        if done.returncode != 0:
            raise ConfigurationError(done.stderr.strip().replace("atoll: ", "", 1),
                                     hint="`atoll config` lists the settings")
        self.warnings = [line.replace("atoll: ", "", 1) for line in done.stderr.splitlines()]
        for line in done.stdout.splitlines():
            key, _, after = line.partition(":")
            value, _, rest = after.partition("# ")
            yield [key, value, rest]

    def get(self, key: str) -> str:
        return self.value(key).value

    def origin(self, key: str) -> str:
        return self.value(key).origin

    def value(self, key: str) -> ConfigValue:
        found = self._values.get(key)
        if found is None:
            raise ConfigurationError(f"there is no setting '{key}'", hint="`atoll config` lists the settings")
        return found

    def values(self) -> Dict[str, ConfigValue]:
        return dict(self._values)

    def explain(self, key: Optional[str] = None) -> str:
        """Each setting, or one: its value, where it comes from, what it is for."""
        wanted = [self.value(key)] if key is not None else list(self._values.values())
        return "\n".join(f"{one.key} = {one.value or '(empty)'}  [{one.origin}]  {one.help}" for one in wanted)
