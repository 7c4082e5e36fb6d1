"""The client: creates and finds sessions."""
from __future__ import annotations

from types import TracebackType
from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence, Type, Union

import httpx

from .._wire import given, quoted
from ..models import Record, SessionInfo, Snapshot, ToolCall, Verdict, parse
from .knowledge import AsyncKnowledge
from .session import AsyncSession, history_query, pages
from .transport import AsyncTransport

# Beyond the time that the service waits for a call: for the answer itself.
_GRACE = 30.0


class AsyncSandboxClient:
    """Speaks to one service. Usable by several threads or tasks at once.

    `url` and `api_key` are taken from ATOLL_URL and ATOLL_API_KEY where they are not given. `timeout` bounds each
    answer except those that wait for guest code. Idempotent calls are repeated up to `retries` times when the
    connection fails or the service asks for it; others are repeated only if they were never sent."""

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None, *, timeout: float = 60.0,
                 connect_timeout: float = 10.0, retries: int = 2, verify: Union[bool, str] = True,
                 http_transport: Optional[httpx.AsyncBaseTransport] = None) -> None:
        self._transport = AsyncTransport(url, api_key, timeout, connect_timeout, retries, verify, http_transport)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._transport.url!r})"

    async def __aenter__(self) -> AsyncSandboxClient:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes its connections. Sessions go on."""
        await self._transport.aclose()

    @property
    def url(self) -> str:
        return self._transport.url

    @property
    def knowledge(self) -> AsyncKnowledge:
        """Search by meaning, collections and relations."""
        return AsyncKnowledge(self._transport)

    async def create(self, *, provider: Optional[str] = None, environment: Optional[str] = None,
                     agent: Optional[str] = None, metadata: Optional[Mapping[str, str]] = None,
                     limits: Optional[Mapping[str, float]] = None, policy: Optional[str] = None,
                     network: Union[str, Mapping[str, Any], None] = None, ttl_seconds: Optional[float] = None,
                     env: Optional[Mapping[str, str]] = None, snapshot: Union[str, Snapshot, None] = None,
                     extend_on_use: Optional[bool] = None, on_expiry: Optional[str] = None,
                     auto_resume: Optional[bool] = None, public_ports: Optional[bool] = None,
                     skills: Optional[Sequence[str]] = None, storage: Optional[str] = None,
                     image: Optional[str] = None, fallback: Optional[Sequence[str]] = None,
                     required_walls: Optional[Sequence[str]] = None) -> AsyncSession:
        """`provider` is one that capabilities() names, or auto; `fallback` names others that will do, in this order.
        `image` is for providers that run images. `required_walls` names walls of the isolation without which there is to be
        no session."""
        body = given(provider=provider, environment=environment, agent=agent, metadata=metadata, limits=limits,
                     policy=policy, network=network, ttl_seconds=ttl_seconds, env=env,
                     snapshot=snapshot.snapshot_id if isinstance(snapshot, Snapshot) else snapshot,
                     extend_on_use=extend_on_use, on_expiry=on_expiry, auto_resume=auto_resume,
                     public_ports=public_ports, skills=None if skills is None else [*skills], storage=storage, image=image,
                     fallback=None if fallback is None else [*fallback],
                     required_walls=None if required_walls is None else [*required_walls])
        answer = await self._transport.json("POST", "/api/sessions", body=body)
        return AsyncSession(self._transport, parse(SessionInfo.from_json, answer, "session"))

    async def get(self, session_id: str) -> AsyncSession:
        """An existing session, by its own or its sandbox's id. As a context manager it ends too, unless kept."""
        answer = await self._transport.json("GET", f"/api/sessions/{quoted(session_id)}")
        return AsyncSession(self._transport, parse(SessionInfo.from_json, answer, "session"))

    async def connect(self, session_id: str) -> AsyncSession:
        """As get(), but leaving the block does not end a session that somebody else began; a paused one is resumed."""
        session = (await self.get(session_id)).keep()
        if session.state == "paused":
            await session.resume()
        return session

    async def list(self, *, state: Optional[Sequence[str]] = None, provider: Optional[str] = None,
                   environment: Optional[str] = None, created_after: Optional[str] = None, order: str = "asc",
                   metadata: Optional[Mapping[str, str]] = None, limit: Optional[int] = None
                   ) -> AsyncIterator[SessionInfo]:
        """Sessions of the key's tenant, all of them or at most `limit`. Lists hold no secrets."""
        values = {"state": None if state is None else [*state], "provider": provider, "environment": environment,
                  "created_after": created_after, "order": order,
                  **{f"metadata.{name}": value for name, value in (metadata or {}).items()}}
        async for one in pages(self._transport, "/api/sessions", "sessions", values, limit):
            yield parse(SessionInfo.from_json, one, "session")

    async def history(self, *, session_id: Optional[str] = None, status: Optional[Sequence[str]] = None,
                      text: Optional[str] = None, since: Optional[str] = None, until: Optional[str] = None,
                      order: str = "asc", limit: Optional[int] = None) -> AsyncIterator[Record]:
        """What was run in all sessions of the tenant."""
        values = {"session_id": session_id, **history_query(status, text, since, until, order)}
        async for one in pages(self._transport, "/api/history", "records", values, limit):
            yield parse(Record.from_json, one, "record")

    async def snapshots(self) -> AsyncIterator[Snapshot]:
        async for one in pages(self._transport, "/api/snapshots", "snapshots", {}, None):
            yield parse(Snapshot.from_json, one, "snapshot")

    async def remove_snapshot(self, snapshot: Union[str, Snapshot]) -> None:
        wanted = snapshot if isinstance(snapshot, str) else snapshot.snapshot_id
        await self._transport.call("DELETE", f"/api/snapshots/{quoted(wanted)}")

    async def artifact(self, digest: str) -> bytes:
        return (await self._transport.call("GET", f"/api/artifacts/{quoted(digest)}")).content

    async def validate(self, code: str, *, language: Optional[str] = None, policy: Optional[str] = None) -> Verdict:
        """What a policy of the service says of code; nothing runs."""
        answer = await self._transport.json("POST", "/api/validate", idempotent=True,
                                            body=given(code=code, language=language, policy=policy))
        return parse(Verdict.from_json, answer, "verdict")

    async def environments(self) -> List[Dict[str, Any]]:
        return list((await self._transport.json("GET", "/api/environments"))["environments"])

    async def agents(self) -> List[Dict[str, Any]]:
        return list((await self._transport.json("GET", "/api/agents"))["agents"])

    async def tools(self, *, format: Optional[str] = None, search: Optional[str] = None) -> List[Dict[str, Any]]:
        """The tools that sessions can call; `format` is openai, anthropic or mcp for a model's API."""
        params = {"format": format, "search": search}
        return list((await self._transport.json("GET", "/api/tools", params=params))["tools"])

    async def put_tool(self, declaration: Mapping[str, Any]) -> None:
        """Declares a tool of the tenant's own, or replaces it. ToolBase.declaration() makes one."""
        name = quoted(str(declaration["name"]))
        await self._transport.json("PUT", f"/api/registry/tools/{name}", body=dict(declaration), idempotent=True)

    async def remove_tool(self, name: str) -> None:
        await self._transport.call("DELETE", f"/api/registry/tools/{quoted(name)}")

    async def next_tool_call(self, tools: Sequence[str], *, wait_seconds: float = 20.0) -> Optional[ToolCall]:
        """Waits for a call of one of these tools, which are declared with `run: {client: true}`, and takes it: nobody
        else gets it. None if none came. ToolRegistry.serve() does this for you."""
        answer = await self._transport.json("POST", "/api/tool-calls/next", timeout=wait_seconds + _GRACE,
                                            body={"tools": list(tools), "wait_seconds": wait_seconds})
        return None if answer["call"] is None else parse(ToolCall.from_json, answer["call"], "call")

    async def tell_tool_progress(self, call_id: str, progress: float, total: Optional[float] = None,
                                 message: Optional[str] = None) -> None:
        """Tells the caller how far a taken call is. NotFoundError: the caller has left, and nobody waits any more."""
        await self._transport.call("POST", f"/api/tool-calls/{quoted(call_id)}/progress",
                                   body=given(progress=progress, total=total, message=message))

    async def finish_tool_call(self, call_id: str, output: Any = None, *,
                               error: Optional[Mapping[str, str]] = None) -> None:
        """Gives the result of a taken call: its output, or `error` with `name` and `value`."""
        body = {"error": dict(error)} if error is not None else {"output": output}
        await self._transport.call("POST", f"/api/tool-calls/{quoted(call_id)}/result", body=body)

    async def skills(self) -> List[Dict[str, Any]]:
        """Skills that sessions may use: name, description and more."""
        return list((await self._transport.json("GET", "/api/skills"))["skills"])

    async def list_skills(self) -> List[Dict[str, Any]]:
        """The same as skills()."""
        return await self.skills()

    async def skills_text(self) -> str:
        """The same as a text for a model: what each is for, and how its instructions are read."""
        return (await self._transport.call("GET", "/api/skills", params={"format": "text"})).text

    async def add_skills(self, archive: bytes) -> List[Dict[str, Any]]:
        """Adds skills of the tenant's own from a tar archive or a git bundle."""
        return list((await self._transport.json("POST", "/api/skills", content=archive))["skills"])

    async def remove_skill(self, name: str) -> None:
        await self._transport.call("DELETE", f"/api/skills/{quoted(name)}")

    async def render_prompt(self, name: str, variables: Optional[Mapping[str, Any]] = None) -> str:
        """The text of a prompt of the registry with these variables."""
        answer = await self._transport.json("POST", f"/api/prompts/{quoted(name)}/render", idempotent=True,
                                            body={"variables": dict(variables or {})})
        return str(answer["text"])

    async def capabilities(self) -> Dict[str, Any]:
        """What this machine gives, found out by trying."""
        return dict(await self._transport.json("GET", "/api/capabilities"))

    async def version(self) -> str:
        return str((await self._transport.json("GET", "/version"))["version"])

    async def healthy(self) -> bool:
        """Whether the service answers that it is up."""
        return bool((await self._transport.json("GET", "/health")).get("status") == "ok")
