"""A live daemon with a fault-injecting proxy in front of it, for programs that are told of both by variables."""
import contextlib
import http.server
import json
import os
import pathlib
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "api"), str(HERE.parent / "sdk")]
import harness  # noqa: E402
from proxy import Proxy  # noqa: E402


class Control(http.server.BaseHTTPRequestHandler):
    """What a test program asks of the proxy. Also a service that is none of ours."""

    proxy = None
    protocol_version = "HTTP/1.1"

    def _answer(self, text, kind="application/json"):
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/text":
            return self._answer("hello", "text/plain")
        return self._answer(json.dumps({"connections": self.proxy.connections, "requests": self.proxy.requests}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if self.path == "/faults":
            self.proxy.faults, self.proxy.connections, self.proxy.requests = body, 0, []
        elif self.path == "/cut":
            self.proxy.cut_all()
        return self._answer("{}")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def service():
    """Variables for the programs under test."""
    daemon = harness.Daemon().start()
    try:
        with Proxy(daemon.port) as proxy:
            Control.proxy = proxy
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Control)
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield {**os.environ, "ATOLL_URL": f"http://127.0.0.1:{daemon.port}", "ATOLL_API_KEY": harness.KEY,
                   "ATOLL_PROXY_URL": proxy.url, "ATOLL_CONTROL_URL": f"http://127.0.0.1:{server.server_port}"}
            server.shutdown()
    finally:
        daemon.remove()


if __name__ == "__main__":
    import subprocess

    with service() as variables:
        sys.exit(subprocess.run(sys.argv[1:], env=variables).returncode)
