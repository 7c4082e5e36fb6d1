"""Receivers that do their worst, with a whole service behind: requests go on, nothing is followed to where it leads, what is lost is told,
and a kill in the middle loses nothing."""
import json
import re
import socket
import threading
import time

from kit import Following, Receiver, case, comes_to, create, harness, whole, with_service
from metric_cases import Metrics


class Raw:
    """Answers every connection by a function of its own, on a thread of its own."""

    def __init__(self, answer):
        self.taken = 0
        self.answer = answer
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                one, _ = self.socket.accept()
            except OSError:
                return
            self.taken += 1
            threading.Thread(target=self.handle, args=(one,), daemon=True).start()

    def handle(self, one):
        try:
            with one:
                self.answer(one)
        except OSError:
            pass

    def stop(self):
        self.socket.close()


def read_request(one):
    text = b""
    while b"\r\n\r\n" not in text:
        text += one.recv(65536)
    head, _, body = text.partition(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
    while len(body) < length:
        body += one.recv(65536)
    return body


def drip(one):
    """A head, byte by byte, that never ends."""
    read_request(one)
    one.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        time.sleep(0.2)
        one.sendall(b"X")


def flood(one):
    read_request(one)
    one.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
    while True:
        one.sendall(b"x" * 65536)


def babble(one):
    one.sendall(b"INFO {\r\n" + bytes(range(256)) * 4096)
    time.sleep(0.1)


def busy(one):
    read_request(one)
    one.sendall(b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 99999999\r\nContent-Length: 0\r\n\r\n")


def state_of(client, name):
    return whole(client.ok("GET", "/api/health")["components"], name=name)[0]


@case
def targets_that_do_their_worst(_):
    """All of them at once: requests are answered, health says what is wrong, and the end of the service does not wait for them."""
    hook, nats, collector = Raw(drip), Raw(babble), Raw(busy)
    daemon = with_service(f"events.webhook=http://127.0.0.1:{hook.port}/hook", f"events.nats=nats://127.0.0.1:{nats.port}",
                          f"trace.otlp_endpoint=http://127.0.0.1:{collector.port}")
    try:
        client = daemon.client()
        session = create(client, provider="virtual")
        for number in range(200):
            ran = client.ok("POST", f"/api/sessions/{session}/execute", {"code": f"echo {number}", "language": "shell"})
            assert ran["stdout"] == f"{number}\n", ran
        assert comes_to(lambda: state_of(client, "events.nats")["state"] == "degraded"), state_of(client, "events.nats")
        assert "NATS" in state_of(client, "events.nats")["reason"]
        assert comes_to(lambda: "it answered 429" in (state_of(client, "traces")["reason"] or "")), state_of(client, "traces")
        assert hook.taken == 1, "one at a time"
        assert comes_to(lambda: state_of(client, "events.webhook")["state"] == "degraded", 60), state_of(client, "events.webhook")
        assert "within 40 s" in state_of(client, "events.webhook")["reason"], state_of(client, "events.webhook")
        metrics = Metrics(client)
        for target in ("webhook", "nats"):
            assert metrics.sum("atoll_event_target_waiting", target=target) >= 401
            assert metrics.sum("atoll_event_target_missed_total", target=target) == 0
        began = time.time()
        daemon.stop()
        assert time.time() - began < 10, "the end waited for a target"
    finally:
        daemon.remove()
        for one in (hook, nats, collector):
            one.stop()


@case
def answers_of_a_webhook_are_not_read(_):
    hook = Raw(flood)
    daemon = with_service(f"events.webhook=http://127.0.0.1:{hook.port}/hook")
    try:
        client = daemon.client()
        before = Metrics(client).sum("process_resident_memory_bytes")
        for _ in range(20):
            client.ok("DELETE", f"/api/sessions/{create(client, provider='virtual')}")
        assert comes_to(lambda: hook.taken >= 40 and Metrics(client).sum("atoll_event_target_waiting", target="webhook") == 0)
        assert hook.taken == 40, "each of them once"
        assert Metrics(client).sum("process_resident_memory_bytes") - before < 32 << 20
    finally:
        daemon.remove()
        hook.stop()


@case
def a_webhook_leads_nowhere_else(_):
    """Not to an address that only the service can reach."""
    inside = Receiver()

    def redirect(one):
        read_request(one)
        one.sendall(f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {inside.url}/admin\r\nContent-Length: 0\r\n\r\n".encode())

    hook = Raw(redirect)
    daemon = with_service(f"events.webhook=http://127.0.0.1:{hook.port}/hook")
    try:
        client = daemon.client()
        create(client, provider="virtual")
        assert comes_to(lambda: "307" in (state_of(client, "events.webhook")["reason"] or ""))
        assert comes_to(lambda: hook.taken >= 2) and inside.tries == 0
    finally:
        daemon.remove()
        hook.stop()
        inside.stop()


@case
def a_kill_in_the_middle_loses_nothing(_):
    """A webhook that takes its time; the service is killed while it delivers, three times. Every event comes, what comes again was
    not acknowledged, and a new one never comes before an older one."""
    got = []

    def take(one):
        body = read_request(one)
        got.append(json.loads(body)["id"])
        time.sleep(0.004)
        one.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    hook = Raw(take)
    daemon = with_service(f"events.webhook=http://127.0.0.1:{hook.port}/hook")
    try:
        for _ in range(3):
            client = daemon.client()
            for _ in range(60):
                client.ok("DELETE", f"/api/sessions/{create(client, provider='virtual')}")
            seen = len(got)
            assert comes_to(lambda: len(got) > seen)
            daemon.kill()
            daemon.start()
        client = daemon.client()
        assert comes_to(lambda: Metrics(client).sum("atoll_event_target_waiting", target="webhook") == 0)
        last = int(Metrics(client).sum("atoll_events_total"))
        assert last >= 360 and set(got) == set(range(1, last + 1)), (last, len(set(got)))
        first_time = list(dict.fromkeys(got))
        assert first_time == sorted(first_time), "out of order"
        assert len(got) - len(first_time) <= 3 * 101, "more than a batch was sent again"
        assert Metrics(client).sum("atoll_event_target_missed_total") == 0
    finally:
        daemon.remove()
        hook.stop()


def fill_log(daemon, count, bytes_each=400):
    """Events of earlier days, as the service writes them, in files of its size."""
    folder = daemon.work / "data/events"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.jsonl"):
        old.unlink()
    per_file = (4 << 20) // bytes_each
    for first in range(1, count + 1, per_file):
        with open(folder / f"{first:020}.jsonl", "w") as file:
            for number in range(first, min(first + per_file, count + 1)):
                line = {"id": number, "time": "2026-01-01T00:00:00.000000Z", "type": "session.created", "tenant": "default",
                        "session_id": "ses_1", "environment": "host", "data": {"padding": ""}}
                size = len(json.dumps(line, separators=(",", ":")))
                line["data"]["padding"] = "x" * (bytes_each - 1 - size)
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
    return folder


@case
def readers_that_do_not_read_hold_little(_):
    """Thirty followers of a long log that take nothing: each holds a page, and whoever reads is served meanwhile."""
    daemon = with_service()
    sleepers = []
    try:
        daemon.stop()
        fill_log(daemon, 150_000)
        daemon.start()
        client = daemon.client()
        create(client, provider="virtual")
        before = Metrics(client).sum("process_resident_memory_bytes")
        for _ in range(30):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", daemon.port))
            one.sendall(f"GET /api/events?after=0 HTTP/1.1\r\nHost: x\r\nX-API-Key: {harness.KEY}\r\n\r\n".encode())
            sleepers.append(one)
        assert comes_to(lambda: Metrics(client).sum("atoll_event_followers") == 30)
        live = Following(daemon)
        session = create(client, provider="virtual")
        assert live.until("session.created", session)[0] == ["session.created"]
        time.sleep(2)
        grown = Metrics(client).sum("process_resident_memory_bytes") - before
        assert grown < 100 << 20, f"{grown / 2**20:.0f} MiB for 31 followers"
        # One that reads gets all of it, in order.
        live.close()
        reader = Following(daemon, "?after=0")
        for number in range(1, 20_001):
            assert reader.next()[2] == str(number)
        reader.close()
    finally:
        for one in sleepers:
            one.close()
        daemon.remove()


@case
def a_crowd_of_followers(_):
    """Five hundred and twelve, of sixteen tenants; the rest is refused. Each hears of its own tenant, and the service goes on."""
    daemon = with_service()
    streams = []
    try:
        client = daemon.client()
        session = create(client, provider="virtual")
        refused = 0
        for tenant in range(17):
            client.ok("POST", "/api/tenants", {"name": f"crowd-{tenant}"})
            key = client.ok("POST", "/api/keys", {"name": "k", "role": "developer", "tenant": f"crowd-{tenant}"})["key"]
            for _ in range(33):
                one = socket.create_connection(("127.0.0.1", daemon.port), timeout=60)
                one.sendall(f"GET /api/events HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n".encode())
                if b" 200 " in one.recv(65536).partition(b"\r\n")[0]:
                    streams.append(one)
                else:
                    refused += 1
                    one.close()
        assert len(streams) == 512 and refused == 17 * 33 - 512, (len(streams), refused)
        assert Metrics(client).sum("atoll_event_followers") == 512
        for number in range(50):
            client.ok("POST", f"/api/sessions/{session}/execute", {"code": f"echo {number}", "language": "shell"})
        mine = daemon.client(client.ok("POST", "/api/keys", {"name": "m", "role": "developer", "tenant": "crowd-0"})["key"])
        made = create(mine, provider="virtual")
        for one in streams[:32]:
            text = b""
            while made.encode() not in text:
                text += one.recv(65536)
            assert session.encode() not in text, "of another tenant"
    finally:
        for one in streams:
            one.close()
        daemon.remove()


@case
def gaps_are_told(_):
    daemon = with_service()
    try:
        daemon.stop()
        folder = fill_log(daemon, 30_000)
        files = sorted(folder.glob("*.jsonl"))
        assert len(files) == 3, files
        # What the bound has let go, and what a broken disk took out of the middle.
        files[0].unlink()
        lines = files[1].read_text().splitlines(keepends=True)
        first = int(files[1].stem)
        files[1].write_text("".join(lines[:100] + lines[107:]))
        daemon.start()
        following = Following(daemon, headers={"Last-Event-ID": "5"})
        name, data, number = following.next()
        assert (name, data, number) == ("gap", {"after": 5, "missed": first - 6}, None), (name, data, number)
        ids = [following.next() for _ in range(100)]
        assert [one[2] for one in ids] == [str(first + at) for at in range(100)]
        name, data, _ = following.next()
        assert name == "gap" and data == {"after": first + 99, "missed": 7}, (name, data)
        assert following.next()[2] == str(first + 107)
        following.close()
    finally:
        daemon.remove()


@case
def events_that_are_lost_are_told(_):
    """A target that was away for longer than events.keep_bytes lasts: counted, and in health, while it is still away."""
    daemon = with_service("events.nats=nats://127.0.0.1:1")
    try:
        client = daemon.client()
        create(client, provider="virtual")
        assert comes_to(lambda: (daemon.work / "data/events/nats.position").exists())
        daemon.stop()
        (daemon.work / "data/events/nats.position").write_text("5")
        folder = fill_log(daemon, 30_000)
        sorted(folder.glob("*.jsonl"))[0].unlink()
        daemon.start()
        client = daemon.client()
        first = int(min(folder.glob("*.jsonl")).stem)
        metrics = Metrics(client)
        assert metrics.sum("atoll_event_target_missed_total", target="nats") == first - 6
        assert metrics.sum("atoll_event_target_waiting", target="nats") == 30_000 - first + 1
        found = comes_to(lambda: state_of(client, "events.nats")["reason"])
        assert f"{30_000 - first + 1} events wait, {first - 6} were lost: NATS" in found, found
    finally:
        daemon.remove()


@case
def methods_make_no_rows(daemon):
    """Anybody can send any word as a method, without a key."""
    client = daemon.client()
    before = len(Metrics(client).rows)
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as one:
        file = one.makefile("rb")
        for number in range(3000):
            one.sendall(f"M{number} /health HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            status, length = file.readline(), 0
            assert b" 405 " in status, status
            while (line := file.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            file.read(length)
    metrics = Metrics(client)
    assert len(metrics.rows) - before < 10, len(metrics.rows) - before
    assert metrics.sum("atoll_http_requests_total", method="other", status="405") >= 3000
