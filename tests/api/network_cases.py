"""The network of sessions, end to end: rules over REST, programs inside, servers on this machine's loopback.

Servers listen on 127.0.0.2: it is loopback, so it needs a rule that names it, and no program leaves it out of its
proxy settings as it does 127.0.0.1."""
import http.client
import http.server
import socket
import threading
import time

import harness
from cases import Sandbox, case
from websocket import WebSocket

HOST = "127.0.0.2"
FETCH = """
import urllib.request, urllib.error
def fetch(url, proxy=False):
    # NO_PROXY names 127.0.0.1; whoever wants to know what the proxy says asks it all the same.
    if proxy: urllib.request.proxy_bypass = lambda *_: False
    try: return urllib.request.urlopen(url, timeout=30).read().decode().strip()
    except urllib.error.HTTPError as e: return f'{e.code} {e.read().decode().strip()}'
    except Exception as e: return type(e).__name__
"""


def own_addresses():
    """This machine's addresses beyond its loopback, as `ip` would list them."""
    found = set()
    with open("/proc/net/fib_trie") as table:
        lines = table.read().splitlines()
    for before, line in zip(lines, lines[1:]):
        if "/32 host LOCAL" in line:
            found.add(before.split()[-1])
    return sorted(one for one in found if not one.startswith("127."))


