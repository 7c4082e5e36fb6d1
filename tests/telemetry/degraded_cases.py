"""Parts that go away: the service goes on without them, its health and its answers name them, and `atoll doctor --live` says what to
do. Each part is made to go away for real."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from kit import Receiver, case, comes_to, create, free_port, harness, second_tenant, whole, with_service


def part(client, name):
    return whole(client.ok("GET", "/api/health")["components"], name=name)[0]


def is_degraded(client, name):
    """Its health once it is, and answers name it, too."""
    found = comes_to(lambda: part(client, name)["state"] == "degraded" and part(client, name))
    assert found, (name, client.ok("GET", "/api/health"))
    named = comes_to(lambda: name in client("GET", "/api/sessions").headers.get("atoll-degraded", "").split(", "))
    assert named, client("GET", "/api/sessions").headers
    # Whoever was not let in learns nothing of it.
    assert "atoll-degraded" not in client("GET", "/api/sessions", key=False).headers
    assert found["reason"] and found["remedy"], found
    return found


def is_well(client, name):
    assert comes_to(lambda: part(client, name)["state"] == "ok"), part(client, name)
    assert comes_to(lambda: name not in client("GET", "/api/sessions").headers.get("atoll-degraded", "")), name
    assert part(client, name)["remedy"] is None


def doctor(daemon, *words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ATOLL_")}
    return subprocess.run([harness.ATOLL, "doctor", "--live", "--data", str(daemon.work / "data"), *words], text=True,
                          capture_output=True, timeout=60, env=environment)


def works(client):
    session = create(client, provider="virtual")
    ran = client.ok("POST", f"/api/sessions/{session}/execute", {"code": "echo hello", "language": "shell"})
    assert ran["stdout"] == "hello\n", ran
    client.ok("DELETE", f"/api/sessions/{session}")


@case
def doctor_asks_the_running_service(daemon):
    nobody = subprocess.run([harness.ATOLL, "doctor", "--live", "--url", f"http://127.0.0.1:{free_port()}"], text=True,
                            capture_output=True, timeout=60)
    assert nobody.returncode == 125 and "atoll serve" in nobody.stderr, nobody
    wrong = doctor(daemon, "--url", f"http://127.0.0.1:{daemon.port}", "--key-file", "/dev/null")
    assert wrong.returncode not in (0, 1), wrong
    done = doctor(daemon)
    facts = json.loads(doctor(daemon, "--json").stdout)
    assert done.returncode == (0 if facts["status"] == "ok" else 1), (done, facts)
    assert f"http://127.0.0.1:{daemon.port} answers in " in done.stdout, done.stdout
    for one in facts["components"]:
        line = next(line for line in done.stdout.splitlines() if re.match(rf"(ok|note|BAD) +{re.escape(one['name'])} ", line))
        assert f" {one['state']} since 20" in line, line
    # A tenant's key sees the parts and not the operator's reasons.
    key = second_tenant(daemon.client())
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(key)
        file.flush()
        theirs = doctor(daemon, "--url", f"http://127.0.0.1:{daemon.port}", "--key-file", file.name)
    assert "store" in theirs.stdout and "trace.otlp_endpoint" not in theirs.stdout, theirs


@case
def the_collector_goes_away(_):
    collector = Receiver()
    daemon = with_service(f"trace.otlp_endpoint={collector.url}")
    try:
        client = daemon.client()
        works(client)
        is_well(client, "traces")
        collector.status = 503
        works(client)
        found = is_degraded(client, "traces")
        assert "503" in found["reason"] and "collector" in found["remedy"], found
        works(client)
        done = doctor(daemon)
        assert done.returncode == 1 and re.search(r"note traces +degraded since 20", done.stdout), done.stdout
        assert "-> Start the collector" in done.stdout and "The service is degraded" in done.stdout, done.stdout
        collector.status = 200
        is_well(client, "traces")
        assert doctor(daemon).returncode in (0, 1)
    finally:
        daemon.remove()
        collector.stop()


@case
def the_audit_forwarder_goes_away(_):
    target = Receiver()
    target.status = 503
    daemon = with_service(f"audit.forward.webhook={target.url}/hook")
    try:
        client = daemon.client()
        works(client)
        assert "webhook" in is_degraded(client, "audit")["reason"]
        works(client)
        target.status = 200
        is_well(client, "audit")
        assert target.posts, "nothing was forwarded later"
    finally:
        daemon.remove()
        target.stop()


@case
def the_index_goes_away(_):
    daemon = with_service("index.embedder=http", f"index.http.url=http://127.0.0.1:{free_port()}/v1/embeddings", "index.http.model=m")
    try:
        client = daemon.client()
        works(client)
        found = is_degraded(client, "index")
        assert "making vectors" in found["reason"], found
        said = comes_to(lambda: "127.0.0.1" in part(client, "index").get("reason", "") and part(client, "index"))
        assert said, part(client, "index")
        works(client)
        # A search without vectors says so, or that it cannot be made now and why.
        answer = client("POST", "/api/index/search", {"query": "fetch a page from the web", "kinds": ["tool"]})
        if answer.status == 200:
            assert answer.json["degraded"] is True and answer.json["reason"], answer.json
        else:
            error = answer.json["error"]
            assert error["code"] == "unavailable" and error["details"]["retryable"] and "embedder" in error["message"], error
    finally:
        daemon.remove()


def processes_of(daemon):
    """Those that the service made of itself, such as its spawner: they have its command line."""
    found = []
    for one in pathlib.Path("/proc").iterdir():
        try:
            words = (one / "cmdline").read_bytes() if one.name.isdigit() else b""
        except OSError:
            continue
        if str(daemon.work).encode() in words and int(one.name) != daemon.process.pid:
            found.append(int(one.name))
    return found


def kill_all(pids):
    """Some end with others of them."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return pids


