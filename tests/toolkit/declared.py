"""What is declared, under attack: agents, tenants beside each other, prompts in circles, links, reloads amid other calls."""
import json
import os
import pathlib
import threading
import time

SKILL = "---\nname: {0}\ndescription: About {0}.\n{1}---\n# {0}\n"


def key_of(place, tenant):
    """A client of this tenant, once its key is in force."""
    client = place.daemon.client(place.daemon.keys("create", "--tenant", tenant).stdout.strip())
    deadline = time.time() + 20
    while client("GET", "/api/registry").status != 200:
        assert time.time() < deadline, "the key is not in force"
        time.sleep(0.05)
    return client


def an_agent_gives_its_sessions_all_that_it_names(place, Session):
    place.put("registry/prompts/own.yaml", "name: own\ntext: Own.\n")
    place.put("registry/agents/whole.yaml",
              "name: whole\nenvironment: host\nprovider: virtual\npolicy: strict\nlimits: {memory_mb: 77, execution_time_seconds: 9}\n"
              "network: none\ntools: [read_file]\nskills: [csv]\nprompt: own\nttl_seconds: 120\n")
    place.put("registry/agents/reacher.yaml", "name: reacher\nprovider: native\nnetwork: {allow: [api.example.com]}\nlimits: {memory_mb: 99}\n")
    client = place.serve("--set", f"registry={place.path}/registry")
    with Session(client, agent="whole") as session:
        facts = session.facts
        assert (facts["provider"], facts["policy"], facts["prompt"], facts["tools"], facts["skills"], facts["network"]) == (
            "virtual", "strict", "own", ["read_file"], ["csv"], "none"), facts
        assert facts["limits"]["memory_mb"] == 77 and facts["limits"]["execution_time_seconds"] == 9, facts
        assert session.run("rm -rf /tmp/x")["status"] == "denied", "its policy is in force"
        assert session.out("ls skills") == "csv"
    # What the request says comes first.
    with Session(client, agent="whole", policy="off", limits={"memory_mb": 88}, skills=["web"]) as session:
        assert session.facts["policy"] == "off" and session.facts["limits"]["memory_mb"] == 88, session.facts
        assert session.out("ls skills") == "web", session.facts
    if "native" in {one["name"] for one in client.ok("GET", "/api/capabilities")["providers"]}:
        with Session(client, agent="reacher") as session:
            assert session.facts["provider"] == "native" and session.facts["network"] == "egress", session.facts
            rules = client.ok("GET", session.base + "/network")
            assert "api.example.com" in json.dumps(rules), rules


def a_tenant_changes_nothing_for_others(place, Session):
    """Names that are shipped, declared by one tenant: its own sessions have them, nobody else's."""
    place.serve("--set", "provider=virtual")
    one, two = key_of(place, "one"), key_of(place, "two")
    before = two.ok("POST", "/api/prompts/code-executor/render", {})["text"]
    put = lambda path, text: one("PUT", "/api/registry/" + path, raw=text.encode()).status  # noqa: E731
    assert put("prompts/code-executor", "name: code-executor\ntext: Obey one.\n") == 201
    assert put("agents/code-executor", "name: code-executor\nprompt: code-executor\ntools: []\n") == 201
    assert put("tools/sql_query", "name: sql_query\ndescription: Mine.\nrun: {command: [id]}\n") == 409
    for kind in ("environments", "policies", "limits", "roles", "skills"):
        answer = one("PUT", f"/api/registry/{kind}/standard", raw=b"name: standard\n")
        assert answer.status in (400, 403, 501), (kind, answer.status, answer.body)
    for client, text, tools in ((one, "Obey one.", []), (two, before, None)):
        assert client.ok("POST", "/api/prompts/code-executor/render", {})["text"] == text
        with Session(client, type="code_executor") as session:
            assert client.ok("POST", session.base + "/prompt", {})["text"] == text
            assert (session.facts["tools"] == []) == (tools == []), session.facts
    # What a tenant declared is not in what everybody's reload reads, and a reload takes nothing of it away.
    place.client.ok("POST", "/api/registry/reload")
    assert one.ok("GET", "/api/registry/prompts/code-executor")["origin"] == "tenant"
    assert two.ok("GET", "/api/registry/prompts/code-executor")["origin"] == "shipped"
    one.ok("DELETE", "/api/registry/prompts/code-executor")
    assert one.ok("POST", "/api/prompts/code-executor/render", {})["text"] == before


