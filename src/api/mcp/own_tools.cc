// The tools that come with the dialect: names, descriptions, schemas. What they do is in the files of their
// handlers. Names are fixed: clients, prompts and skills speak of them (tools/reserved_names.h).
#include <fmt/format.h>

#include <stdexcept>

#include "api/mcp/toolbox.h"

namespace atl::api::mcp {
namespace {

using auth::Permission;

struct ToolRow {
  const char* name;
  const char* title;
  const char* description;
  auth::PermissionSet needed;
  bool makes_sandboxes;
  Hints hints;
  ToolHandler handler;
  const char* input;
  const char* output;
};

constexpr Hints kReads{.read_only = true, .idempotent = true};
constexpr Hints kAdds{};
constexpr Hints kRuns{.destructive = true, .open_world = true};

// What every tool that acts in a sandbox takes.
constexpr const char* kSandboxId =
    R"({"type":"string","minLength":1,"maxLength":64,"description":"The sandbox to act in, as sandbox_create or an earlier call gave it."})";

const ToolRow kRows[] = {
    {"sandbox_create",
     "Create a sandbox",
     "Creates a sandbox: a Linux machine of its own with files, processes and interpreters that keep their "
     "variables. Use it when several sandboxes are needed, or one with another environment, a longer life or "
     "network access; otherwise run_code and run_command make one by themselves. Pass the sandbox_id it "
     "gives "
     "to the other tools.",
     {Permission::sessions_write},
     true,
     kAdds,
     sandbox_create,
     R"({"type":"object","properties":{
       "environment":{"type":"string","maxLength":128,"description":"What is installed in it; left out: the default."},
       "provider":{"enum":["native","virtual","docker","gvisor","e2b","auto"],"description":"What isolates it; left out: the default."},
       "agent":{"type":"string","maxLength":128,"description":"An agent of the registry whose settings it gets."},
       "snapshot_id":{"type":"string","maxLength":64,"description":"Start with the files of this snapshot."},
       "ttl_seconds":{"type":"integer","minimum":1,"maximum":2592000,"description":"How long it lives after its last use."},
       "env":{"type":"object","additionalProperties":{"type":"string"},"maxProperties":100,"description":"Environment variables of everything that runs in it."},
       "metadata":{"type":"object","additionalProperties":{"type":"string"},"maxProperties":50,"description":"Labels to find it by."},
       "skills":{"type":"array","items":{"type":"string"},"maxItems":100,"description":"Skills to put into its skills/ directory; [\"*\"] for all."},
       "allow_hosts":{"type":"array","items":{"type":"string"},"maxItems":100,"description":"Hosts that its programs may reach, such as example.org or *.example.org; left out: as the environment says, usually none."}},
       "additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"session_id":{"type":"string"},"state":{"type":"string"},
       "environment":{"type":"string"},"provider":{"type":"string"},"expires_at":{"type":"string"},"metadata":{"type":"object"}},
       "required":["sandbox_id","session_id","state","environment","provider"]})"},
    {"sandbox_list",
     "List sandboxes",
     "Lists the sandboxes that are alive, newest first.",
     {Permission::sessions_read},
     false,
     kReads,
     sandbox_list,
     R"({"type":"object","properties":{
       "state":{"enum":["running","paused","any"],"description":"Only those in this state; left out: any that is alive."},
       "metadata":{"type":"object","additionalProperties":{"type":"string"},"description":"Only those that have all of these labels."},
       "limit":{"type":"integer","minimum":1,"maximum":200,"description":"How many to show; 50 if left out."}},
       "additionalProperties":false})",
     R"({"type":"object","properties":{"sandboxes":{"type":"array","items":{"type":"object","properties":{"sandbox_id":{"type":"string"},"state":{"type":"string"}},"required":["sandbox_id","state"]}},
       "total":{"type":"integer"},"truncated":{"type":"boolean"}},"required":["sandboxes","total","truncated"]})"},
    {"sandbox_end",
     "End a sandbox",
     "Ends a sandbox for good: its processes stop and its files are gone. Take a snapshot first if the files "
     "are still needed.",
     {Permission::sessions_write},
     false,
     {.destructive = true, .idempotent = true},
     sandbox_end,
     R"({"type":"object","properties":{"sandbox_id":@ID@},"required":["sandbox_id"],"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"state":{"type":"string"}},"required":["sandbox_id","state"]})"},
    {"sandbox_fork",
     "Fork a sandbox",
     "Makes copies of a running sandbox with its files and, where the provider can, the variables of its "
     "Python "
     "interpreters. The original goes on. Use it to try several ways from the same point.",
     {Permission::sessions_write},
     true,
     kAdds,
     sandbox_fork,
     R"({"type":"object","properties":{"sandbox_id":@ID@,
       "count":{"type":"integer","minimum":1,"maximum":16,"description":"How many copies; 1 if left out."},
       "files_only":{"type":"boolean","description":"Copy files alone; interpreters start afresh."}},"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"copies":{"type":"array","items":{"type":"object"}},
       "total":{"type":"integer"},"truncated":{"type":"boolean"}},"required":["sandbox_id","copies","total","truncated"]})"},
    {"sandbox_snapshot",
     "Take a snapshot",
     "Keeps the files of a sandbox as a snapshot, from which sandbox_create can start others. The sandbox "
     "goes on.",
     {Permission::snapshots},
     false,
     kAdds,
     sandbox_snapshot,
     R"({"type":"object","properties":{"sandbox_id":@ID@,
       "name":{"type":"string","maxLength":128,"description":"What to call it."}},"additionalProperties":false})",
     R"({"type":"object","properties":{"snapshot_id":{"type":"string"},"sandbox_id":{"type":"string"},"name":{"type":"string"},
       "size_bytes":{"type":"integer"}},"required":["snapshot_id","sandbox_id"]})"},
    {"run_code",
     "Run code",
     "Runs code in an interpreter of a sandbox that keeps its variables between calls, like a notebook. "
     "Gives "
     "what it printed, the value of its last expression, pictures, and the error it raised. Without "
     "sandbox_id "
     "it makes a sandbox and gives back its id: pass it on to keep variables and files.",
     {Permission::execute},
     false,
     kRuns,
     run_code,
     R"({"type":"object","properties":{
       "code":{"type":"string","minLength":1,"maxLength":4194304},
       "language":{"enum":["python","javascript","typescript","deno","shell","r","java"],"description":"python if left out."},
       "sandbox_id":@ID@,
       "timeout_seconds":{"type":"number","exclusiveMinimum":0,"maximum":86400,"description":"When to give up; left out: the sandbox's limit."}},
       "required":["code"],"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"status":{"type":"string"},"stdout":{"type":"string"},"stderr":{"type":"string"},
       "total":{"type":"integer","description":"Bytes that were printed in all."},"truncated":{"type":"boolean"},
       "results":{"type":"array","items":{"type":"object"},"description":"Values by MIME type; pictures are in the content, at the index `image`."},
       "error":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"},"traceback":{"type":"string"}}},
       "note":{"type":"string"}},
       "required":["sandbox_id","status","stdout","stderr","total","truncated","results"]})"},
    {"run_command",
     "Run a command",
     "Runs a line in the sandbox's shell and waits for its end. An exit status other than 0 is a result like "
     "any "
     "other: read exit_code and stderr. For what runs longer than a minute or is a server use command_start.",
     {Permission::execute},
     false,
     kRuns,
     run_command,
     R"({"type":"object","properties":{
       "command":{"type":"string","minLength":1,"maxLength":1048576},
       "sandbox_id":@ID@,
       "cwd":{"type":"string","pattern":"^/","maxLength":4096,"description":"Where to run it; the home directory if left out."},
       "stdin":{"type":"string","description":"What it reads."},
       "timeout_seconds":{"type":"number","exclusiveMinimum":0,"maximum":86400,"description":"When to give up; left out: the sandbox's limit."}},
       "required":["command"],"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"status":{"type":"string"},"exit_code":{"type":"integer"},"stdout":{"type":"string"},"stderr":{"type":"string"},
       "total":{"type":"integer","description":"Bytes that were printed in all."},"truncated":{"type":"boolean"}},
       "required":["sandbox_id","status","exit_code","stdout","stderr","total","truncated"]})"},
    {"command_start",
     "Start a command",
     "Starts a line in the sandbox's shell and comes back at once with a command_id. Read what it prints "
     "with "
     "command_poll, write to it with command_input, end it with command_stop. For servers, builds, watchers.",
     {Permission::execute},
     false,
     kRuns,
     command_start,
     R"({"type":"object","properties":{
       "command":{"type":"string","minLength":1,"maxLength":1048576},
       "sandbox_id":@ID@,
       "cwd":{"type":"string","pattern":"^/","maxLength":4096},
       "env":{"type":"object","additionalProperties":{"type":"string"},"maxProperties":100},
       "timeout_seconds":{"type":"number","exclusiveMinimum":0,"maximum":86400,"description":"When to end it; left out: with its sandbox."}},
       "required":["command"],"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"command_id":{"type":"string"},"pid":{"type":"integer"},"status":{"type":"string"}},
       "required":["sandbox_id","command_id","pid","status"]})"},
    {"command_poll",
     "Read a command's output",
     "Gives what a started command printed since `offset`, and how it ended if it did. Pass the next_offset "
     "of "
     "the last answer as offset; with wait_seconds it waits for something new.",
     {Permission::execute},
     false,
     kReads,
     command_poll,
     R"({"type":"object","properties":{
       "command_id":{"type":"string","minLength":1,"maxLength":64},
       "offset":{"type":"integer","minimum":0,"description":"Where to begin; 0 if left out."},
       "wait_seconds":{"type":"number","minimum":0,"maximum":60,"description":"How long to wait for something new; 0 if left out."},
       "sandbox_id":@ID@},
       "required":["command_id"],"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"command_id":{"type":"string"},"status":{"enum":["running","ended"]},
       "exit_code":{"type":"integer"},"reason":{"type":"string"},"output":{"type":"string","description":"Standard output and error in the order they came."},
       "offset":{"type":"integer"},"next_offset":{"type":"integer"},"total":{"type":"integer"},"truncated":{"type":"boolean"}},
       "required":["sandbox_id","command_id","status","output","offset","next_offset","total","truncated"]})"},
    {"command_input",
     "Write to a command",
     "Writes text to the standard input of a started command. End a line with \\n.",
     {Permission::execute},
     false,
     kRuns,
     command_input,
     R"({"type":"object","properties":{
       "command_id":{"type":"string","minLength":1,"maxLength":64},
       "text":{"type":"string","maxLength":1048576},
       "close":{"type":"boolean","description":"No more input will come: the command reads the end of the file."},
       "sandbox_id":@ID@},
       "required":["command_id"],"additionalProperties":false})",
     R"({"type":"object","properties":{"command_id":{"type":"string"},"bytes_written":{"type":"integer"},"closed":{"type":"boolean"}},
       "required":["command_id","bytes_written","closed"]})"},
    {"command_stop",
     "Stop a command",
     "Stops a started command with everything it started. Gives the end of what it printed.",
     {Permission::execute},
     false,
     {.destructive = true, .idempotent = true},
     command_stop,
     R"({"type":"object","properties":{
       "command_id":{"type":"string","minLength":1,"maxLength":64},
       "signal":{"enum":["TERM","INT","HUP","KILL"],"description":"TERM if left out; KILL follows if it does not end in 5 seconds."},
       "sandbox_id":@ID@},
       "required":["command_id"],"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"command_id":{"type":"string"},"status":{"enum":["running","ended"]},
       "exit_code":{"type":"integer"},"reason":{"type":"string"},"output":{"type":"string"},
       "offset":{"type":"integer"},"next_offset":{"type":"integer"},"total":{"type":"integer"},"truncated":{"type":"boolean"}},
       "required":["sandbox_id","command_id","status","output","total","truncated"]})"},
    {"read_file",
     "Read a file",
     "Reads a file of the sandbox: text as it is, anything else in base64, pictures also as pictures. At "
     "most "
     "64 KiB at once unless `length` says more; `offset` reads on, `truncated` says that there is more.",
     {Permission::files_read},
     false,
     kReads,
     read_file,
     R"({"type":"object","properties":{
       "path":{"type":"string","pattern":"^/","maxLength":4096,"description":"An absolute path, such as /home/user/notes.txt."},
       "sandbox_id":@ID@,
       "offset":{"type":"integer","minimum":0,"description":"The first byte to read."},
       "length":{"type":"integer","minimum":1,"maximum":1048576,"description":"How many bytes to read."}},
       "required":["path"],"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"content":{"type":"string"},"encoding":{"enum":["utf-8","base64"]},
       "total":{"type":"integer"},"truncated":{"type":"boolean"}},"required":["sandbox_id","content","encoding","total","truncated"]})"},
    {"write_file",
     "Write a file",
     "Writes a file of the sandbox in place of what was there, or at its end with `append`. Missing "
     "directories "
     "are made.",
     {Permission::files_write},
     false,
     {.destructive = true},
     write_file,
     R"({"type":"object","properties":{
       "path":{"type":"string","pattern":"^/","maxLength":4096,"description":"An absolute path."},
       "content":{"type":"string"},
       "sandbox_id":@ID@,
       "encoding":{"enum":["utf-8","base64"],"description":"How content is given; utf-8 if left out."},
       "append":{"type":"boolean"}},
       "required":["path","content"],"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"path":{"type":"string"},"bytes_written":{"type":"integer"},"size":{"type":"integer"}},
       "required":["sandbox_id","path","bytes_written","size"]})"},
    {"edit_file",
     "Edit a file",
     "Replaces a piece of text in a file by another. old_text must occur exactly once, character by "
     "character: "
     "give enough of its surroundings, or set replace_all. Nothing is changed otherwise.",
     {Permission::files_read, Permission::files_write},
     false,
     {.destructive = true},
     edit_file,
     R"({"type":"object","properties":{
       "path":{"type":"string","pattern":"^/","maxLength":4096,"description":"An absolute path."},
       "old_text":{"type":"string","minLength":1,"description":"The text as it stands in the file."},
       "new_text":{"type":"string","description":"What takes its place."},
       "replace_all":{"type":"boolean"},
       "sandbox_id":@ID@},
       "required":["path","old_text","new_text"],"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"path":{"type":"string"},"replacements":{"type":"integer"}},
       "required":["sandbox_id","path","replacements"]})"},
    {"list_files",
     "List files",
     "Lists the entries of a directory of the sandbox, with `depth` also those of directories beneath it.",
     {Permission::files_read},
     false,
     kReads,
     list_files,
     R"({"type":"object","properties":{
       "path":{"type":"string","pattern":"^/","maxLength":4096,"description":"An absolute path; /home/user if left out."},
       "sandbox_id":@ID@,
       "depth":{"type":"integer","minimum":1,"maximum":32},
       "limit":{"type":"integer","minimum":1,"maximum":5000,"description":"200 if left out."}},
       "additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"entries":{"type":"array","items":{"type":"object"}},
       "total":{"type":"integer"},"truncated":{"type":"boolean"}},"required":["sandbox_id","entries","total","truncated"]})"},
    {"search_files",
     "Search files",
     "Searches the lines of files beneath a directory for a regular expression (RE2's), or finds files by "
     "name. "
     "Binary files and files over 4 MiB are passed over.",
     {Permission::files_read},
     false,
     kReads,
     search_files,
     R"({"type":"object","properties":{
       "path":{"type":"string","pattern":"^/","maxLength":4096,"description":"Where to begin; /home/user if left out."},
       "pattern":{"type":"string","maxLength":1000,"description":"A regular expression for lines."},
       "name":{"type":"string","maxLength":255,"description":"A shell pattern for file names, such as *.py."},
       "ignore_case":{"type":"boolean"},
       "limit":{"type":"integer","minimum":1,"maximum":1000,"description":"100 if left out."},
       "sandbox_id":@ID@},
       "anyOf":[{"required":["pattern"]},{"required":["name"]}],"additionalProperties":false})",
     R"({"type":"object","properties":{"sandbox_id":{"type":"string"},"matches":{"type":"array","items":{"type":"object"}},
       "files_searched":{"type":"integer"},"total":{"type":"integer"},"truncated":{"type":"boolean"}},
       "required":["sandbox_id","matches","files_searched","total","truncated"]})"},
};

