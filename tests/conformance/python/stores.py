"""Volumes, secrets and templates: what outlives sandboxes."""
import pathlib
import tempfile

import e2b

from harness import a, check, eventually, raises, unique


@check
async def volumes(api):
    name = unique()
    volume = await a(api.Volume.create(name))
    await raises(e2b.VolumeException, lambda: api.Volume.create(name))
    await a(volume.write_file("/a.txt", "text"))
    assert await a(volume.read_file("/a.txt")) == "text"
    await a(volume.write_file("/bytes", bytes(range(256))))
    assert await a(volume.read_file("/bytes", format="bytes")) == bytes(range(256))
    await a(volume.make_dir("/deep/er", force=True))
    assert [one.path for one in await a(volume.list("/"))] == ["/a.txt", "/bytes", "/deep"]
    assert (await a(volume.get_info("/a.txt"))).size == 4
    assert (await a(volume.update_metadata("/a.txt", mode=0o600))).mode == 0o600
    assert await a(volume.exists("/a.txt")) and not await a(volume.exists("/none"))
    await raises(e2b.VolumePathNotFoundException, lambda: volume.read_file("/none"))
    async with api.sandbox(volume_mounts={"/mnt/v": volume}) as box:
        assert await a(box.files.read("/mnt/v/a.txt")) == "text"
        await a(box.commands.run("echo inside > /mnt/v/b.txt"))
    assert await a(volume.read_file("/b.txt")) == "inside\n"
    same = await a(api.Volume.connect(volume.volume_id))
    assert same.name == name and await a(same.read_file("/b.txt")) == "inside\n"
    await a(volume.remove("/deep"))
    assert any(one.name == name for one in await a(api.Volume.list()))
    assert await a(api.Volume.destroy(volume.volume_id)) is True
    assert await a(api.Volume.destroy(volume.volume_id)) is False
    await raises(e2b.VolumeNotFoundException, lambda: api.Volume.get_info(volume.volume_id))


@check
async def files_of_a_volume(api):
    volume = await a(api.Volume.create(unique()))
    try:
        assert await a(volume.write_file("/empty", "")) and await a(volume.read_file("/empty")) == ""
        await a(volume.make_dir("/ünï", force=True))
        await a(volume.write_file("/ünï/çødé 🦀.txt", "other"))
        await raises(e2b.VolumeException, lambda: volume.write_file("/ünï/çødé 🦀.txt", "lost", force=False))
        assert await a(volume.read_file("/ünï/çødé 🦀.txt")) == "other"
        await a(volume.write_file("/ünï/çødé 🦀.txt", "unicode", force=True))
        assert await a(volume.read_file("/ünï/çødé 🦀.txt")) == "unicode"
        got = await a(volume.read_file("/ünï/çødé 🦀.txt", format="stream"))
        pieces = [piece async for piece in got] if api.is_async else list(got)
        assert b"".join(pieces) == "unicode".encode()
        await raises(e2b.VolumePathNotFoundException, lambda: volume.write_file("/none/file", "x"))
        await raises(e2b.VolumePathNotFoundException, lambda: volume.make_dir("/none/dir"))
        for call in (lambda: volume.list("/none"), lambda: volume.get_info("/none"), lambda: volume.remove("/none"),
                     lambda: volume.update_metadata("/none", mode=0o600)):
            await raises(e2b.VolumePathNotFoundException, call)
        await raises(e2b.VolumeException, lambda: volume.read_file("/"))
        await raises(e2b.VolumeException, lambda: volume.write_file("/large", b"x" * (80 << 20)))
        made = await a(volume.make_dir("/owned", uid=1000, gid=1000, mode=0o750))
        assert (made.uid, made.gid, made.mode) == (1000, 1000, 0o750)
        assert [one.path for one in await a(volume.list("/", depth=2))] == ["/empty", "/owned", "/ünï", "/ünï/çødé 🦀.txt"]
    finally:
        assert await a(api.Volume.destroy(volume.volume_id)) is True
    for bad in ("", "a b", "ü"):
        await raises(e2b.VolumeException, lambda: api.Volume.create(bad))


@check
async def secrets(api):
    name = unique()
    made = await a(api.Secret.create(name, "value", metadata={"a": "b"}))
    assert made.version == 1 and made.metadata == {"a": "b"}
    await raises(e2b.SecretException, lambda: api.Secret.create(name, "again"))
    assert (await a(api.Secret.update(name, "other"))).version == 2
    assert (await a(api.Secret.get_info(made.secret_id))).name == name
    assert await a(api.Secret.exists(name))
    pages = api.Secret.list(limit=1)
    names = []
    while pages.has_next:
        names += [one.name for one in await a(pages.next_items())]
    assert name in names
    assert name in api.Secret.fill(name)
    assert api.Secret.iam_token(audience="x", token_type="JWT-SVID")
    assert await a(api.Secret.destroy(name)) is True and await a(api.Secret.destroy(name)) is False
    await raises(e2b.SecretNotFoundException, lambda: api.Secret.get_info(name))
    await raises(e2b.SecretNotFoundException, lambda: api.Secret.update(name, "x"))
    assert not await a(api.Secret.exists(name))
    await raises(e2b.SecretException, lambda: api.Secret.create("a{b", "x"))


