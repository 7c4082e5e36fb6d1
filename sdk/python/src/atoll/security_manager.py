"""What a policy says of code. The judgement is Atoll's own: of the daemon, of the native module, or of `atoll check`."""
from __future__ import annotations

import enum
import json
import os
from dataclasses import dataclass
from typing import List, Optional

from . import embedded
from ._program import find_program, run_program
from ._sync.client import SandboxClient
from .errors import ConfigurationError, InvalidArgumentError, ProtocolError, ServiceError
from .models import Finding, Verdict, parse

_NAMED = ("strict", "standard", "off")


class RiskLevel(enum.IntEnum):
    """Ordered: a higher one is worse."""

    NONE = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4


@dataclass(frozen=True)
class SecurityResult:
    """`findings` are the reasons; `recommendations` say once each what to do about them."""

    allowed: bool
    risk: RiskLevel
    findings: List[Finding]
    recommendations: List[str]


class SecurityManager:
    """Validates code against a policy; nothing is run.

    `config_path` is a YAML file, or the name of a policy that Atoll ships: strict, standard, off. A name is asked of
    the service where `client` is given. Else, and for files, because the service takes no policies from its clients,
    the judgement is made here: in this process where the package has its native module, and by the program `atoll`
    where it has not, or where `program` or ATOLL_PROGRAM names one. Usable from several threads."""

    def __init__(self, config_path: str = "strict", *, client: Optional[SandboxClient] = None,
                 program: Optional[str] = None) -> None:
        self.config_path = os.fspath(config_path)
        is_name = self.config_path in _NAMED
        if not is_name and not os.path.isfile(self.config_path):
            raise ConfigurationError(f"there is no policy '{self.config_path}'",
                                     hint="name a YAML file, or one of " + ", ".join(_NAMED))
        self._client = client if is_name else None
        here = self._client is None and program is None and not os.environ.get("ATOLL_PROGRAM") and embedded.available()
        self._policy = self._loaded(is_name) if here else None
        self._program = "" if self._client or self._policy else find_program(program)
        self._verdict("", "python")  # a file with mistakes is told here, with their lines

    def _loaded(self, is_name: bool) -> embedded.Policy:
        try:
            return embedded.Policy(self.config_path) if is_name else embedded.Policy(file=self.config_path)
        except ServiceError as error:
            raise ConfigurationError(error.message, hint="correct the policy") from error

    def _verdict(self, code: str, language: str) -> Verdict:
        if self._policy is not None:
            return self._policy.validate(code, language)
        if self._client is not None:
            return self._client.validate(code, language=language, policy=self.config_path)
        words = ["check", "--json", "--language", language, "--policy", self.config_path, "-"]
        done = run_program(self._program, words, text=code)
        if done.returncode not in (0, 1):
            message = done.stderr.strip() or f"`atoll check` ended with status {done.returncode}"
            if "language" in message and self.config_path not in message:
                raise InvalidArgumentError(message, code="invalid_argument", field="language")
            raise ConfigurationError(message, hint="correct the policy")
        try:
            return parse(Verdict.from_json, json.loads(done.stdout), "verdict")
        except ValueError:
            raise ProtocolError("`atoll check` gave no JSON") from None

    def validate(self, code: str, language: str) -> SecurityResult:
        verdict = self._verdict(code, language)
        recommendations = list(dict.fromkeys(one.recommendation for one in verdict.findings if one.recommendation))
        return SecurityResult(verdict.allowed, RiskLevel[verdict.risk.upper()], verdict.findings, recommendations)

    def validate_python_code(self, code: str) -> SecurityResult:
        return self.validate(code, "python")

    def validate_javascript_code(self, code: str) -> SecurityResult:
        return self.validate(code, "javascript")

    def validate_shell_code(self, code: str) -> SecurityResult:
        return self.validate(code, "shell")

    def check_imports(self, code: str, language: str) -> List[str]:
        """The modules that the code imports and the policy forbids, each once, in the order of the code."""
        verdict = self._verdict(code, language)
        lines = code.splitlines()
        found = {}
        for finding in verdict.findings:
            if finding.rule not in ("forbidden-import", "forbidden-pattern"):
                continue
            at = lines[finding.line - 1][finding.column - 1:] if 0 < finding.line <= len(lines) else ""
            for one in verdict.raw["imports"]:
                name = str(one["name"])
                if one["line"] == finding.line and (f"module {name} " in finding.message or at.startswith(name)):
                    found[name] = True
        return list(found)

    def analyze_security_risk(self, code: str, language: str) -> RiskLevel:
        return RiskLevel[self._verdict(code, language).risk.upper()]