@case
def the_spawner_goes_away(_):
    daemon = with_service()
    try:
        client = daemon.client()
        if not any(one["name"] == "native" for one in client.providers()):
            return print("# skipped: no native sandboxes here")
        create(client)
        assert kill_all(processes_of(daemon)), "where is the spawner?"
        assert "spawner" in is_degraded(client, "provider.native")["reason"]
        works(client)
        # Said at once, after a few tries, not after a wait.
        answer = client("POST", "/api/sessions", {"provider": "native"})
        assert answer.status in (502, 503) and answer.json["error"]["details"]["retryable"] is True, answer.body
        state = client("GET", "/metrics").body.decode()
        assert 'atoll_provider_up{provider="native"} 0' in state
    finally:
        daemon.remove()


def zygotes_of(daemon):
    """Pythons that are children of the service's spawner."""
    spawners, found = set(processes_of(daemon)), []
    for one in pathlib.Path("/proc").iterdir():
        try:
            fields = (one / "stat").read_text().rsplit(")", 1)[1].split() if one.name.isdigit() else []
            words = (one / "cmdline").read_bytes()
        except OSError:
            continue
        if fields and int(fields[1]) in spawners and b"python" in words.split(b"\0")[0] and fields[0] != "Z":
            found.append(int(one.name))
    return found


@case
def the_zygote_goes_away(_):
    daemon = with_service()
    try:
        client = daemon.client()
        if not whole(client.ok("GET", "/api/health")["components"], name="zygote"):
            return print("# skipped: no native sandboxes here")
        if part(client, "zygote")["state"] == "off":
            return print("# skipped: no zygotes here: " + part(client, "zygote")["reason"])
        is_well(client, "zygote")
        before = part(client, "zygote")["since"]
        # One that dies is replaced; those that die again and again are given a rest.
        killed = set()

        def is_given_a_rest():
            killed.update(kill_all(zygotes_of(daemon)))
            return len(killed) >= 3 and part(client, "zygote")["state"] == "degraded"
        assert comes_to(is_given_a_rest), (killed, part(client, "zygote"))
        found = is_degraded(client, "zygote")
        assert found["reason"].startswith("interpreters start cold: ") and found["since"] > before, found
        # Nothing but time is lost: what no pool has is made, and its interpreter starts as any program.
        cold = create(client, provider="native", limits={"memory_mb": 333})
        ran = client.ok("POST", f"/api/sessions/{cold}/execute", {"code": "6 * 7"})
        assert ran["status"] == "success" and "42" in json.dumps(ran), ran
        assert "note zygote" in doctor(daemon).stdout
        # By itself, ten seconds later.
        is_well(client, "zygote")
        warm = create(client, provider="native", limits={"memory_mb": 333})
        assert client.ok("POST", f"/api/sessions/{warm}/execute", {"code": "6 * 7"})["status"] == "success"
        lines = (daemon.work / "err").read_text()
        assert "interpreters start cold: no zygote is ready" in lines and "from a zygote again" in lines, lines[-2000:]
    finally:
        daemon.remove()


@case
def the_zygote_of_an_environment_goes_away(_):
    """One with modules of its own: it is named, the plain one is not touched, and it matters as long as a sandbox wants it."""
    with tempfile.TemporaryDirectory() as registry:
        folder = pathlib.Path(registry) / "environments"
        folder.mkdir()
        (folder / "warm.yaml").write_text("name: warm\nlanguages: [python, shell]\npreimport: [decimal, fractions]\n")
        daemon = with_service(f"registry={registry}")
        try:
            client = daemon.client()
            if not whole(client.ok("GET", "/api/health")["components"], name="zygote"):
                return print("# skipped: no native sandboxes here")
            if part(client, "zygote")["state"] == "off":
                return print("# skipped: no zygotes here: " + part(client, "zygote")["reason"])
            plain = comes_to(lambda: set(zygotes_of(daemon)))
            assert len(plain) == 1, plain
            session = create(client, provider="native", environment="warm")
            killed = set()

            def is_given_a_rest(kills=3):
                killed.update(kill_all(set(zygotes_of(daemon)) - plain))
                return len(killed) >= kills and part(client, "zygote")["state"] == "degraded"
            assert comes_to(is_given_a_rest), (killed, part(client, "zygote"))
            found = is_degraded(client, "zygote")
            assert found["reason"].startswith("interpreters start cold: those with decimal, fractions: "), found
            assert plain <= set(zygotes_of(daemon)), "the plain one is another's"
            cold = client.ok("POST", f"/api/sessions/{session}/execute", {"code": "from decimal import Decimal\nDecimal(6) * 7"})
            assert cold["status"] == "success" and "42" in json.dumps(cold), cold
            # By itself, ten seconds later.
            is_well(client, "zygote")
            # Nobody is missing what no sandbox wants.
            killed.clear()
            assert comes_to(lambda: is_given_a_rest(1)), (killed, part(client, "zygote"))
            client.ok("DELETE", f"/api/sessions/{session}")
            assert comes_to(lambda: part(client, "zygote")["state"] == "ok", 5), part(client, "zygote")
        finally:
            daemon.remove()
