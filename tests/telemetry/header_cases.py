"""Headers of strangers that speak of traces: whatever they hold, the request is answered, and nothing of it comes to the log, to the
collector, into the sandbox or back but a trace's own ids."""
import json
import re
import socket

from kit import Receiver, case, comes_to, create, harness, whole, with_service

GOOD = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
# W3C Trace Context: none of these names a trace.
BAD = ("", "x", GOOD[:-1], GOOD + "-", GOOD + "-x", GOOD + "0", GOOD.upper(), GOOD.replace("4b", "4B"), GOOD.replace("-", "_"),
       "ff" + GOOD[2:], "0" + GOOD, "00-" + "0" * 32 + GOOD[35:], GOOD[:36] + "0" * 16 + "-01", GOOD[:-2] + "zz", GOOD[:-2] + "-1",
       "01" + GOOD[2:] + ".future", "01" + GOOD[2:] + "x", '00-"}\\n-$(id)-01', "00-" + "é" * 16 + "-00f067aa0ba902b7-01", "0" * 4_000)
HOSTILE = {"tracestate": 'a="};DROP TABLE,' * 500, "baggage": "userId=" + "%0d%0aX-Injected: 1" * 300,
           "b3": "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1", "uber-trace-id": "1:2:3:1"}


def ask(daemon, *headers, path="/api/sessions", method="GET"):
    """A raw request, because clients refuse to send some of these."""
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nX-API-Key: {harness.KEY}\r\nConnection: close\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in headers)
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as one:
        one.sendall(head.encode() + b"\r\n")
        answer = b""
        while piece := one.recv(65536):
            answer += piece
    lines = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    return int(lines[0].split()[1]), dict(line.lower().split(": ", 1) for line in lines[1:])


@case
def strange_headers_name_no_trace(_):
    collector = Receiver()
    daemon = with_service(f"trace.otlp_endpoint={collector.url}", "trace.sample=1")
    try:
        began = set()
        for value in BAD:
            status, headers = ask(daemon, ("traceparent", value), *HOSTILE.items())
            assert status == 200, (value[:80], status)
            found = re.fullmatch("00-([0-9a-f]{32})-[0-9a-f]{16}-01", headers["traceparent"])
            assert found and found.group(1) != GOOD[3:35], (value[:80], headers)
            began.add(found.group(1))
            assert not {"tracestate", "baggage", "x-injected"} & set(headers), headers
        assert len(began) == len(BAD), "each is a trace of its own"
        # Two may name different traces: neither is believed.
        status, headers = ask(daemon, ("traceparent", GOOD), ("Traceparent", GOOD.replace("4b", "5c")))
        assert status == 200 and headers["traceparent"][3:5] not in ("4b", "5c"), headers
        # Names are of any case, and space around the value is none of it.
        assert ask(daemon, ("TraceParent", f" {GOOD}\t"))[1]["traceparent"].startswith(GOOD[:36])
        # A later version is read by what it shares with ours, and answered in ours.
        later = ask(daemon, ("traceparent", "cc" + GOOD[2:] + "-what-comes-later"))[1]["traceparent"]
        assert later.startswith(GOOD[:36]) and later.endswith("-01") and len(later) == 55, later
        assert comes_to(lambda: began <= {span["traceId"] for span in collector.spans()})
        # Nobody makes names of spans: neither with methods nor with paths of his own.
        for number in range(20):
            given = ("traceparent", f"00-{number + 1:032x}-00f067aa0ba902b7-01")
            assert ask(daemon, given, path=f"/strange/{number}")[0] == 404
            assert ask(daemon, given, method=f"M{number}")[0] == 405
        assert comes_to(lambda: len([span for span in collector.spans() if span["name"] in ("GET", "HTTP")]) == 40)
        assert {span["name"] for span in collector.spans()} <= {"GET", "HTTP", "GET /api/sessions", "admission"}
        assert {span["attributes"]["http.request.method"] for span in whole(collector.spans(), name="HTTP")} == {"_OTHER"}
        kept = json.dumps([span["attributes"] for span in collector.spans()]) + (daemon.work / "err").read_text()
        for word in ("DROP TABLE", "X-Injected", "$(id)", "uber"):
            assert word not in kept, word
    finally:
        daemon.remove()
        collector.stop()


@case
def nothing_of_them_comes_inside(daemon):
    client = daemon.client()
    native = any(one["name"] == "native" for one in client.providers())
    session = create(client, provider="native" if native else "virtual")
    show = {"command": "env | grep -i -e trace -e baggage || true"}
    for value in ("00-$(id)-x-01", GOOD + "\\n", BAD[-4]):
        inside = client.ok("POST", f"/api/sessions/{session}/commands", show,
                           headers={"traceparent": value.encode("utf-8").decode("latin-1"), "baggage": "a=$(id)"})
        assert inside["stdout"] == "", (value, inside["stdout"])
    inside = client.ok("POST", f"/api/sessions/{session}/commands", show, headers={"traceparent": GOOD, "tracestate": "a=`id`"})
    assert inside["stdout"] == f"TRACEPARENT={GOOD}\n", inside["stdout"]
    # One that the caller gave the command itself stands.
    own = client.ok("POST", f"/api/sessions/{session}/commands", {**show, "env": {"TRACEPARENT": "mine"}}, headers={"traceparent": GOOD})
    assert own["stdout"] == "TRACEPARENT=mine\n", own["stdout"]
    client.ok("DELETE", f"/api/sessions/{session}")


@case
def a_part_is_sampled(_):
    """By the setting; and a caller's own decision stands, whatever the setting is."""
    collector = Receiver()
    daemon = with_service(f"trace.otlp_endpoint={collector.url}", "trace.sample=0.5")
    none = with_service(f"trace.otlp_endpoint={collector.url}", "trace.sample=0")
    try:
        client = daemon.client()
        given = [client("GET", "/api/sessions").headers.get("traceparent") for _ in range(200)]
        sampled = {one[3:35] for one in given if one and one.endswith("-01")}
        assert 60 < len(sampled) < 140, len(sampled)
        assert comes_to(lambda: sampled == {span["traceId"] for span in collector.spans()}), "those and no others"
        quiet = none.client()
        assert not any(quiet("GET", "/api/sessions").headers.get("traceparent") for _ in range(50))
        assert quiet("GET", "/api/sessions", headers={"traceparent": GOOD}).headers["traceparent"].startswith(GOOD[:36])
        assert comes_to(lambda: whole(collector.spans(), traceId=GOOD[3:35]))
        assert len({span["traceId"] for span in collector.spans()}) == len(sampled) + 1
    finally:
        daemon.remove()
        none.remove()
        collector.stop()
