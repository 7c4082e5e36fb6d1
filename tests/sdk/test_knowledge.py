"""Search by meaning, collections and relations."""
from __future__ import annotations

import pytest
from atoll import errors


def test_refusals_have_their_types(client):
    with pytest.raises(errors.NotFoundError):
        client.knowledge.search_points("nothing", "x")
    with pytest.raises(errors.InvalidArgumentError):
        client.knowledge.search("x", kinds=["nothing"])


def test_tools_are_found_by_what_they_do(client):
    found = client.knowledge.search("fetch a page from the web", kinds=["tool"])
    assert found["degraded"] is False
    assert "http_fetch" in [hit["id"] for hit in found["hits"]][:3]


def test_a_collection_of_ones_own(client):
    knowledge = client.knowledge
    assert knowledge.make_collection("sdk-own", dimension=3)["dimension"] == 3
    assert knowledge.put_points("sdk-own", [{"id": "x", "vector": [1, 0, 0], "payload": {"n": 1}},
                                            {"id": "y", "vector": [0, 1, 0], "payload": {"n": 2}}]) == 2
    assert [hit["id"] for hit in knowledge.search_points("sdk-own", vector=[1, 0.1, 0])["hits"]] == ["x", "y"]
    assert [hit["id"] for hit in knowledge.search_points("sdk-own", vector=[1, 0.1, 0], filter={"n": 2})["hits"]] == ["y"]
    assert knowledge.remove_points("sdk-own", ["x", "z"]) == 1
    assert "sdk-own" in [one["name"] for one in knowledge.collections()]
    knowledge.remove_collection("sdk-own")


def test_relations(client):
    knowledge = client.knowledge
    knowledge.relate(("ticket", "sdk-1"), "blocks", ("ticket", "sdk-2"))
    knowledge.relate(("ticket", "sdk-2"), "blocks", ("ticket", "sdk-3"))
    way = knowledge.related(("ticket", "sdk-1"), to=("ticket", "sdk-3"), direction="out", depth=3)
    assert [node["id"] for node in way["nodes"]] == ["sdk-1", "sdk-2", "sdk-3"]
    assert knowledge.related(("ticket", "sdk-1"), direction="in")["edges"] == []
    assert knowledge.unrelate(("ticket", "sdk-1"), "blocks", ("ticket", "sdk-2")) is True
    assert knowledge.unrelate(("ticket", "sdk-1"), "blocks", ("ticket", "sdk-2")) is False
    assert knowledge.unrelate(("ticket", "sdk-2"), "blocks", ("ticket", "sdk-3")) is True
