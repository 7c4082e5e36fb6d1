#!/usr/bin/env python3
"""A package index for pip and npm with one package, `tiny`, on 127.0.0.2. Says its address on standard output."""
import base64
import hashlib
import http.server
import io
import json
import tarfile
import zipfile

INFO = "tiny-1.0.dist-info/"


def wheel():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("tiny.py", "word = 'fetched by pip'\n")
        archive.writestr(INFO + "METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(INFO + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(INFO + "RECORD", f"tiny.py,,\n{INFO}METADATA,,\n{INFO}WHEEL,,\n{INFO}RECORD,,\n")
    return out.getvalue()


def package():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in (("package.json", json.dumps({"name": "tiny", "version": "1.0.0", "main": "index.js"})),
                           ("index.js", "exports.word = 'fetched by npm';\n")):
            info = tarfile.TarInfo("package/" + name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


WHEEL, PACKAGE = wheel(), package()


class Index(http.server.BaseHTTPRequestHandler):
    def answers(self):
        where = f"http://127.0.0.2:{self.server.server_port}"
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(PACKAGE).digest()).decode()
        version = {"name": "tiny", "version": "1.0.0", "dist": {"tarball": where + "/tiny-1.0.0.tgz", "integrity": integrity}}
        return {
            "/simple/tiny/": ("text/html", b"<a href='/tiny-1.0-py3-none-any.whl'>tiny-1.0-py3-none-any.whl</a>"),
            "/tiny-1.0-py3-none-any.whl": ("application/zip", WHEEL),
            "/tiny": ("application/json", json.dumps({"name": "tiny", "dist-tags": {"latest": "1.0.0"},
                                                      "versions": {"1.0.0": version}}).encode()),
            "/tiny-1.0.0.tgz": ("application/gzip", PACKAGE),
        }

    def do_GET(self):
        kind, body = self.answers().get(self.path, ("", b""))
        self.send_response(200 if kind else 404)
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.2", 0), Index)
print(f"127.0.0.2:{server.server_port}", flush=True)
server.serve_forever()
