#include "registry/kinds.h"

#include "sandbox/interpreter.h"
#include "sandbox/limit_table.h"

namespace atl::registry {
namespace {

using Fields = std::vector<Field>;

constexpr double kDescriptionMax = 4096;
constexpr double kNamesMax = 256;

Field name_field() {
  return {.name = "name",
          .shape = Shape::name,
          .help = "How others refer to it; a file of the operator's replaces the shipped one of its name.",
          .required = true};
}

Field description_field() {
  return {.name = "description", .help = "One or two sentences for people.", .most = kDescriptionMax};
}

const std::vector<std::string_view>& language_words() {
  static const std::vector<std::string_view> words = {"python", "javascript", "typescript", "shell", "r",
                                                      "java",   "deno",       "python3",    "py",    "js",
                                                      "node",   "ts",         "bash",       "sh",    "R"};
  return words;
}

Field provider_field(std::string_view help) {
  return {.name = "provider",
          .shape = Shape::word,
          .help = help,
          .words = {"native", "virtual", "docker", "gvisor", "e2b"}};
}

Field agent_provider_field() {
  Field field = provider_field("The provider of its sandbox; auto: as the rules say.");
  field.words.emplace_back("auto");
  return field;
}

Fields limit_fields() {
  Fields fields;
  for (const sandbox::LimitRow& row : sandbox::kLimits)
    fields.push_back({.name = row.name,
                      .shape = Shape::number,
                      .help = row.scope == sandbox::LimitScope::sandbox ? "Binds the whole sandbox."
                                                                        : "Binds each execution.",
                      .least = row.least,
                      .most = row.most});
  return fields;
}

Field limits_field() {
  return {.name = "limits",
          .shape = Shape::object,
          .help = "What a sandbox may consume, over the defaults of limits/.",
          .fields = limit_fields()};
}

Field network_field(Fields rules) {
  return {.name = "network",
          .shape = Shape::word,
          .help = "none, or egress: what a rule allows can be reached.",
          .words = {"none", "egress"},
          .fields = std::move(rules)};
}

Fields reach_fields() {
  return {{.name = "allow", .shape = Shape::texts, .help = "Names and addresses that may be reached."},
          {.name = "deny", .shape = Shape::texts, .help = "Names and addresses that may not."}};
}

Field env_field() {
  return {.name = "env", .shape = Shape::text_map, .help = "Variables of every process inside."};
}

Field build_field() {
  return {.name = "build",
          .shape = Shape::object,
          .help = "How its layers are made: `atoll env build NAME`.",
          .fields = {{.name = "from", .help = "The environment to start from, instead of packages."},
                     {.name = "suite", .help = "The suite of Debian whose packages are taken."},
                     {.name = "packages", .shape = Shape::texts, .help = "Packages of Debian by name."},
                     {.name = "network",
                      .shape = Shape::object,
                      .help = "What steps that ask for a network may reach.",
                      .fields = reach_fields()},
                     {.name = "steps",
                      .shape = Shape::objects,
                      .help = "Scripts that run in the new root filesystem, one after the other.",
                      .fields = {{.name = "run", .help = "A script for the shell.", .required = true},
                                 network_field({})}}}};
}

Kind environments_kind() {
  return {
      .folder = "environments",
      .singular = "environment",
      .help = "A named recipe for a sandbox.",
      .fields = {name_field(),
                 description_field(),
                 {.name = "layers",
                  .shape = Shape::texts,
                  .help = "Absolute directories of the host, lowest first; none: its own programs."},
                 {.name = "languages",
                  .shape = Shape::texts,
                  .help = "Whose interpreters there are.",
                  .words = language_words()},
                 {.name = "default_language",
                  .shape = Shape::word,
                  .help = "The language of code that names none.",
                  .words = language_words()},
                 {.name = "policy", .help = "The policy of its sessions; 'standard' if none is named."},
                 provider_field("The provider that its sessions prefer where nobody names one."),
                 limits_field(),
                 network_field({}),
                 {.name = "sudo", .shape = Shape::boolean, .help = "The user may become root inside."},
                 {.name = "user", .help = "Who processes run as."},
                 {.name = "working_directory", .help = "An absolute path inside."},
                 env_field(),
                 {.name = "stack", .help = "The layers of this name in the layer store."},
                 {.name = "fallback",
                  .shape = Shape::word,
                  .help = "The programs of the machine stand in while the layers are not built.",
                  .words = {"host"}},
                 build_field(),
                 {.name = "preimport",
                  .shape = Shape::texts,
                  .help = "Modules that Python interpreters have imported before anybody asks.",
                  .most = 32},
                 {.name = "image",
                  .help = "The image that the provider docker makes it from, such as python:3.13-slim."}}};
}

Kind agents_kind() {
  return {.folder = "agents",
          .singular = "agent",
          .help = "What an agent wants of its session; a session that names it gets all of it.",
          .fields = {name_field(),
                     description_field(),
                     {.name = "environment", .help = "An environment by name."},
                     agent_provider_field(),
                     {.name = "policy", .help = "A policy by name."},
                     limits_field(),
                     network_field(reach_fields()),
                     {.name = "ttl_seconds",
                      .shape = Shape::number,
                      .help = "How long a session lives.",
                      .least = 1,
                      .most = 31536000},
                     env_field(),
                     {.name = "tools",
                      .shape = Shape::texts,
                      .help = "The only tools that its sessions may call, or '*'; left out: all.",
                      .most = kNamesMax},
                     {.name = "skills",
                      .shape = Shape::texts,
                      .help = "Skills by name, or '*' for all that the tenant may use.",
                      .most = kNamesMax},
                     {.name = "prompt", .help = "A prompt by name."},
                     {.name = "storage", .help = "A storage of the operator's; for the provider virtual."}},
          .owners = Owners::tenants_too};
}

Kind prompts_kind() {
  return {
      .folder = "prompts",
      .singular = "prompt",
      .help =
          "A text with variables. {{name}} stands for a variable, {{> name}} for another prompt, "
          "\\{{ for two braces.",
      .fields = {name_field(),
                 description_field(),
                 {.name = "variables",
                  .shape = Shape::objects_by_name,
                  .help = "What a caller fills in.",
                  .most = 64,
                  .fields = {{.name = "type",
                              .shape = Shape::word,
                              .help = "string if none is named.",
                              .words = {"string", "integer", "number", "boolean", "list"}},
                             {.name = "description", .help = "For people.", .most = kDescriptionMax},
                             {.name = "default", .shape = Shape::any, .help = "Where a caller says none."},
                             {.name = "values", .shape = Shape::texts, .help = "The only ones allowed."}}},
                 {.name = "text", .help = "The text.", .required = true, .most = 1 << 18}},
      .owners = Owners::tenants_too};
}

// The tools room checks what is inside of `input`, `output`, `run` and `examples` (Registry::add_checker).
Kind tools_kind() {
  return {.folder = "tools",
          .singular = "tool",
          .help = "Something an agent can call, with the schema of what goes in and what comes out.",
          .fields = {name_field(),
                     description_field(),
                     {.name = "version", .help = "The author's version of it."},
                     {.name = "input", .shape = Shape::any, .help = "JSON Schema of the input."},
                     {.name = "output", .shape = Shape::any, .help = "JSON Schema of the output."},
                     {.name = "run", .shape = Shape::any, .help = "How it runs.", .required = true},
                     limits_field(),
                     {.name = "policy", .help = "A policy by name."},
                     network_field(reach_fields()),
                     {.name = "secrets", .shape = Shape::any, .help = "Headers with secrets, by host."},
                     {.name = "idempotent", .shape = Shape::boolean, .help = "It may be tried again."},
                     {.name = "pure", .shape = Shape::boolean, .help = "Its results may be cached."},
                     {.name = "read_only", .shape = Shape::boolean, .help = "It changes nothing."},
                     {.name = "timeout_seconds",
                      .shape = Shape::number,
                      .help = "How long one call may take.",
                      .least = 0.01,
                      .most = 86400},
                     {.name = "tags", .shape = Shape::texts, .help = "Words to search by."},
                     {.name = "examples", .shape = Shape::any, .help = "Calls that tests make."}},
          .owners = Owners::tenants_too};
}

Kind policies_kind() {
  const auto rules = [](std::string_view language) {
    return Field{.name = language, .shape = Shape::any, .help = "Rules for this language (docs/policy.md)."};
  };
  return {.folder = "policies",
          .singular = "policy",
          .help = "Rules about code.",
          .fields = {{.name = "name", .shape = Shape::name, .help = "The file's name if it is left out."},
                     description_field(),
                     {.name = "extends", .help = "The policy it adds to."},
                     {.name = "mode",
                      .shape = Shape::word,
                      .help = "enforce: what is denied does not run; audit: it is only recorded.",
                      .words = {"enforce", "audit", "off"}},
                     provider_field("The only provider whose sandboxes may run code under this policy."),
                     {.name = "limits", .shape = Shape::any, .help = "How much code is looked at."},
                     {.name = "rules", .shape = Shape::any, .help = "Effects by the name of a rule."},
                     rules("python"),
                     rules("javascript"),
                     rules("shell")}};
}

Kind limits_kind() {
  Fields languages;
  for (const std::string_view word : {"python", "javascript", "typescript", "shell", "r", "java", "deno"})
    languages.push_back({.name = word, .shape = Shape::object, .fields = limit_fields()});
  return {.folder = "limits",
          .singular = "limits",
          .help = "What a sandbox may consume where nobody says otherwise.",
          .fields = {{.name = "default_limits", .shape = Shape::object, .fields = limit_fields()},
                     {.name = "language_specific", .shape = Shape::object, .fields = languages}}};
}

Kind skills_kind() {
  return {
      .folder = "skills",
      .singular = "skill",
      .help = "Where a skill comes from and who may use it. The skill itself is a directory with SKILL.md.",
      .fields = {
          name_field(),
          description_field(),
          {.name = "directory",
           .help = "The skill's directory: an absolute path of the host.",
           .required = true},
          {.name = "digest",
           .help = "Pinned: only these contents, as an immutable copy. Left out: it follows its source."},
          {.name = "tenants", .shape = Shape::texts, .help = "Who may use it; none: everybody."},
          {.name = "agents", .shape = Shape::texts, .help = "Agents that may use it; none: all."}}};
}

// Permissions are checked by whoever owns roles (Registry::add_checker).
Kind roles_kind() {
  return {
      .folder = "roles",
      .singular = "role",
      .help = "A named set of permissions.",
      .fields = {name_field(),
                 description_field(),
                 {.name = "tenant",
                  .shape = Shape::name,
                  .help = "Whose role it is; left out: every tenant has it."},
                 {.name = "permissions", .shape = Shape::texts, .help = "Permissions by name."},
                 {.name = "extends", .shape = Shape::texts, .help = "Roles whose permissions it has too."}}};
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> table = {limits_kind(), policies_kind(), environments_kind(), prompts_kind(),
                                          tools_kind(),  skills_kind(),   agents_kind(),       roles_kind()};
  return table;
}

const Kind* find_kind(std::string_view folder) {
  for (const Kind& kind : kinds())
    if (kind.folder == folder) return &kind;
  return nullptr;
}

}  // namespace atl::registry
