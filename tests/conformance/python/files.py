"""files: reading, writing, looking, watching."""
import asyncio
import hashlib
import io
from concurrent.futures import ThreadPoolExecutor

import e2b
from e2b import FileType

from harness import a, check, eventually, raises


@check
async def text_bytes_and_streams(api):
    async with api.sandbox() as box:
        written = await a(box.files.write("dir/ä b 漢.txt", "text"))
        assert written.path == "/home/user/dir/ä b 漢.txt" and written.name == "ä b 漢.txt"
        assert await a(box.files.read("dir/ä b 漢.txt")) == "text"
        every = bytes(range(256)) * 40
        await a(box.files.write("bytes", every))
        assert await a(box.files.read("bytes", format="bytes")) == every
        await a(box.files.write("io", io.BytesIO(every)))
        got = await a(box.files.read("io", format="stream"))
        pieces = [piece async for piece in got] if api.is_async else list(got)
        assert b"".join(pieces) == every
        await a(box.files.write("empty", ""))
        assert await a(box.files.read("empty")) == "" and (await a(box.files.get_info("empty"))).size == 0
        await a(box.files.write("zipped", "z" * 100_000, gzip=True))
        assert await a(box.files.read("zipped", gzip=True)) == "z" * 100_000
        await a(box.files.write("octets", b"raw", use_octet_stream=True))
        assert await a(box.files.read("octets")) == "raw"


@check
async def several_files_and_metadata(api):
    async with api.sandbox() as box:
        many = await a(box.files.write_files([{"path": "a", "data": "1"}, {"path": "deep/b", "data": b"2"}]))
        assert [one.path for one in many] == ["/home/user/a", "/home/user/deep/b"]
        await a(box.files.write("noted", "x", metadata={"Kind": "note"}))
        assert (await a(box.files.get_info("noted"))).metadata == {"kind": "note"}
        await a(box.files.write("noted", "y"))
        assert not (await a(box.files.get_info("noted"))).metadata


@check
async def looking_and_changing(api):
    async with api.sandbox() as box:
        assert await a(box.files.make_dir("new/er")) is True and await a(box.files.make_dir("new/er")) is False
        await a(box.files.write("new/file", "12345"))
        await a(box.commands.run("ln -s file /home/user/new/link; chmod 640 /home/user/new/file"))
        listed = await a(box.files.list("new"))
        assert [one.name for one in listed] == ["er", "file", "link"]
        assert [one.type for one in listed][:2] == [FileType.DIR, FileType.FILE]
        info = await a(box.files.get_info("new/file"))
        assert info.size == 5 and info.mode == 0o640 and info.owner == "user" and info.permissions == "-rw-r-----"
        assert (await a(box.files.get_info("new/link"))).symlink_target == "/home/user/new/file"
        assert await a(box.files.exists("new/file")) and not await a(box.files.exists("none"))
        moved = await a(box.files.rename("new/file", "moved/away"))
        assert moved.path == "/home/user/moved/away"
        await a(box.files.remove("new"))
        await a(box.files.remove("new"))
        assert [one.path for one in await a(box.files.list("/home/user", depth=2)) if "moved" in one.path] == \
            ["/home/user/moved", "/home/user/moved/away"]


@check
async def errors_have_their_types(api):
    async with api.sandbox() as box:
        await raises(e2b.FileNotFoundException, lambda: box.files.read("none"))
        await raises(e2b.NotFoundException, lambda: box.files.get_info("none"))
        await raises(e2b.NotFoundException, lambda: box.files.list("none"))
        await raises(e2b.NotFoundException, lambda: box.files.rename("none", "other"))
        await raises(e2b.InvalidArgumentException, lambda: box.files.read("/tmp"))
        await raises(e2b.InvalidArgumentException, lambda: box.files.list("/etc/passwd"))
        await raises(e2b.InvalidArgumentException, lambda: box.files.make_dir("/etc/passwd"))
        await raises(e2b.InvalidArgumentException, lambda: box.files.read("~other/file"))
        await raises(e2b.AuthenticationException, lambda: box.files.read("x", user="nobody-here"))


