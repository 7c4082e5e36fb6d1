# Made by tools/make_sync.py from _async/transport.py; change that one.
"""Calls over HTTP: authentication, time-outs, retries, errors."""
from __future__ import annotations

import os
import random
from contextlib import contextmanager
from typing import Any, Iterator, Mapping, Optional, Sequence, Union
from urllib.request import getproxies

import httpx

from .. import errors
from .._bridge import sync_closing, sync_sleep, keep_alive
from .._wire import Event, EventReader, QueryValue, query

DEFAULT_URL = "http://127.0.0.1:8000"
# Made before anything was sent: trying again repeats nothing.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_RETRY_STATUS = (429, 502, 503, 504)
_LONGEST_WAIT = 5.0


class _Default:
    """Stands for the client's own time-out, because None means none."""


DEFAULT = _Default()
Timeout = Union[float, None, _Default]


class Transport:
    """Usable by several threads or tasks at once. Owns its connections; `close()` ends them."""

    def __init__(self, url: Optional[str], api_key: Optional[str], timeout: float, connect_timeout: float,
                 retries: int, verify: Union[bool, str], http_transport: Optional[httpx.BaseTransport]) -> None:
        self.url = (url or os.environ.get("ATOLL_URL") or DEFAULT_URL).rstrip("/")
        key = api_key if api_key is not None else os.environ.get("ATOLL_API_KEY", "")
        if not self.url.startswith(("http://", "https://", "unix:/")):
            raise errors.ConfigurationError(f"'{self.url}' is no address of a service",
                                            hint="write http://HOST:PORT, https://HOST:PORT or unix:/PATH")
        if not key.isascii() or any(ord(c) < 0x21 for c in key):
            raise errors.ConfigurationError("the API key holds characters that no key has",
                                            hint="set ATOLL_API_KEY to the key alone, without spaces or line ends")
        if retries < 0:
            raise errors.ConfigurationError("retries is a number from 0 on")
        self.timeout = timeout
        self.connect_timeout = connect_timeout
        self.retries = retries
        headers = {"User-Agent": "atoll-python/0.1.0"}
        if key:
            headers["X-API-Key"] = key
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=30)
        base = self.url
        if http_transport is None and base.startswith("unix:"):
            http_transport, base = httpx.HTTPTransport(uds=base[5:], limits=limits), "http://localhost"
        elif http_transport is None and not getproxies():
            # A transport of our own takes no proxies from the environment, so it is made only where there are none.
            http_transport = httpx.HTTPTransport(verify=verify, limits=limits, socket_options=keep_alive())
        self._http = httpx.Client(base_url=base, headers=headers, limits=limits, verify=verify,
                                       transport=http_transport, follow_redirects=False)

    def close(self) -> None:
        self._http.close()

    def _time(self, timeout: Timeout) -> httpx.Timeout:
        whole = self.timeout if isinstance(timeout, _Default) else timeout
        return httpx.Timeout(whole, connect=self.connect_timeout)

    def call(self, method: str, path: str, *, params: Optional[Mapping[str, QueryValue]] = None,
                   body: Any = None, content: Any = None, headers: Optional[Mapping[str, str]] = None,
                   idempotent: Optional[bool] = None, accept: Sequence[int] = (),
                   timeout: Timeout = DEFAULT) -> httpx.Response:
        """One whole answer; a status that is no success is an error unless `accept` names it. A call that is not
        idempotent is repeated only if it was never sent."""
        repeatable = method in ("GET", "PUT", "DELETE") if idempotent is None else idempotent
        attempt, unsure = 0, False
        while True:
            attempt += 1
            wait: Optional[str] = None
            try:
                response = self._http.request(
                    method, path, params=query(params or {}), json=body, content=content, headers=headers,
                    timeout=self._time(timeout))
            except httpx.HTTPError as error:
                sent = not isinstance(error, _NOT_SENT)
                if attempt > self.retries or (sent and not repeatable):
                    raise translated(error) from error
                unsure = unsure or sent
            else:
                if response.is_success or response.status_code in accept:
                    return response
                if unsure and method == "DELETE" and response.status_code == 404:
                    # The answer of an earlier try was lost, and what it should remove is gone.
                    return httpx.Response(204, request=response.request)
                if attempt > self.retries or not repeatable or response.status_code not in _RETRY_STATUS:
                    raise failure(response)
                wait = response.headers.get("Retry-After")
            sync_sleep(pause(attempt, wait))

    def json(self, method: str, path: str, **more: Any) -> Any:
        response = self.call(method, path, **more)
        try:
            return response.json()
        except ValueError:
            raise errors.ProtocolError(f"{method} {path}: the answer is no JSON") from None

    @contextmanager
    def stream(self, method: str, path: str, *, params: Optional[Mapping[str, QueryValue]] = None,
                     body: Any = None, headers: Optional[Mapping[str, str]] = None,
                     timeout: Timeout = DEFAULT) -> Iterator[httpx.Response]:
        """An answer that is read piece by piece. Never repeated. Leaving the block closes the connection, and the
        service ends what it ran for this call alone."""
        try:
            with self._http.stream(method, path, params=query(params or {}), json=body, headers=headers,
                                         timeout=self._time(timeout)) as response:
                if response.status_code >= 400:
                    response.read()
                    raise failure(response)
                yield response
        except httpx.HTTPError as error:
            raise translated(error) from error


def events(response: httpx.Response) -> Iterator[Event]:
    """The events of an answer as they come."""
    reader = EventReader()
    try:
        with sync_closing(response.iter_bytes()) as source:
            for piece in source:
                for event in reader.feed(piece):
                    yield event
    except httpx.HTTPError as error:
        raise translated(error) from error


def is_event_stream(response: httpx.Response) -> bool:
    return str(response.headers.get("Content-Type", "")).startswith("text/event-stream")


def pause(attempt: int, retry_after: Optional[str]) -> float:
    """How long to wait before the next try: what the service asks for, else longer each time, never the same."""
    if retry_after is not None and retry_after.isdigit():
        return min(float(retry_after), _LONGEST_WAIT)
    return min(0.1 * float(2 ** (attempt - 1)), _LONGEST_WAIT) * random.uniform(0.5, 1.0)


def failure(response: httpx.Response) -> errors.AtollError:
    try:
        body = response.json()
    except ValueError:
        body = None
    return errors.from_answer(response.status_code, body)


def translated(error: httpx.HTTPError) -> errors.AtollError:
    """Our error for one of the HTTP library."""
    text = str(error) or type(error).__name__
    if isinstance(error, _NOT_SENT):
        return errors.ConnectError(f"the service was not reached: {text}")
    if isinstance(error, httpx.TimeoutException):
        return errors.RequestTimeoutError(f"no answer in time: {text}")
    if isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError)):
        return errors.ConnectionLostError(f"the connection was cut: {text}")
    return errors.ProtocolError(text)
