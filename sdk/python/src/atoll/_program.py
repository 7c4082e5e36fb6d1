"""The `atoll` program, for what needs no daemon: policies and settings."""
from __future__ import annotations

import os
import shutil
import subprocess
from typing import Mapping, Optional, Sequence

from .errors import ConfigurationError


def find_program(program: Optional[str] = None) -> str:
    """What was named, else ATOLL_PROGRAM, else `atoll` on the PATH; ConfigurationError if there is none."""
    wanted = program or os.environ.get("ATOLL_PROGRAM") or "atoll"
    found = shutil.which(wanted)
    if found is None:
        raise ConfigurationError(f"the program '{wanted}' was not found",
                                 hint="put `atoll` on the PATH, or name it in ATOLL_PROGRAM")
    return found


def run_program(program: str, words: Sequence[str], *, text: str = "", env: Optional[Mapping[str, str]] = None,
                timeout: float = 60) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run([program, *words], input=text, capture_output=True, encoding="utf-8",
                              errors="surrogateescape", timeout=timeout, check=False, env=env)
    except subprocess.TimeoutExpired:
        raise ConfigurationError(f"`atoll {words[0]}` did not end within {timeout:g} s") from None
    except OSError as error:
        raise ConfigurationError(f"{program} cannot be run: {error}") from error
