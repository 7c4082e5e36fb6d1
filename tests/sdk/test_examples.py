"""The examples as they stand: they end well and say what they should."""
import subprocess
import sys

import pytest
from conftest import HERE

EXAMPLES = HERE.parents[1] / "examples" / "python"
SAID = {
    "hello.py": "sum 6\nerror ZeroDivisionError\n",
    "streaming.py": "live 1\nlive 2\nlive 3\nhello you\nterminal ended with 3\n",
    "files.py": "changed b.txt\nlisted ['a.txt', 'b.txt']\narchived True\n"
                "hint: check the name or id; what belongs to another tenant is not found either\n",
    "forks.py": "fork 0 45\nfork 1 45\nfork 2 44\nfailures 0\nlater exists False\n",
    "many_tasks.py": "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]\n",
}


def test_every_example_is_run():
    assert {one.name for one in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.parametrize("name", sorted(SAID))
def test_an_example(daemon, name):
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, SAID[name]), done.stderr
