"""Skills and tools in a session of any provider with real processes: what agents do with them, end to end."""


def use(client, body):
    made = client.ok("POST", "/api/sessions", {**body, "skills": ["textkit"]})
    base = "/api/sessions/" + made["session_id"]
    try:
        skills(client, made, base)
        tools(client, base)
    finally:
        client("DELETE", base)


def shell(client, base, command):
    return client.ok("POST", base + "/commands", {"command": command})


def skills(client, made, base):
    assert made["skills"] == ["textkit"] and made["skill_view"] in ("link", "copy"), made
    shown = client.ok("GET", base + "/skills")
    assert shown["view"] == made["skill_view"] and [one["name"] for one in shown["skills"]] == ["textkit"], shown
    ran = shell(client, base, 'head -n 2 "$SKILLS_DIR/textkit/SKILL.md" | tail -n 1')
    assert ran["stdout"] == "name: textkit\n", ran
    ran = shell(client, base, "echo one two > note; . skills/textkit/textkit.sh; replace_once two three note; cat note")
    assert ran["stdout"].endswith("one three\n"), ran
    ran = client.ok("POST", base + "/execute", {"code": "from skills.textkit.edit import replace_once\n"
                                                        "replace_once('three', 'four', 'note'); print(open('note').read())"})
    assert ran["status"] == "success" and ran["stdout"] == "one four\n\n", ran


def call(client, base, tool, given):
    result = client.ok("POST", f"{base}/tools/{tool}", {"input": given})
    assert result["status"] == "success", (tool, result)
    return result["output"]


def tools(client, base):
    error = client.fails(400, "invalid_argument", "POST", base + "/tools/run_command", {"input": {}})
    assert error["details"]["field"] == "/command", error
    place = shell(client, base, "pwd")["stdout"].strip() + "/kit.txt"
    call(client, base, "write_file", {"path": place, "content": "alpha\nbeta\n"})
    assert "beta" in str(call(client, base, "read_file", {"path": place}))
    assert call(client, base, "run_command", {"command": "wc -l < " + place})["stdout"].strip() == "2"
    assert "42" in str(call(client, base, "run_code", {"code": "print(6 * 7)"}))
    assert "kit.txt" in str(call(client, base, "list_files", {"path": place.rsplit("/", 1)[0]}))
