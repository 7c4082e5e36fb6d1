"""What can be found: search by meaning, collections, relations."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._wire import given, quoted
from .transport import AsyncTransport

Node = Tuple[str, str]  # kind, id


def _node(node: Node) -> Dict[str, str]:
    return {"kind": node[0], "id": node[1]}


class AsyncKnowledge:
    """Answers are those of the service as they are; `degraded` in them says that something was left out."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def search(self, query: str, *, kinds: Optional[Sequence[str]] = None, limit: int = 10,
                     offset: int = 0) -> Dict[str, Any]:
        """Tools, skills, prompts, agents, executions and artifacts, the best first: `hits` with kind, id and score."""
        body = given(query=query, kinds=None if kinds is None else [*kinds], limit=limit, offset=offset)
        return dict(await self._transport.json("POST", "/api/index/search", body=body, idempotent=True))

    async def collections(self) -> List[Dict[str, Any]]:
        return list((await self._transport.json("GET", "/api/index/collections"))["collections"])

    async def make_collection(self, name: str, *, dimension: Optional[int] = None) -> Dict[str, Any]:
        """`dimension`: the caller makes the vectors. One that is there stays as it is."""
        path = f"/api/index/collections/{quoted(name)}"
        return dict(await self._transport.json("PUT", path, body=given(dimension=dimension), idempotent=True))

    async def remove_collection(self, name: str) -> None:
        await self._transport.call("DELETE", f"/api/index/collections/{quoted(name)}")

    async def put_points(self, collection: str, points: Sequence[Mapping[str, Any]]) -> int:
        """Each with an id and a text or a vector; all or none of them, at most 1,000."""
        path = f"/api/index/collections/{quoted(collection)}/points"
        body = {"points": [dict(point) for point in points]}
        return int((await self._transport.json("POST", path, body=body, idempotent=True))["points"])

    async def remove_points(self, collection: str, ids: Sequence[str]) -> int:
        path = f"/api/index/collections/{quoted(collection)}/points/delete"
        return int((await self._transport.json("POST", path, body={"ids": [*ids]}, idempotent=True))["removed"])

    async def search_points(self, collection: str, query: Optional[str] = None, *,
                            vector: Optional[Sequence[float]] = None, filter: Optional[Mapping[str, Any]] = None,
                            limit: int = 10, offset: int = 0) -> Dict[str, Any]:
        body = given(query=query, vector=None if vector is None else [*vector],
                     filter=None if filter is None else dict(filter), limit=limit, offset=offset)
        path = f"/api/index/collections/{quoted(collection)}/search"
        return dict(await self._transport.json("POST", path, body=body, idempotent=True))

    async def related(self, start: Node, *, to: Optional[Node] = None, edges: Optional[Sequence[str]] = None,
                      direction: Optional[str] = None, depth: int = 1) -> Dict[str, Any]:
        """Nodes and edges around something, or with `to` one of the shortest ways to it."""
        body = given(edges=None if edges is None else [*edges], direction=direction, depth=depth)
        body["from"] = _node(start)
        if to is not None:
            body["to"] = _node(to)
        return dict(await self._transport.json("POST", "/api/graph/query", body=body, idempotent=True))

    async def relate(self, start: Node, type: str, end: Node) -> None:
        body = {"from": _node(start), "type": type, "to": _node(end)}
        await self._transport.json("POST", "/api/graph/edges", body=body, idempotent=True)

    async def unrelate(self, start: Node, type: str, end: Node) -> bool:
        body = {"from": _node(start), "type": type, "to": _node(end)}
        answer = await self._transport.json("POST", "/api/graph/edges/delete", body=body, idempotent=True)
        return bool(answer["removed"])