// The texts above are ours: one that is no schema is found by the first test that starts a service.
tools::Schema schema_of(std::string text) {
  constexpr std::string_view kPlace = "@ID@";
  for (auto at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at))
    text.replace(at, kPlace.size(), kSandboxId);
  auto schema = tools::Schema::compile(bj::parse(text));
  if (!schema) throw std::logic_error("a tool's schema: " + schema.error().message());
  return std::move(*schema);
}

std::vector<OwnTool> built() {
  std::vector<OwnTool> tools;
  for (const ToolRow& row : kRows) {
    OwnTool tool;
    tool.name = row.name;
    tool.title = row.title;
    tool.description = row.description;
    tool.needed = row.needed;
    tool.makes_sandboxes = row.makes_sandboxes;
    tool.hints = row.hints;
    tool.input = schema_of(row.input);
    tool.output = schema_of(row.output);
    tool.handler = row.handler;
    tools.push_back(std::move(tool));
  }
  return tools;
}

}  // namespace

const std::vector<OwnTool>& own_tools() {
  static const std::vector<OwnTool> tools = built();
  return tools;
}

const OwnTool* find_own_tool(std::string_view name) {
  for (const OwnTool& tool : own_tools())
    if (tool.name == name) return &tool;
  return nullptr;
}

bool OwnTool::is_open_to(const auth::Principal& who) const {
  if (!who.permissions.contains(needed)) return false;
  const bool is_bound = who.scopes != nullptr && !who.scopes->sessions.empty();
  return !makes_sandboxes || !is_bound;
}

bj::object OwnTool::to_json() const {
  return {{"name", name},
          {"title", title},
          {"description", description},
          {"inputSchema", input.document()},
          {"outputSchema", output.document()},
          {"annotations", bj::object{{"title", title},
                                     {"readOnlyHint", hints.read_only},
                                     {"destructiveHint", hints.destructive},
                                     {"idempotentHint", hints.idempotent},
                                     {"openWorldHint", hints.open_world}}}};
}

}  // namespace atl::api::mcp
