"""Files: write, list, watch, archive."""
import io
import tarfile

from atoll import SandboxClient
from atoll.errors import NotFoundError

with SandboxClient() as client, client.create() as session:
    files = session.files
    files.write("/home/user/notes/a.txt", "first\n")
    with files.watch("/home/user/notes", timeout=30) as changes:
        files.write("/home/user/notes/b.txt", "second\n")
        print("changed", next(changes).name)
    print("listed", [entry.name for entry in files.list("/home/user/notes")])
    with tarfile.open(fileobj=io.BytesIO(files.archive("/home/user/notes"))) as archive:
        print("archived", len(archive.getnames()) >= 2)
    try:
        files.read("/home/user/none")
    except NotFoundError as error:
        print("hint:", error.hint)
