#!/usr/bin/env python3
"""Qdrant's REST interface, as far as we speak it, over Qdrant's own engine (PyPI qdrant-edge-py). A test server.

Usage: qdrant_front.py DIRECTORY [--port N] [--key KEY]    prints the port it listens on

The engine stores, indexes, filters and searches; this file only translates JSON. Collections survive a restart: each is a
shard in DIRECTORY with its parameters beside it.
"""
import argparse
import http.server
import json
import pathlib
import shutil
import sys
import threading
import urllib.parse

import qdrant_edge as edge


class Refusal(Exception):
    def __init__(self, status, why):
        super().__init__(why)
        self.status, self.why = status, why


def condition(one):
    match = one.get("match", {})
    if "value" in match:
        return edge.FieldCondition(key=one["key"], match=edge.MatchValue(value=match["value"]))
    if "any" in match:
        return edge.FieldCondition(key=one["key"], match=edge.MatchAny(any=match["any"]))
    raise Refusal(400, f"unknown condition {one}")


def filter_of(body):
    if body is None:
        return None
    unknown = set(body) - {"must"}
    if unknown:
        raise Refusal(400, f"unknown filter {unknown}")
    return edge.Filter(must=[condition(one) for one in body["must"]])


class Collection:
    def __init__(self, place, params):
        self.place, self.params = place, params
        config = edge.EdgeConfig(vectors=edge.EdgeVectorParams(size=params["size"], distance=edge.Distance.Cosine))
        shard = place / "shard"
        if shard.exists():
            self.shard = edge.EdgeShard.load(str(shard))
        else:
            shard.mkdir(parents=True)
            self.shard = edge.EdgeShard.create(str(shard), config)

    def info(self):
        return {"status": "green", "points_count": self.count(),
                "config": {"params": {"vectors": {"size": self.params["size"], "distance": self.params["distance"]}}},
                "payload_schema": {name: {"data_type": "keyword", "points": 0} for name in self.params["indexes"]}}

    def count(self, wanted=None):
        return self.shard.count(edge.CountRequest(exact=True, filter=wanted))

    def keep(self):
        (self.place / "params.json").write_text(json.dumps(self.params))


class Engine:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.lock = threading.Lock()
        self.collections = {}
        for params in sorted(self.directory.glob("*/params.json")):
            self.collections[params.parent.name] = Collection(params.parent, json.loads(params.read_text()))

    def find(self, name):
        if name not in self.collections:
            raise Refusal(404, f"Not found: Collection `{name}` doesn't exist!")
        return self.collections[name]

    def make(self, name, body):
        if name in self.collections:
            raise Refusal(409, f"Collection `{name}` already exists!")
        vectors = body["vectors"]
        if vectors["distance"] != "Cosine" or not 1 <= vectors["size"] <= 65536:
            raise Refusal(400, "this front has Cosine alone")
        made = Collection(self.directory / name, {"size": vectors["size"], "distance": "Cosine", "indexes": []})
        made.keep()
        self.collections[name] = made
        return True

    def drop(self, name):
        gone = self.collections.pop(name, None)
        if gone is None:
            return False
        gone.shard.close()
        shutil.rmtree(gone.place)
        return True

    def index(self, name, body):
        collection = self.find(name)
        schema = body["field_schema"]
        kind = schema["type"] if isinstance(schema, dict) else schema
        if kind != "keyword":
            raise Refusal(400, "this front has keyword indexes alone")
        collection.shard.update(edge.UpdateOperation.create_field_index(body["field_name"], edge.PayloadSchemaType.Keyword))
        if body["field_name"] not in collection.params["indexes"]:
            collection.params["indexes"].append(body["field_name"])
            collection.keep()
        return {"operation_id": 0, "status": "completed"}

    def upsert(self, name, body):
        collection = self.find(name)
        points = []
        for one in body["points"]:
            if len(one["vector"]) != collection.params["size"]:
                raise Refusal(400, f"Wrong input: Vector dimension error: expected dim: {collection.params['size']}, got {len(one['vector'])}")
            points.append(edge.Point(one["id"], one["vector"], one["payload"]))
        collection.shard.update(edge.UpdateOperation.upsert_points(points))
        return {"operation_id": 0, "status": "completed"}

    def delete(self, name, body):
        collection = self.find(name)
        if "points" in body:
            collection.shard.update(edge.UpdateOperation.delete_points(body["points"]))
        else:
            collection.shard.update(edge.UpdateOperation.delete_points_by_filter(filter_of(body["filter"])))
        return {"operation_id": 0, "status": "completed"}

    def query(self, name, body):
        collection = self.find(name)
        unknown = set(body) - {"query", "filter", "limit", "with_payload", "with_vector"}
        if unknown:
            raise Refusal(400, f"unknown fields {unknown}")
        wanted = body["query"]["nearest"] if isinstance(body["query"], dict) else body["query"]
        found = collection.shard.query(edge.QueryRequest(
            query=edge.Query.Nearest(wanted), filter=filter_of(body.get("filter")), limit=body["limit"],
            with_payload=bool(body.get("with_payload")), with_vector=bool(body.get("with_vector"))))
        return {"points": [{"id": one.id, "version": 0, "score": one.score} for one in found]}


def make_handler(engine, key, log):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def answer(self, status, body):
            text = json.dumps({**body, "time": 0.0}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def serve(self):
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
            path = urllib.parse.urlsplit(self.path)
            if log:
                with open(log, "a", encoding="utf-8") as file:
                    file.write(json.dumps([self.command, self.path, body]) + "\n")
            try:
                if key and self.headers.get("api-key") != key:
                    raise Refusal(401, "Must provide an API key or an Authorization bearer token")
                with engine.lock:
                    result = self.act(path.path.strip("/").split("/"), body)
                self.answer(200, {"result": result, "status": "ok"})
            except Refusal as refusal:
                self.answer(refusal.status, {"status": {"error": refusal.why}})
            except Exception as error:  # noqa: BLE001
                print(f"{self.command} {self.path}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                self.answer(400, {"status": {"error": f"{type(error).__name__}: {error}"}})

        def act(self, parts, body):
            if parts == ["collections"] and self.command == "GET":
                return {"collections": [{"name": name} for name in engine.collections]}
            if len(parts) < 2 or parts[0] != "collections":
                raise Refusal(404, "no such route")
            name, rest = parts[1], "/".join(parts[2:])
            acts = {("GET", ""): lambda: engine.find(name).info(), ("PUT", ""): lambda: engine.make(name, body),
                    ("DELETE", ""): lambda: engine.drop(name), ("PUT", "index"): lambda: engine.index(name, body),
                    ("PUT", "points"): lambda: engine.upsert(name, body),
                    ("POST", "points/delete"): lambda: engine.delete(name, body),
                    ("POST", "points/query"): lambda: engine.query(name, body),
                    ("POST", "points/count"): lambda: {"count": engine.find(name).count(filter_of((body or {}).get("filter")))}}
            if (self.command, rest) not in acts:
                raise Refusal(404, "no such route")
            return acts[self.command, rest]()

        do_GET = do_PUT = do_POST = do_DELETE = serve

    return Handler


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="")
    parser.add_argument("--log", default="", help="file that gets every request")
    asked = parser.parse_args()
    pathlib.Path(asked.directory).mkdir(parents=True, exist_ok=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", asked.port), make_handler(Engine(asked.directory), asked.key, asked.log))
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()


main()
