#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/document.h"
#include "registry/limits.h"
#include "sandbox/interpreter.h"
#include "tools/schema.h"

// What a tool is: a described operation with a schema that runs inside a sandbox. registry/tools/*.yaml
// declare them; docs/guides/tools.md explains every key.
namespace atl::tools {

// A program and its arguments, without a shell. A word "{{name}}" is replaced by the input's member of that
// name (dropped if there is none, several words if it is a list); inside a longer word the member's text is
// put in. The whole input is on standard input as JSON; the output is what the program prints.
struct CommandRun {
  std::vector<std::string> argv;
};

// Code for an interpreter. It finds the input as `tool_input` (in shell: JSON in $TOOL_INPUT), and its output
// is what it prints.
struct CodeRun {
  sandbox::Language language = sandbox::Language::python;
  std::string code;
  bool stateless = true;  // false: in the session's interpreter, with its variables
};

// A request that a program inside the sandbox makes, so that the sandbox's network rules bind it.
struct HttpRun {
  std::string method = "GET";
  std::string url;  // "{{name}}" is replaced by the member's text, percent-encoded
  std::vector<std::pair<std::string, std::string>> headers;
  bool send_input = false;  // as a JSON body
};

// One of the operations that come with the program (builtins.h).
struct BuiltinRun {
  std::string name;
};

// A shared object of the operator's (include/atoll/tool_plugin.h), run in a sandbox of its own.
struct PluginRun {
  std::string library;  // a file name within the operator's plugin directories
};

// A process of the tenant's that takes calls over the API and answers them (served_calls.h), outside of any
// sandbox.
struct ClientRun {};

using Run = std::variant<CommandRun, CodeRun, HttpRun, BuiltinRun, PluginRun, ClientRun>;

// Where it runs: in the sandbox of the session that calls it, or in one made for the call.
enum class Place : std::uint8_t { session, fresh };

struct Example {
  boost::json::value input;
  std::optional<boost::json::value> output;  // unset: any that fits the schema
};

// Immutable once parsed; shared by whoever calls it.
struct Tool {
  std::string name;
  std::string description;
  Schema input, output;
  Run run;
  Place place = Place::session;
  std::string environment;  // of a fresh sandbox; empty: the service's default
  std::string policy;       // its code must pass this one, too; empty: the session's alone
  registry::LimitsPatch limits;
  std::vector<std::string> network;  // what it wishes to reach; shown, and granted in fresh sandboxes only
  // Headers that the proxy adds to requests of a fresh sandbox, by host and name; values name secrets, which
  // never enter the sandbox.
  std::map<std::string, std::map<std::string, std::string>> secret_headers;
  bool idempotent = false;  // a call that failed for a passing reason may be made again
  bool pure = false;        // the output depends on the input alone: results may be kept
  bool read_only = false;   // changes nothing
  std::vector<std::string> tags;
  std::vector<Example> examples;
  std::string digest;  // of the whole declaration
  std::string where;   // file:line:column it was read from
};

// Who declared it. What an operator writes may name plugins and networks of fresh sandboxes; what a tenant
// writes may not.
enum class Author : std::uint8_t { operators, tenant };

// Code::invalid_argument with file, line, column, the key and what to write instead.
Result<Tool> parse_tool(const config::Document& document, Author author);

// "word_count", "read-file": what all formats that tools are exported to accept.
bool is_tool_name(std::string_view name);

}  // namespace atl::tools
