"""The blocks of the Python guide, as they are written: one program in a file, from the first to the last."""
import pathlib
import re
import runpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/guides/python.md"


def test_the_python_guide_runs_as_it_is_written(daemon, capsys, tmp_path):
    blocks = re.findall(r"((?:^<!-- run: [^\n]* -->\n)*)^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(blocks) == 3
    pieces = []
    for preludes, text in blocks:
        pieces += [*re.findall(r"<!-- run: (.*) -->", preludes), text]
    # A file, because a tool that is published is sent as the source of its class.
    program = tmp_path / "guide.py"
    program.write_text("\n".join(pieces))
    names = runpy.run_path(str(program))
    names["session"].end()
    names["client"].close()
    said = capsys.readouterr().out
    assert said.startswith("success 42\n") and " new.txt\n" in said, said


def test_the_first_screen_of_the_package_runs_as_it_is_written(daemon, capsys, tmp_path):
    block = re.search(r"^```python\n(.*?)^```", (ROOT / "sdk/python/README.md").read_text(), re.M | re.S)[1]
    (tmp_path / "readme.py").write_text(block)
    runpy.run_path(str(tmp_path / "readme.py"))
    assert capsys.readouterr().out == "42\n\n43\n"
