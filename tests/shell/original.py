"""How the originals, bash and the programs it starts, are asked: in a directory of their own and never as root.

A case is a script; one that sets the clock, mounts or kills must find itself without the right to do so.
"""
import contextlib, os, shutil, tempfile

NOBODY = 65534


def user():
    """What subprocess needs to start a program without root's rights; nothing when there are none to drop."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


@contextlib.contextmanager
def directory():
    """An empty directory in /tmp that belongs to the user of user(), gone at the end."""
    path = tempfile.mkdtemp(prefix="atoll-shell-", dir="/tmp")
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def plain(output):
    """GNU programs quote with typographic marks in UTF-8 and ours with plain ones; both count as the same."""
    return output.replace("\u2018".encode(), b"'").replace("\u2019".encode(), b"'")
