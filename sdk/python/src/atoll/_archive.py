"""Trees of this machine to tar and back."""
from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import IO, Set, Tuple

from .errors import ConfigurationError


def pack(directory: Path) -> IO[bytes]:
    """A tar of what is below the directory, in a temporary file that the caller closes. Links are followed, each real
    directory once on a way down, so that a link to a parent does not go on for ever. What is neither file nor
    directory is left out."""
    if not directory.is_dir():
        raise ConfigurationError(f"{directory} is no directory", hint="make it, or name another")
    out: IO[bytes] = tempfile.TemporaryFile()
    try:
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
            _add(archive, directory, "", set())
        out.seek(0)
    except BaseException:
        out.close()
        raise
    return out


def _add(archive: tarfile.TarFile, directory: Path, prefix: str, above: Set[Tuple[int, int]]) -> None:
    facts = os.stat(directory)
    here = (facts.st_dev, facts.st_ino)
    if here in above:
        return
    for entry in sorted(os.scandir(directory), key=lambda one: one.name):
        name = prefix + entry.name
        try:
            is_directory, is_file = entry.is_dir(), entry.is_file()
        except OSError:
            continue
        if not is_directory and not is_file:
            continue
        info = tarfile.TarInfo(name)
        found = entry.stat()
        info.mode, info.mtime = found.st_mode & 0o7777, int(found.st_mtime)
        if is_directory:
            info.type = tarfile.DIRTYPE
            archive.addfile(info)
            _add(archive, Path(entry.path), name + "/", above | {here})
            continue
        with open(entry.path, "rb") as content:
            info.size = os.fstat(content.fileno()).st_size
            archive.addfile(info, content)


def unpack(source: IO[bytes], directory: Path) -> None:
    """Regular files and directories of an archive that is not trusted. A name that leads out of the directory, also
    through a link that already stands there, is tarfile.TarError; links and devices are left out."""
    directory.mkdir(parents=True, exist_ok=True)
    root = os.path.realpath(directory)
    with tarfile.open(fileobj=source, mode="r|*") as archive:
        for member in archive:
            if not (member.isreg() or member.isdir()):
                continue
            target = os.path.realpath(os.path.join(root, member.name))
            if target != root and not target.startswith(root + os.sep):
                raise tarfile.TarError(f"'{member.name}' leads out of the directory")
            if member.isdir():
                os.makedirs(target, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            content = archive.extractfile(member)
            assert content is not None
            with open(target, "wb") as out:
                shutil.copyfileobj(content, out)
            os.chmod(target, member.mode & 0o777)


def unpack_bytes(data: bytes, directory: Path, without: str) -> Set[str]:
    """As unpack(), from memory and without what is below the name `without`; the names that the archive has."""
    names: Set[str] = set()
    kept = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(data)) as source, tarfile.open(fileobj=kept, mode="w") as target:
        for member in source:
            name = os.path.normpath(member.name)
            names.add(name)
            if name.split("/", 1)[0] != without:
                target.addfile(member, source.extractfile(member) if member.isreg() else None)
    kept.seek(0)
    unpack(kept, directory)
    return names - {"."}


def names_below(directory: Path) -> Set[str]:
    """Relative names of all that pack() would take, links to directories followed once."""
    found: Set[str] = set()
    with pack(directory) as packed, tarfile.open(fileobj=packed) as archive:
        found.update(archive.getnames())
    return found