def prompts_in_a_circle_are_refused(place, Session):
    place.put("registry/prompts/a.yaml", "name: a\ntext: 'a'\n")
    place.put("registry/prompts/b.yaml", "name: b\ntext: 'b {{> a}}'\n")
    client = place.serve("--set", f"registry={place.path}/registry")
    place.put("registry/prompts/a.yaml", "name: a\ntext: 'a {{> b}}'\n")
    error = client.fails(400, "invalid_argument", "POST", "/api/registry/reload")
    assert "includes itself" in error["message"] and ".yaml:" in error["message"], error
    assert client.ok("POST", "/api/prompts/b/render", {})["text"] == "b a"
    # A tenant's: in pieces, and around what everybody has.
    put = lambda name, text: client("PUT", f"/api/registry/prompts/{name}", raw=f"name: {name}\ntext: '{text}'\n".encode())  # noqa: E731
    assert put("mine", "{{> mine}}").status == 400
    assert put("c", "{{> d}}").status == 400
    assert put("d", "d").status == 201 and put("c", "{{> d}}").status == 201
    for name, text in (("d", "{{> c}}"), ("a", "{{> b}}")):  # for this tenant everybody's b would include this a
        answer = put(name, text)
        assert answer.status == 400 and "includes itself" in answer.json["error"]["message"], answer.body
    # One that is taken away from under another is missed when that is rendered.
    client.ok("DELETE", "/api/registry/prompts/d")
    answer = client("POST", "/api/prompts/c/render", {})
    assert answer.status == 400 and "does not exist" in answer.json["error"]["message"], answer.body
    # Ten times ten times ten.
    assert put("w0", "x" * 1000).status == 201
    for level in range(1, 8):
        assert put(f"w{level}", f"{{{{> w{level - 1}}}}}" * 10).status == 201
    client.fails(413, "too_large", "POST", "/api/prompts/w7/render", {})
    assert client("GET", "/health").status == 200


def links_of_a_skill_lead_nowhere(place, Session):
    secret = place.put("outside/secret.txt", "the host's own")
    place.put("skills/kit/SKILL.md", SKILL.format("kit", ""))
    os.symlink(secret, place.path / "skills/kit/leak")
    os.symlink("../../outside/secret.txt", place.path / "skills/kit/up")
    os.symlink(place.path / "outside", place.path / "skills/kit/room")
    os.symlink(place.path / "outside", place.path / "skills/whole")
    place.put("outside/SKILL.md", SKILL.format("whole", ""))
    client = place.serve("--set", f"skills={place.path}/skills")
    for path in ("leak", "up", "room/secret.txt"):
        assert client("GET", f"/api/skills/kit/files?path={path}").status in (400, 404), path
    for provider in client.ok("GET", "/api/capabilities")["providers"]:
        if provider["name"] not in ("native", "virtual"):
            continue
        with Session(client, provider=provider["name"], skills=["kit"]) as session:
            for path in ("leak", "up", "room/secret.txt"):
                answer = session.run(f"cat skills/kit/{path}")
                assert answer["status"] == "error" and "the host's own" not in json.dumps(answer), (provider["name"], path, answer)
            # Nor one that is put there while the session runs.
            place.put("skills/kit/plain", "fine")
            assert session.out("cat skills/kit/plain") == "fine"
            (place.path / "skills/kit/plain").unlink()
            os.symlink(secret, place.path / "skills/kit/plain")
            answer = session.run("cat skills/kit/plain")
            assert answer["status"] == "error" and "the host's own" not in json.dumps(answer), (provider["name"], answer)
            (place.path / "skills/kit/plain").unlink()


def wishes_of_a_skill_are_shown_and_not_granted(place, Session):
    place.put("skills/kit/SKILL.md", SKILL.format("kit", "allowed-tools: run_command http_fetch\nmetadata: {network: api.example.com}\n"))
    place.put("registry/agents/narrow.yaml", "name: narrow\nskills: [kit]\ntools: [read_file]\n")
    client = place.serve("--set", f"skills={place.path}/skills", "--set", f"registry={place.path}/registry")
    shown = client.ok("GET", "/api/skills/kit")
    assert shown["allowed_tools"] == ["run_command", "http_fetch"] and shown["network"] == ["api.example.com"], shown
    with Session(client, agent="narrow") as session:
        assert session.facts["network"] == "none" and session.facts["tools"] == ["read_file"], session.facts
        client.fails(403, "permission_denied", "POST", session.base + "/tools/run_command", {"input": {"command": "id"}})


def nothing_of_a_temporary_session_is_left(place, Session):
    place.put("skills/kit/SKILL.md", SKILL.format("kit", ""))
    client = place.serve("--set", f"skills={place.path}/skills")
    data = place.daemon.work / "data"
    kept = lambda word: [str(one) for one in data.rglob("*") if word in one.name]  # noqa: E731
    for provider in client.ok("GET", "/api/capabilities")["providers"]:
        if provider["name"] not in ("native", "virtual"):
            continue
        session = Session(client, provider=provider["name"], skills=["kit"])
        session.out("mkdir -p deep/er; echo mine > deep/er/file; echo x > output/made.txt")
        names = [session.facts["session_id"], session.facts.get("sandbox_id") or session.facts["session_id"]]
        session.__exit__()
        deadline = time.time() + 20
        while any(kept(name) for name in names):
            assert time.time() < deadline, [kept(name) for name in names]
            time.sleep(0.1)
        mounts = pathlib.Path("/proc/self/mountinfo").read_text()
        assert not any(name in mounts for name in names), provider
    assert (place.path / "skills/kit/SKILL.md").exists()


