"""Fetch over HTTP with a time-out and a bound on the answer; only the standard library."""
import json as _json
import urllib.error
import urllib.parse
import urllib.request


class Page:
    """One answer. `text` is decoded as the server says, or as UTF-8 with replacements."""

    def __init__(self, url, status, headers, body, truncated):
        self.url, self.status, self.headers, self.body, self.truncated = url, status, headers, body, truncated

    @property
    def text(self):
        charset = "utf-8"
        for part in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = part.strip().partition("=")
            if name.lower() == "charset":
                charset = value.strip("\"' ")
        try:
            return self.body.decode(charset, "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")

    def json(self):
        return _json.loads(self.text)


def fetch(url, *, method="GET", data=None, json=None, headers=None, timeout=20, limit=5 << 20):
    """Gives a Page, also for statuses of 400 and above. Raises ValueError for what is no HTTP address, OSError if
    nothing answers."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"not an http or https address: {url!r}")
    sent = dict(headers or {})
    if json is not None:
        data = _json.dumps(json).encode()
        sent.setdefault("Content-Type", "application/json")
        method = "POST" if method == "GET" else method
    request = urllib.request.Request(url, data=data, headers=sent, method=method)
    try:
        answer = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        body = answer.read(limit + 1)
        names = {name.lower(): value for name, value in answer.headers.items()}
        return Page(answer.geturl(), answer.status, names, body[:limit], len(body) > limit)