class Server:
    """Answers every request with its path and what the header X-Key said; counts them."""

    def __init__(self):
        seen = self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append((self.path, self.headers.get("X-Key")))
                body = f"{self.path} {self.headers.get('X-Key')}".encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((HOST, 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def decisions(client, box, **wanted):
    found = client.ok("GET", box.base + "/network")["decisions"]
    return [one for one in found if all(one[name] == value for name, value in wanted.items())]


@case()
def network_rules_that_cannot_be_read(client, provider):
    for network, field in (({"mode": "all"}, "network.mode"), ({"colour": "red"}, "network.colour"),
                           ({"allow": "x"}, "network.allow"), ({"headers": {"a.com": "x"}}, "network.headers"), (7, "network")):
        error = client.fails(400, "invalid_argument", "POST", "/api/sessions", {"provider": provider, "network": network})
        assert error["details"]["field"] == field, error
    error = client.fails(400, "invalid_argument", "POST", "/api/sessions",
                         {"provider": provider, "network": {"mode": "none", "allow": ["a.com"]}})
    assert "egress" in error["message"], error


@case("network")
def network_rules_are_checked_before_a_sandbox_is_made(client, provider):
    for bad in ({"allow": ["a b"]}, {"allow": ["1.2.3.4/40"]}, {"deny": ["x:99999"]},
                {"headers": {"a.com": {"X Y": "v"}}}, {"headers": {"a.com": {"X": "${env.HOME}"}}}):
        error = client.fails(400, "invalid_argument", "POST", "/api/sessions", {"provider": provider, "network": bad})
        assert error["details"]["field"] == "network", error


@case("network")
def network_rules_do_not_name_internal_addresses(client, provider):
    own = own_addresses()
    for rule in ("10.0.0.1", "10.0.0.0/8", "127.0.0.1", "127.0.0.0/8", "0x7f.1", "[::1]:80", "169.254.169.254", "168.63.129.16:80",
                 "0.0.0.0/1", "100.0.0.0/8", "fd00:ec2::254", "64:ff9b:1::/48", "64:ff9b::a00:1", "2002:a00:1::1",
                 "::ffff:10.0.0.1", "2000::/3", *own):
        error = client.fails(400, "invalid_argument", "POST", "/api/sessions",
                             {"provider": provider, "network": {"allow": ["a.com", rule]}})
        assert error["details"]["field"] == "network.allow" and rule in error["message"], error
    with Sandbox(client, provider, network={"allow": ["*", "0.0.0.0/0", "::/0"], "deny": ["10.0.0.0/8"]}) as box:
        error = client.fails(400, "invalid_argument", "PUT", box.base + "/network", {"allow": ["10.0.0.1"]})
        assert error["details"]["field"] == "network.allow", error
        # Everything is everything public: not this machine, by any of its addresses.
        for address in ("127.0.0.1", *own):
            host = f"[{address}]" if ":" in address else address
            assert box.run(FETCH + f"print(fetch('http://{host}:{client.port}/health', proxy=True)[:3])")["stdout"] == "403\n", address
            assert decisions(client, box, host=address, port=client.port)[0]["reason"] == "internal address"


@case("network")
def network_is_none_by_default(client, provider):
    with Sandbox(client, provider) as box, Server() as server:
        assert box.facts["network"] == "none"
        assert {"name": "network", "value": "none"} in box.facts["isolation"]["walls"], box.facts["isolation"]
        out = box.run(FETCH + f"print(fetch('http://{HOST}:{server.port}/x'))")["stdout"]
        assert out == "URLError\n", out
        facts = client.ok("GET", box.base + "/network")
        assert facts["mode"] == "none" and facts["decisions"] == [] and not server.seen


@case("network")
def network_reaches_what_is_allowed(client, provider):
    with Server() as server, Server() as other, \
            Sandbox(client, provider, network={"allow": [f"{HOST}:{server.port}"]}) as box:
        assert box.facts["network"] == "egress"
        walls = {one["name"]: one["value"] for one in box.facts["isolation"]["walls"]}
        assert walls["network"].startswith("egress"), walls
        out = box.run(FETCH + f"print(fetch('http://{HOST}:{server.port}/x')); print(fetch('http://{HOST}:{other.port}/y')[:3])")
        assert out["stdout"] == "/x None\n403\n", out
        assert box.shell(f"curl -s --socks5-hostname 127.0.0.1:3128 http://{HOST}:{server.port}/socks")["stdout"] == "/socks None"
        assert not other.seen
        assert decisions(client, box, host=HOST, port=server.port, allowed=True)[0]["count"] == 2
        denied = decisions(client, box, host=HOST, port=other.port, allowed=False)[0]
        assert denied["reason"] == "internal address", denied
        assert box.shell("getent hosts secret.example.com; echo $?")["stdout"] == "2\n"
        assert decisions(client, box, host="secret.example.com", port=53, allowed=False)


@case("network")
def network_of_a_running_session_changes(client, provider):
    with Server() as server, Sandbox(client, provider) as box:
        url = f"http://{HOST}:{server.port}/"
        box.run(FETCH)  # a kernel from before there was a network
        error = client.fails(400, "invalid_argument", "PUT", box.base + "/network", {"allow": ["a b"]})
        assert error["details"]["field"] == "network", error
        client.fails(400, "invalid_argument", "PUT", box.base + "/network", {"allows": []})
        facts = client.ok("PUT", box.base + "/network", {"allow": [HOST]})
        assert facts["mode"] == "egress" and facts["allow"] == [HOST], facts
        assert box.run(f"print(fetch('{url}'))")["stdout"] == "/ None\n"
        # A connection that stays open, then is no longer allowed.
        holder = socket.create_server((HOST, 0))
        box.shell(f"""python3 -c "
import socket
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'CONNECT {HOST}:{holder.getsockname()[1]} HTTP/1.1\\r\\n\\r\\n')
s.recv(100); open('/tmp/open', 'w').close()
try: s.recv(1)
except OSError: pass
open('/tmp/cut', 'w').close()
" """, background=True)
        wait(lambda: box.get("/tmp/open").status == 200)
        assert client.ok("GET", box.base + "/network")["open_connections"] == 1
        client.ok("PUT", box.base + "/network", {"mode": "none"})
        wait(lambda: box.get("/tmp/cut").status == 200)
        holder.close()
        assert box.run(f"print(fetch('{url}')[:3])")["stdout"] == "403\n"
        now = client.ok("GET", box.base)
        assert now["network"] == "none"
        assert {"name": "network", "value": "none"} in now["isolation"]["walls"], now["isolation"]


@case("network")
def network_headers_are_set_outside(client, provider):
    with Server() as server, Sandbox(client, provider, network={
            "allow": [HOST], "headers": {HOST: {"X-Key": "value-nobody-inside-knows"}}}) as box:
        box.run(FETCH + f"fetch('http://{HOST}:{server.port}/x')")
        assert server.seen == [("/x", "value-nobody-inside-knows")], server.seen
        facts = client.ok("GET", box.base + "/network")
        assert facts["headers"] == {HOST: ["X-Key"]}, facts
        assert "nobody-inside" not in str(client.ok("GET", box.base)) + str(facts)
        assert box.shell("env; cat /proc/self/environ")["stdout"].find("nobody-inside") < 0
        assert box.shell("test -s $SSL_CERT_FILE && echo trusted")["stdout"] == "trusted\n"


@case("network", "snapshot")
def network_authority_is_trusted_where_a_rule_needs_it(client, provider):
    plain = {"allow": [HOST]}
    ruled = {**plain, "headers": {HOST: {"X-Key": "v"}}}

    def trusted(base):
        """Where a program looks, and how many authorities it finds there."""
        out = client.ok("POST", base + "/execute", {"code": """import os, ssl
print(os.environ.get("SSL_CERT_FILE"), len(ssl.create_default_context().get_ca_certs()))"""})["stdout"]
        where, number = out.split()
        return where, int(number)

    def of_a_fork(box):
        base = "/api/sessions/" + client.ok("POST", box.base + "/fork", {})["session_id"]
        assert client.ok("POST", base + "/execute", {"code": "kept"})["results"][0]["data"]["text/plain"] == "1"
        found = trusted(base)
        client.ok("DELETE", base)
        return found

    with Sandbox(client, provider, network=plain) as box:
        own = trusted(box.base)
        assert own[0] == "None", own
    with Sandbox(client, provider, network=ruled) as box:
        box.run("kept = 1")
        assert trusted(box.base)[1] == own[1] + 1
        assert of_a_fork(box)[1] == own[1] + 1, "it has the rule as well"
        client.ok("PUT", box.base + "/network", plain)
        assert trusted(box.base)[1] == own[1]
        assert of_a_fork(box) == own, "the copied interpreter looks where it would have without the rule"
        client.ok("PUT", box.base + "/network", ruled)
        assert trusted(box.base)[1] == own[1] + 1
        client.ok("PUT", box.base + "/network", {"mode": "none"})
        assert trusted(box.base)[1] == own[1]


@case("network")
def network_secrets_stay_outside(client, provider):
    vault = harness.Client(client.port)
    vault.schema = None
    vault.ok("POST", "/secrets", {"name": "upstream", "value": "s3cret-of-upstream"})
    try:
        with Server() as server, Sandbox(client, provider, network={
                "allow": [HOST], "headers": {HOST: {"X-Key": "k ${secrets.upstream}"}}}) as box:
            url = f"http://{HOST}:{server.port}/x"
            # The server sends back what it was sent.
            out = box.run(FETCH + f"print(fetch('{url}'))")["stdout"]
            assert server.seen == [("/x", "k s3cret-of-upstream")], server.seen
            assert out == "/x k ******************\n", out
            vault.ok("POST", "/secrets/upstream", {"value": "another-value"})
            box.run(f"fetch('{url}')")
            assert server.seen[-1] == ("/x", "k another-value"), server.seen
            vault.ok("DELETE", "/secrets/upstream")
            assert box.run(f"print(fetch('{url}')[:3])")["stdout"] == "502\n"
            assert len(server.seen) == 2
            assert decisions(client, box, host=HOST, port=server.port, allowed=False)
    finally:
        vault("DELETE", "/secrets/upstream")


@case("network")
def network_log_outlives_the_session(client, provider):
    with Sandbox(client, provider, network="egress") as box:
        assert box.run(FETCH + "print(fetch('http://one.example.com/')[:3])")["stdout"] == "403\n"
    assert decisions(client, box, host="one.example.com", allowed=False)
    assert client.ok("GET", box.base + "/network")["mode"] == "egress"
    client.fails(409, "conflict", "PUT", box.base + "/network", {"allow": []})


@case("network", "snapshot")
def network_of_a_fork_is_its_own(client, provider):
    with Server() as server, Sandbox(client, provider, network={"allow": [HOST]}) as box:
        fork = client.ok("POST", box.base + "/fork", {})
        base = "/api/sessions/" + fork["session_id"]
        client.ok("PUT", box.base + "/network", {"mode": "none"})
        done = client.ok("POST", base + "/execute", {"code": FETCH + f"print(fetch('http://{HOST}:{server.port}/f'))"})
        assert done["stdout"] == "/f None\n", done
        client.ok("DELETE", base)


@case("network")
def network_in_the_words_of_e2b(client, provider):
    """E2B's control plane decides, our own routes look."""
    e2b = harness.Client(client.port)
    e2b.schema = None
    create = {"templateID": "base", "timeout": 300}
    for network, status in (({"allowOut": ["a.com"]}, 400), ({"denyOut": ["a.com"]}, 400), ({"allowOut": ["a b"]}, 400),
                            ({"egressProxy": {"address": "x:1"}}, 400), ({"rules": {"a.com": "x"}}, 400),
                            ({"rules": {"a.com": [{"transform": {"headers": {"X": "${e2b.identity.tokens.a}"}}}]}}, 400)):
        answer = e2b("POST", "/sandboxes", {**create, "network": network})
        assert answer.status == status and answer.json["code"] == status, (network, answer.body)
    with Server() as server:
        url = f"http://{HOST}:{server.port}/x"
        made = e2b.ok("POST", "/sandboxes", {**create, "network": {
            "allowOut": [HOST, "*.example.com"], "denyOut": ["0.0.0.0/0"],
            "rules": {HOST: [{"transform": {"headers": {"X-Key": "from-a-rule"}}}]}}})
        base = "/api/sessions/" + made["sandboxID"]

        def fetch(code="print(fetch(url))"):
            return client.ok("POST", base + "/execute", {"code": FETCH + f"url = '{url}'\n" + code})["stdout"]

        assert fetch() == "/x from-a-rule\n" and server.seen[-1][1] == "from-a-rule"
        assert fetch("print(fetch('http://other.test/')[:3])") == "403\n"
        where = "/sandboxes/" + made["sandboxID"]
        assert e2b("PUT", where + "/network", {"denyOut": ["a.com"]}).status == 400
        assert e2b("PUT", where + "/network", {"allowOut": [HOST], "denyOut": ["0.0.0.0/0"]}).status == 204
        assert fetch() == "/x None\n"
        assert e2b("PUT", where + "/network", {"allow_internet_access": False}).status == 204
        assert fetch("print(fetch(url)[:3])") == "403\n"
        shown = e2b.ok("GET", where)
        assert shown["allowInternetAccess"] is False and "allowOut" not in shown["network"], shown
        assert client.ok("GET", base + "/network")["mode"] == "none"
        e2b.ok("DELETE", where)
        assert e2b("PUT", where + "/network", {}).status == 404
        # Nothing said: the internet, but not this machine.
        open_one = e2b.ok("POST", "/sandboxes", create)
        base = "/api/sessions/" + open_one["sandboxID"]
        assert client.ok("GET", base + "/network")["allow"] == ["*"]
        assert fetch("print(fetch(url)[:3])") == "403\n"
        e2b.ok("DELETE", "/sandboxes/" + open_one["sandboxID"])


@case("ports")
def ports_that_are_listened_on(client, provider):
    with Sandbox(client, provider) as box:
        assert client.ok("GET", box.base + "/ports") == {"ports": []}
        box.shell("python3 -m http.server 8099", background=True)
        wait(lambda: client.ok("GET", box.base + "/ports") == {"ports": [8099]})


# One request a connection: its path, method, body and a header come back; a WebSocket gets its frames back in capitals.
SERVER = '''
import base64, hashlib, http.server, struct

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = f"{self.command} {self.path} {self.headers['X-Mine']} ".encode() + self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.send_response(201)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Theirs", "yes")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        while True:
            first, second = self.rfile.read(2)
            mask = self.rfile.read(4)
            text = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(second & 127))).upper()
            self.wfile.write(bytes([first, len(text)]) + text)
            if first & 15 == 8:
                self.close_connection = True
                return

http.server.ThreadingHTTPServer(("127.0.0.1", 8097), Handler).serve_forever()
'''


@case("ports")
def ports_speak_http_and_websocket(client, provider):
    with Sandbox(client, provider) as box, Sandbox(client, provider) as other:
        box.put("/home/user/server.py", SERVER.encode())
        box.shell("python3 server.py", background=True)
        wait(lambda: 8097 in client.ok("GET", box.base + "/ports")["ports"])

        def host(session, port):
            return session.facts["url"].replace("{port}", str(port)).removeprefix("http://")

        def post(where, body=b"body"):
            connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=30)
            connection.request("POST", "/path?q=1", body, {"Host": where, "X-Mine": "mine"})
            answer = connection.getresponse()
            return answer.status, answer.getheader("X-Theirs"), answer.read()

        assert post(host(box, 8097)) == (201, "yes", b"POST /path?q=1 mine body")
        large = bytes(range(256)) * 8192
        assert post(host(box, 8097), large)[2] == b"POST /path?q=1 mine " + large
        assert post(host(box, 8096))[0] == 502, "nobody listens there"
        assert post(host(other, 8097))[0] == 502, "a port of one sandbox is none of another's"
        socket_inside = WebSocket(client.port, "/ws", [], host(box, 8097))
        assert socket_inside.status == 101
        for word in (b"first", b"second"):
            socket_inside.send(word, text=True)
            assert socket_inside.receive() == (1, word.upper())
        socket_inside.close()


@case("ports")
def ports_are_reached_raw_over_websocket(client, provider):
    with Sandbox(client, provider) as box:
        assert client("GET", box.base + "/ports/70000").status == 400
        assert client("GET", box.base + "/ports/x").status == 400
        headers = ["X-API-Key: " + client.key]
        assert WebSocket(client.port, box.base + "/ports/8098", headers).status == 503
        box.shell("""python3 -c "
import socket
with socket.create_server(('127.0.0.1', 8098)) as s:
    for _ in range(2):
        c, _ = s.accept()
        c.sendall(b'220 first\\n')
        while (b := c.recv(65536)): c.sendall(b.upper()) if b != b'quit' else c.close()
" """, background=True)
        wait(lambda: 8098 in client.ok("GET", box.base + "/ports")["ports"])
        raw = WebSocket(client.port, box.base + "/ports/8098", headers)
        assert raw.status == 101
        assert raw.receive() == (2, b"220 first\n")
        raw.send(b"hello\x00\xff")
        assert raw.receive() == (2, b"HELLO\x00\xff")
        raw.close()


def wait(condition):
    deadline = time.time() + 30
    while not condition():
        assert time.time() < deadline, "waited in vain"
        time.sleep(0.1)