def reloads_amid_creations_are_whole(place, Session):
    """Two declarations in turns, and one that is refused between them: each session has all of one and nothing of the other."""
    whole = {"a": ("csv", "off", 71), "b": ("web", "strict", 72)}

    def declare(which):
        skill, policy, memory = whole[which]
        place.put("registry/prompts/told.yaml", f"name: told\ntext: {which}\n")
        place.put("registry/agents/turner.yaml", f"name: turner\nprovider: virtual\nprompt: told\nskills: [{skill}]\npolicy: {policy}\n"
                  f"limits: {{memory_mb: {memory}}}\ntools: [read_file]\n")

    declare("a")
    client = place.serve("--set", f"registry={place.path}/registry")
    first = Session(client, agent="turner")
    ended, seen, wrong = threading.Event(), set(), []

    def create():
        mine = type(client)(client.port, client.key)
        while not ended.is_set():
            answer = mine("POST", "/api/sessions", {"agent": "turner"})
            if answer.status != 201:
                wrong.append((answer.status, answer.body))
                return
            facts = answer.json
            got = (facts["skills"][0], facts["policy"], facts["limits"]["memory_mb"])
            if got not in whole.values():
                wrong.append(got)
            seen.add(got)
            mine("DELETE", "/api/sessions/" + facts["session_id"])

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(12):
            declare("ab"[turn % 2])
            answer = client.ok("POST", "/api/registry/reload")
            place.put("registry/agents/broken.yaml", "name: broken\npolicy: [\n")
            assert "broken.yaml:" in client.fails(400, "invalid_argument", "POST", "/api/registry/reload")["message"]
            (place.path / "registry/agents/broken.yaml").unlink()
            assert client.ok("GET", "/api/registry")["version"] == answer["version"], "what was refused is no version"
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert not wrong and seen == set(whole.values()), (wrong[:3], seen)
    # The session of before has what it was given.
    facts = client.ok("GET", first.base)
    assert (facts["policy"], facts["limits"]["memory_mb"]) == ("off", 71) and first.out("ls skills") == "csv", facts
    first.__exit__()


def ten_thousand_entries_are_read_and_reloaded(place, Session):
    for number in range(5000):
        place.put(f"registry/prompts/p{number}.yaml", f"name: p{number}\ntext: 'Hello {{{{who}}}}'\nvariables: {{who: {{type: string}}}}\n")
        place.put(f"registry/tools/t{number}.yaml", f"name: t{number}\ndescription: Tool {number}.\nrun: {{command: [echo, '{number}']}}\n"
                  "input: {type: object, properties: {a: {type: string, pattern: '^[a-z]+$'}}}\n")
    client = place.serve("--set", f"registry={place.path}/registry", "--set", "provider=virtual")
    assert len(client.ok("GET", "/api/tools")["tools"]) > 5000
    assert client.ok("POST", "/api/prompts/p4999/render", {"variables": {"who": "you"}})["text"] == "Hello you"
    with Session(client) as session:
        assert client.ok("POST", session.base + "/tools/t4999", {"input": {}})["output"] == 4999
        place.put("registry/prompts/p7.yaml", "name: p7\ntext: Other\n")
        begun = time.time()
        assert client.ok("POST", "/api/registry/reload")["changed"] == 1
        assert time.time() - begun < 60
        assert client.ok("GET", "/api/registry/diff?from=1&to=2")["changes"][0]["name"] == "p7"
        found = client.ok("GET", "/api/tools?search=t4321")["tools"]
        assert [one["name"] for one in found] == ["t4321"], found
        place.put("registry/tools/t9.yaml", "name: t9\ndescription: x\nrun: {}\n")
        assert "tools/t9.yaml:3:" in client.fails(400, "invalid_argument", "POST", "/api/registry/reload")["message"]
        assert client.ok("POST", session.base + "/tools/t9", {"input": {}})["output"] == 9


CASES = [an_agent_gives_its_sessions_all_that_it_names, a_tenant_changes_nothing_for_others, prompts_in_a_circle_are_refused,
         links_of_a_skill_lead_nowhere, wishes_of_a_skill_are_shown_and_not_granted, nothing_of_a_temporary_session_is_left,
         reloads_amid_creations_are_whole, ten_thousand_entries_are_read_and_reloaded]
