"""An agent out of YAML in a session of any provider: its prompt, skills and tools, and what it does with them."""

PROMPT = ("name: kit-prompt\nvariables: {who: {type: string}, files: {type: list, default: [note]}}\n"
          "text: \"Work for {{who}} on {{files}}.\"\n")
# A program that every provider has; the words of the input's JSON are those of its text.
TOOL = ("name: kit_words\ndescription: Counts words.\n"
        "input: {type: object, properties: {text: {type: string}}, required: [text], additionalProperties: false}\n"
        "output: {type: integer}\nrun: {command: [wc, -w]}\n")
AGENT = ("name: kit-agent\nprompt: kit-prompt\nskills: [textkit]\n"
         "tools: [kit_words, read_file, write_file, run_command, run_code, list_files]\n")


def declare(client):
    for path, text in (("prompts/kit-prompt", PROMPT), ("tools/kit_words", TOOL), ("agents/kit-agent", AGENT)):
        answer = client("PUT", "/api/registry/" + path, raw=text.encode())
        assert answer.status in (200, 201), answer.body


def use(client, body, view, python=True, copies=True):
    """All of it in a session that `body` asks for; `view` is how skills are shown there."""
    declare(client)
    made = client.ok("POST", "/api/sessions", {**body, "agent": "kit-agent"})
    base = "/api/sessions/" + made["session_id"]
    try:
        assert made["agent"] == "kit-agent" and made["prompt"] == "kit-prompt", made
        assert made["skills"] == ["textkit"] and made["skill_view"] == view and "kit_words" in made["tools"], made
        told = client.ok("POST", base + "/prompt", {"variables": {"who": "you"}})
        assert told["name"] == "kit-prompt" and told["text"].startswith("Work for you on "), told
        client.fails(400, "invalid_argument", "POST", base + "/prompt", {})
        skills(client, made, base, python)
        tools(client, base, python)
        snapshot = keep_skills(client, base) if copies else None
    finally:
        client("DELETE", base)
    if snapshot:
        client.ok("DELETE", "/api/snapshots/" + snapshot)
    if copies:
        replace_stale(client, body)


def shell(client, base, command):
    return client.ok("POST", base + "/commands", {"command": command})


def skills(client, made, base, python):
    shown = client.ok("GET", base + "/skills")
    assert shown["view"] == made["skill_view"] and [one["name"] for one in shown["skills"]] == ["textkit"], shown
    ran = shell(client, base, 'head -n 2 "$SKILLS_DIR/textkit/SKILL.md" | tail -n 1')
    assert ran["stdout"] == "name: textkit\n", ran
    ran = shell(client, base, 'test "$SKILLS_DIR" = "$PWD/skills" && cat .agents/skills/textkit/SKILL.md')
    assert ran["exit_code"] == 0 and "name: textkit" in ran["stdout"], ran
    ran = shell(client, base, "echo one two > note; . skills/textkit/textkit.sh; replace_once two three note; cat note")
    assert ran["stdout"].endswith("one three\n"), ran
    for attempt in ("echo x >> skills/textkit/SKILL.md", "echo x > skills/textkit/new", "echo x > skills/new",
                    "echo x > .agents/skills/textkit/new", "rm skills/textkit/edit.py"):
        ran = shell(client, base, attempt)
        assert ran["exit_code"] != 0, (attempt, ran)
    if not python:
        return
    ran = client.ok("POST", base + "/execute", {"code": "from skills.textkit.edit import replace_once\n"
                                                        "replace_once('three', 'four', 'note'); print(open('note').read())"})
    assert ran["status"] == "success" and ran["stdout"] == "one four\n\n", ran


def call(client, base, tool, given):
    result = client.ok("POST", f"{base}/tools/{tool}", {"input": given})
    assert result["status"] == "success", (tool, result)
    return result["output"]


def tools(client, base, python):
    error = client.fails(400, "invalid_argument", "POST", base + "/tools/run_command", {"input": {}})
    assert error["details"]["field"] == "/command", error
    client.fails(403, "permission_denied", "POST", base + "/tools/search_files", {"input": {"pattern": "x"}})
    assert call(client, base, "kit_words", {"text": "a b c"}) == 3
    place = shell(client, base, "pwd")["stdout"].strip() + "/kit.txt"
    call(client, base, "write_file", {"path": place, "content": "alpha\nbeta\n"})
    assert "beta" in str(call(client, base, "read_file", {"path": place}))
    assert call(client, base, "run_command", {"command": "wc -l < " + place})["stdout"].strip() == "2"
    if python:
        assert "42" in str(call(client, base, "run_code", {"code": "print(6 * 7)"}))
    assert "kit.txt" in str(call(client, base, "list_files", {"path": place.rsplit("/", 1)[0]}))


def keep_skills(client, base):
    """A fork, and a session that was put back to a snapshot, have them as well. Gives the snapshot, which it stands on."""
    line = "cat kit.txt; . skills/textkit/textkit.sh; echo six > s; replace_once six seven s; cat s"
    forked = "/api/sessions/" + client.ok("POST", base + "/fork", {})["session_id"]
    snapshot = client.ok("POST", base + "/snapshots", {})["snapshot_id"]
    client.ok("POST", base + "/restore", {"snapshot_id": snapshot})
    for one in (forked, base):
        ran = shell(client, one, line)
        assert ran["stdout"].startswith("alpha\nbeta\n") and ran["stdout"].endswith("seven\n"), ran
        assert shell(client, one, "echo x > skills/textkit/new")["exit_code"] != 0
    client.ok("DELETE", forked)
    return snapshot


# What a snapshot may have where skills are to be: links to nowhere, in a circle, to another directory, out of the working
# directory, above the place; files; a directory of its own.
STALE = ("mkdir -p .agents elsewhere; ln -s elsewhere skills; ln -s /nowhere .agents/skills",
         "mkdir elsewhere; ln -s /nowhere/at/all skills; ln -s elsewhere .agents",
         "mkdir elsewhere; ln -s skills skills; ln -s ../../../../../../nowhere .agents",
         "mkdir elsewhere; echo x > skills; echo x > .agents",
         "mkdir -p elsewhere .agents; ln -s /tmp skills; ln -s ../elsewhere .agents/skills")


def replace_stale(client, body):
    """What was left in the place of skills is in the way of nothing, and where links led nothing is touched."""
    for left in STALE:
        made = client.ok("POST", "/api/sessions", body)
        base = "/api/sessions/" + made["session_id"]
        ran = shell(client, base, left)
        assert ran["exit_code"] == 0, ran
        snapshot = client.ok("POST", base + "/snapshots", {})["snapshot_id"]
        client.ok("DELETE", base)
        # The snapshot knows its image.
        again = {name: value for name, value in body.items() if name != "image"}
        made = client.ok("POST", "/api/sessions", {**again, "snapshot": snapshot, "skills": ["textkit"]})
        base = "/api/sessions/" + made["session_id"]
        ran = shell(client, base, "head -n 2 skills/textkit/SKILL.md | tail -n 1; head -n 2 .agents/skills/textkit/SKILL.md | "
                                  "tail -n 1; echo elsewhere/*; ls /tmp/textkit 2>&1 >/dev/null | wc -l; test -L skills || test -L .agents || echo replaced")
        assert ran["stdout"] == "name: textkit\nname: textkit\nelsewhere/*\n1\nreplaced\n", (left, ran)
        client.ok("DELETE", base)
        client.ok("DELETE", "/api/snapshots/" + snapshot)
