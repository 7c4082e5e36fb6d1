#!/usr/bin/env python3
"""npm's registry and PyPI as this machine reaches them, on 127.0.0.2 over plain HTTP. Says its address on standard output.

For machines whose resolver sends these names to a mirror of their own: builds of environments do not reach internal
addresses unless a recipe names them, and know no authority of such a mirror.
"""
import http.server
import urllib.error
import urllib.request

HOSTS = ("registry.npmjs.org", "pypi.org", "files.pythonhosted.org")


class Mirror(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        host, _, path = self.path[1:].partition("/")
        if host not in HOSTS:
            return self.send_error(404)
        request = urllib.request.Request(f"https://{host}/{path}", headers={"Accept": self.headers.get("Accept", "*/*")})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                kind, body = answer.headers.get("Content-Type", ""), answer.read()
        except urllib.error.HTTPError as problem:
            return self.send_error(problem.code)
        if "json" in kind or "html" in kind:
            for name in HOSTS:
                body = body.replace(f"https://{name}/".encode(), f"http://127.0.0.2:{self.server.server_port}/{name}/".encode())
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.2", 0), Mirror)
print(f"127.0.0.2:{server.server_port}", flush=True)
server.serve_forever()
