#pragma once

#include <string_view>

namespace atl::tools {

// What makes the request of an `http` tool, inside the sandbox, so that the sandbox's network rules bind it.
// Reads {"method","url","headers","body"} and prints {"status","headers","body"}. Answers of any status are
// answers; what kept the request from being made is printed as {"error"} with exit status 1.
inline constexpr std::string_view kHttpProgram = R"py(
import json, sys, urllib.error, urllib.request
LIMIT = 768 * 1024
call = json.load(sys.stdin)
body = None if call["body"] is None else json.dumps(call["body"]).encode()
request = urllib.request.Request(call["url"], data=body, method=call["method"], headers=call["headers"])
if body is not None:
    request.add_header("Content-Type", "application/json")
try:
    answer = urllib.request.urlopen(request, timeout=call["timeout"])
except urllib.error.HTTPError as refused:
    answer = refused
except Exception as problem:
    sys.exit("the request to %s was not answered: %s" % (call["url"], problem))
data = answer.read(LIMIT + 1)
text = data[:LIMIT].decode("utf-8", "replace")
result = {"status": answer.status, "body": text, "truncated": len(data) > LIMIT,
          "content_type": answer.headers.get("Content-Type") or ""}
print(json.dumps(result))
)py";

}  // namespace atl::tools