@check
async def files_of_others(api):
    async with api.sandbox() as box:
        await a(box.files.write("/root/of-root", "r", user="root"))
        assert await a(box.files.read("of-root", user="root")) == "r"
        assert (await a(box.files.get_info("/root/of-root", user="root"))).owner == "root"


async def watch(api, box, path, seen, **options):
    if api.is_async:
        return await box.files.watch_dir(path, on_event=seen.append, **options), None
    handle = box.files.watch_dir(path, **options)
    return handle, lambda: seen.extend(handle.get_new_events())


@check
async def watching(api):
    async with api.sandbox() as box:
        await a(box.files.make_dir("w/deep"))
        seen = []
        handle, poll = await watch(api, box, "w", seen, recursive=True, include_entry=True)
        await a(box.files.write("w/deep/file", "x"))

        def came():
            if poll:
                poll()
            return [one for one in seen if one.name == "deep/file"]

        events = await eventually(came)
        assert events[0].type in (e2b.FilesystemEventType.CREATE, e2b.FilesystemEventType.WRITE)
        await a(handle.stop())
        if not api.is_async:
            await raises(e2b.SandboxException, handle.get_new_events)
        await raises(e2b.NotFoundException, lambda: box.files.watch_dir("none", **({"on_event": print} if api.is_async else {})))


@check
async def a_hundred_megabytes(api):
    async with api.sandbox() as box:
        every = bytes(range(256)) * 400_000
        await a(box.files.write("big", every, request_timeout=300))
        told = (await a(box.commands.run("wc -c < big; md5sum < big", timeout=300))).stdout.split()
        assert told[:2] == [str(len(every)), hashlib.md5(every).hexdigest()]
        got = await a(box.files.read("big", format="stream", request_timeout=300))
        digest, size = hashlib.md5(), 0
        pieces = [piece async for piece in got] if api.is_async else got
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
        assert (size, digest.hexdigest()) == (len(every), hashlib.md5(every).hexdigest())


@check
async def names_of_every_kind(api):
    async with api.sandbox() as box:
        names = ["a b", "it's", '"double"', "new\nline", "...", "-dash", "ünï/çødé 🦀", "#hash?query&x=y%20z", " lead", "trail "]
        for name in names:
            await a(box.files.write(f"names/{name}", name))
            assert await a(box.files.read(f"names/{name}")) == name, name
            assert await a(box.files.exists(f"names/{name}"))
        count = await a(box.commands.run("find names -type f -print0 | tr -dc '\\0' | wc -c"))
        assert int(count.stdout) == len(names)
        await raises(e2b.SandboxException, lambda: box.files.write("/home/user/" + "n" * 300, "x"))


@check
async def many_files_at_once(api):
    async with api.sandbox() as box:
        text = lambda i: str(i) * 100_000
        if api.is_async:
            await asyncio.gather(*(box.files.write(f"at-once/{i}", text(i)) for i in range(10)))
            back = await asyncio.gather(*(box.files.read(f"at-once/{i}") for i in range(10)))
        else:
            with ThreadPoolExecutor(10) as pool:
                list(pool.map(lambda i: box.files.write(f"at-once/{i}", text(i)), range(10)))
                back = list(pool.map(lambda i: box.files.read(f"at-once/{i}"), range(10)))
        assert back == [text(i) for i in range(10)]
        await a(box.commands.run("mkdir many && cd many && seq -f f%05g 2000 | xargs touch"))
        listed = [one.name for one in await a(box.files.list("many"))]
        assert len(listed) == 2000 and listed[0] == "f00001" and listed[-1] == "f02000"


@check
async def a_full_disk(api):
    async with api.sandbox() as box:
        await a(box.commands.run("head -c 3000000000 /dev/zero > fill; true", timeout=300))
        await raises(e2b.NotEnoughSpaceException, lambda: box.files.write("more", b"x" * (4 << 20)))
        await a(box.commands.run("rm fill", timeout=120))
        await a(box.files.write("more", "fits"))