@check
async def a_template_is_built_and_used(api):
    name = unique()
    with tempfile.TemporaryDirectory() as here:
        pathlib.Path(here, "copied").write_text("copied\n")
        pathlib.Path(here, "other").write_text("other\n")
        recipe = (api.Template(file_context_path=here).from_python_image("3").set_envs({"A": "1"})
                  .run_cmd('echo "$A" > /tmp/a').copy("copied", "/opt/copied", user="root", mode=0o640)
                  .copy_items([{"src": "other", "dest": "/opt/other"}])
                  .make_dir("/home/user/made").make_symlink("/opt/other", "/home/user/link")
                  .rename("/tmp/a", "/tmp/b").run_cmd(["touch /tmp/c", "touch /tmp/d"]).remove("/tmp/d")
                  .set_workdir("/home/user/made").set_user("user"))
        logs = []
        built = await a(api.Template.build(recipe, name, cpu_count=1, memory_mb=512,
                                           on_build_logs=lambda entry: logs.append(entry.message)))
        assert logs and built.template_id
        again = []
        await a(api.Template.build(recipe, name, cpu_count=1, memory_mb=512, on_build_logs=lambda entry: again.append(entry.message)))
        assert any(line.startswith("CACHED") for line in again), again
    assert await a(api.Template.exists(name)) and await a(api.Template.alias_exists(name))
    assert not await a(api.Template.exists("python-no-such-template"))
    async with api.sandbox(name) as box:
        assert await a(box.files.read("/tmp/b")) == "1\n" and await a(box.files.read("link")) == "other\n"
        told = (await a(box.commands.run("echo $A; pwd; stat -c %a /opt/copied; ls /tmp"))).stdout.split()
        assert told[:3] == ["1", "/home/user/made", "640"] and "c" in told and "d" not in told, told
        assert (await a(box.get_info())).memory_mb == 512


@check
async def tags_status_and_start_commands(api):
    name = unique()
    recipe = api.Template().from_base_image().set_start_cmd("python3 -m http.server 8123", e2b.wait_for_port(8123))
    info = await a(api.Template.build_in_background(recipe, name, tags=["one"]))

    async def ended():
        status = await a(api.Template.get_build_status(info))
        return status if str(status.status.value) in ("ready", "error") else None

    assert (await eventually(ended, 120)).status.value == "ready"
    await a(api.Template.assign_tags(f"{name}:one", ["two"]))
    assert {"one", "two"} <= {one.tag for one in await a(api.Template.get_tags(info.template_id))}
    await a(api.Template.remove_tags(name, ["two"]))
    assert "two" not in {one.tag for one in await a(api.Template.get_tags(info.template_id))}
    async with api.sandbox(f"{name}:one") as box:
        assert (await a(box.commands.run("curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8123/"))).stdout == "200"
    await raises(e2b.SandboxException, lambda: api.Sandbox.create(f"{name}:two"), "two")


@check
async def builds_that_fail_say_why(api):
    failing = api.Template().from_base_image().run_cmd("exit 7")
    await raises(e2b.BuildException, lambda: api.Template.build(failing, unique()), "exit status 7")
    unknown = api.Template().from_image("registry.example.org/none:1")
    await raises(Exception, lambda: api.Template.build(unknown, unique()), "not available")
    for builder in (api.Template().from_alpine_image(), api.Template().from_fedora_image(), api.Template().from_arch_image(),
                    api.Template().from_bun_image()):
        await raises(Exception, lambda: api.Template.build(builder, unique()), "not available")


@check
async def recipes_become_text(api):
    recipe = (api.Template().skip_cache().from_debian_image().skip_cache().apt_install("curl").pip_install("six").npm_install("left-pad")
              .bun_install("left-pad").git_clone("https://example.org/r.git").run_cmd("true"))
    assert "apt-get" in api.Template.to_dockerfile(recipe) and "RUN" in api.Template.to_json(recipe)
    for text in (api.Template().from_ubuntu_image(), api.Template().from_node_image(), api.Template().from_template("base"),
                 api.Template().from_dockerfile("FROM debian\nRUN true"),
                 api.Template().from_aws_registry("i", "k", "s", "r"), api.Template().from_gcp_registry("i", {"a": "b"})):
        assert api.Template.to_json(text)
    assert api.Template().from_base_image().set_ready_cmd(e2b.wait_for_timeout(1000))
    assert callable(e2b.default_build_logger())
    # A gateway's template has its own programs, and devcontainers need theirs: builders say so at once.
    for refused in (lambda: api.Template().from_base_image().add_mcp_server("exa"),
                    lambda: api.Template().from_base_image().beta_dev_container_prebuild("/x"),
                    lambda: api.Template().from_base_image().beta_set_dev_container_start("/x")):
        await raises(e2b.BuildException, refused)
    for ready in (e2b.wait_for_file("/x"), e2b.wait_for_process("p"), e2b.wait_for_url("http://localhost")):
        assert ready.get_cmd()
