"""Settings of the service: found, merged and explained by the rules of `atoll config`."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Union

from . import embedded
from ._program import find_program, run_program
from .errors import ConfigurationError, ProtocolError, ServiceError

# The client's own variables: no settings of the service, and no mistakes either.
_CLIENTS = ("ATOLL_URL", "ATOLL_PROGRAM")
_HINT = "`atoll config` lists the settings"


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
    this process's unless given. An unknown key or a wrong value is ConfigurationError with its place and a hint.

    The rules are Atoll's own: of the native module where the package has it, else of the program `atoll`, and always
    of the latter where `program` or ATOLL_PROGRAM names one."""

    def __init__(self, file: Union[str, Path, None] = None, *, environment: Optional[Mapping[str, str]] = None,
                 arguments: Optional[Mapping[str, str]] = None, program: Optional[str] = None) -> None:
        given = dict(os.environ if environment is None else environment)
        variables = {name: value for name, value in given.items() if name not in _CLIENTS}
        named = "" if file is None else os.fspath(file)
        told = {str(key): str(value) for key, value in (arguments or {}).items()}
        self.warnings: List[str] = []
        if program is None and not os.environ.get("ATOLL_PROGRAM") and embedded.available():
            values = self._loaded(named, variables, told)
        else:
            values = self._asked(find_program(program), named, variables, told)
        self._values: Dict[str, ConfigValue] = {one.key: one for one in values}

    def _loaded(self, file: str, variables: Mapping[str, str], arguments: Mapping[str, str]) -> List[ConfigValue]:
        ours = {name: value for name, value in variables.items() if name.startswith(("ATOLL_", "XDG_", "HOME"))}
        try:
            said = embedded.load_config(file, ours, arguments)
        except ServiceError as error:
            raise ConfigurationError(error.message, hint=_HINT) from error
        self.warnings = list(said["warnings"])
        return [ConfigValue(*one) for one in said["values"]]

    def _asked(self, program: str, file: str, variables: Mapping[str, str],
               arguments: Mapping[str, str]) -> List[ConfigValue]:
        words = ["config", "--json", *(["--config", file] if file else [])]
        for key, value in arguments.items():
            words += ["--set", f"{key}={value}"]
        done = run_program(program, words, env=variables)
        if done.returncode != 0:
            raise ConfigurationError(done.stderr.strip().replace("atoll: ", "", 1), hint=_HINT)
        self.warnings = [line.replace("atoll: ", "", 1) for line in done.stderr.splitlines()]
        try:
            return [ConfigValue(key, one["value"], one["origin"], one["help"])
                    for key, one in json.loads(done.stdout).items()]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ProtocolError("`atoll config --json` gave no settings") from None

    def get(self, key: str) -> str:
        return self.value(key).value

    def origin(self, key: str) -> str:
        return self.value(key).origin

    def value(self, key: str) -> ConfigValue:
        found = self._values.get(key)
        if found is None:
            raise ConfigurationError(f"there is no setting '{key}'", hint=_HINT)
        return found

    def values(self) -> Dict[str, ConfigValue]:
        return dict(self._values)

    def explain(self, key: Optional[str] = None) -> str:
        """Each setting, or one: its value, where it comes from, what it is for."""
        wanted = [self.value(key)] if key is not None else list(self._values.values())
        return "\n".join(f"{one.key} = {one.value or '(empty)'}  [{one.origin}]  {one.help}" for one in wanted)
