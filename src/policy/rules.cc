#include <array>

#include "policy/policy.h"
#include "policy/scan/compiled.h"

namespace atl::policy {

namespace {

using enum RiskLevel;

// In the order of RuleId.
constexpr std::array<Rule, 30> rule_table{{
    {"forbidden-import", high, "a module on the policy's list",
     "The code imports a module that the policy's `forbidden_imports` names (or, in JavaScript, a pattern "
     "such as "
     "require('fs')), in any way: `import os as o`, `from os import path`, `import os.path`, "
     "`__import__(\"o\"+\"s\")`, `require(\"node:fs\")`, `export * from 'fs'`, `sys.modules['os']`. Relative "
     "imports "
     "(`from . import os`) are modules of the code's own and do not count.",
     "Use a module that the policy permits, or ask the operator for a policy that permits this one."},
    {"forbidden-function", high, "a function on the policy's list",
     "The code names a built-in function that the policy's `forbidden_functions` lists. Naming is enough: a "
     "function "
     "that is passed on or stored under another name is called later. A method, parameter or function of the "
     "code's "
     "own with the same name is not meant.",
     "Write out what the code should do instead of building it at run time."},
    {"forbidden-attribute", high, "an attribute on the policy's list",
     "The code reads an attribute that the policy's `forbidden_attributes` lists: a bare name on any object, "
     "a dotted "
     "name (`os.environ`) on that object only; also through getattr or a subscript.",
     "Do without this attribute."},
    {"forbidden-call", high, "a call on the policy's list",
     "The code calls a function that the policy's `forbidden_calls` lists by its dotted name, also under "
     "another name.",
     "Use another function."},
    {"forbidden-pattern", high, "a pattern on the policy's list",
     "A sequence of tokens from the policy's `forbidden_patterns` appears in the code. Spacing and the kind "
     "of quotes "
     "do not matter; comments and the contents of strings are not searched.",
     "Remove it, or ask the operator for another policy."},
    {"forbidden-command", high, "a command on the policy's list",
     "The script runs a command that the policy's `forbidden_commands` lists, however it is spelled or "
     "wrapped: "
     "`/bin/rm`, `\\rm`, `\"r\"m`, `command rm`, `env -i rm`, `xargs rm`, `find -exec rm`, `busybox rm`, `sh "
     "-c 'rm x'`, "
     "an alias, a variable with a constant value.",
     "Use a command that the policy permits."},
    {"import-not-allowed", medium, "a module that is not on the allow-list",
     "The policy has an `allowed_imports` list and this module is not on it.",
     "Use a module that the policy permits."},
    {"command-not-allowed", medium, "a command that is not on the allow-list",
     "The policy has an `allowed_commands` list and this command is not on it.",
     "Use a command that the policy permits."},
    {"dynamic-import", medium, "a module whose name is computed",
     "The name of the module is not known before the code runs: `__import__(name)`, "
     "`importlib.import_module(x)`, "
     "`require(variable)`, `import(f())`.",
     "Import modules by a constant name."},
    {"dynamic-attribute", medium, "an attribute of a sensitive object by a computed name",
     "getattr(module, name), globals()[name] or process[name] with a name that is not known before the code "
     "runs can "
     "reach every function of the object.",
     "Name the attribute in the code."},
    {"dynamic-code", high, "text that is run as code",
     "The code makes code at run time: `new Function(text)`, `setTimeout(\"text\")`, "
     "`x.constructor.constructor(...)`, "
     "`types.FunctionType(...)`, `eval \"$variable\"` in a shell. What it does cannot be read beforehand.",
     "Write out what the code should do instead of building it at run time."},
    {"builtins-access", high, "the table of built-in functions",
     "The code reaches for Python's table of built-in functions (`__builtins__`, `import builtins`, "
     "`globals()[\"__builtins__\"]`), the usual way round a list of forbidden functions.",
     "Call built-in functions by their names."},
    {"introspection", medium, "an interpreter's internals",
     "The code reads attributes that lead from any object to the interpreter's internals: `__subclasses__`, "
     "`__globals__`, `__code__`, `f_back`, `f_globals`, `gi_frame`, `tb_frame`.",
     "Do without introspection of functions, frames and classes."},
    {"object-escape", critical, "a walk from a literal to every class",
     "`().__class__.__base__.__subclasses__()` and its kind: from a literal to `object` and from there to "
     "every class "
     "in the process. It serves to get out of a restricted interpreter and nothing else.",
     "Remove it."},
    {"disguised-name", high, "a name in look-alike characters",
     "An identifier is spelled with characters that the interpreter turns into ordinary letters (𝐞𝐯𝐚𝐥 is "
     "eval to "
     "Python, \\u0065val is eval to JavaScript).",
     "Spell names in plain letters."},
    {"hidden-text", high, "characters that reorder what a reader sees",
     "The code holds bidirectional control characters, with which code can look different from what it does.",
     "Remove the control characters, or write them as escapes in a string."},
    {"encoded-payload", critical, "decoded text that is run",
     "Base64, hexadecimal, rot13, compressed or marshalled data is decoded and run: "
     "`exec(base64.b64decode(...))`, "
     "`base64 -d | sh`. Honest code has no reason to hide itself.",
     "Send the code in the clear."},
    {"remote-code", critical, "downloaded text that is run",
     "What a network answers is run as code: `curl ... | sh`, `exec(requests.get(url).text)`.",
     "Install packages through their package manager, or send the code itself."},
    {"internal-access", high, "the runtime's internal bindings",
     "The code uses internals that exist to load native code or modules past every check: `process.binding`, "
     "`process.dlopen`, `module.constructor._load`, `process.mainModule.require`.",
     "Use the public modules."},
    {"dynamic-command", medium, "a command whose name is computed",
     "The name of the command comes from a substitution or a variable whose value is not known: `$(cat x) "
     "y`, `$CMD y`.",
     "Name commands in the script."},
    {"device-write", high, "a write to a device",
     "Output is redirected, copied or teed to a file under /dev other than those that the policy permits "
     "(`allowed_devices`; by default /dev/null, /dev/stdout, /dev/stderr).",
     "Write to files of the sandbox."},
    {"reverse-shell", critical, "a shell over the network",
     "`/dev/tcp/host/port`, `nc -e`, `socat exec:`: a connection that is given a shell.", "Remove it."},
    {"fork-bomb", critical, "a function that starts itself twice and in the background",
     "`:(){ :|:& };:` and its kind use up every process that the sandbox may have.", "Remove it."},
    {"wipe-root", critical, "removal of the root directory",
     "`rm -rf /`, `rm -rf /*`, `rm -rf --no-preserve-root`: nothing is left afterwards.",
     "Name the directory to remove."},
    {"parse-error", medium, "code that does not parse",
     "The code is not well-formed. Rules run over the parts that parse; what a broken part would do is not "
     "known.",
     "Correct the syntax."},
    {"invalid-text", high, "text that is not UTF-8 code",
     "The code holds NUL bytes, is in another encoding or declares one. It is refused and not looked at "
     "further.",
     "Send UTF-8 without NUL bytes."},
    {"too-large", medium, "code over the size limit",
     "The code is longer than the policy's `max_bytes`. It is refused and not looked at further.",
     "Split the code, or load data from a file."},
    {"too-deep", medium, "code nested over the limit",
     "Blocks, brackets or operators are nested deeper than the policy's `max_nesting`.", "Flatten the code."},
    {"too-complex", medium, "code that is too much for the parser: over 32,000 tokens, or too long in it",
     "The parser did not finish in its time, which only happens with text that is not code.",
     "Correct the syntax, or split the code."},
    {"unread-language", high, "code in a language that nothing here reads",
     "R and Java can be executed, but no scanner reads them: what the policy's lists say about other "
     "languages "
     "cannot be looked for. A policy that denies would be got round by writing the same in R, so this denies "
     "too, "
     "unless the policy says otherwise.",
     "Write it in Python, JavaScript or shell, or ask the operator for a policy with `unread-language: "
     "audit`."},
}};
static_assert(static_cast<std::size_t>(RuleId::unread_language) + 1 == rule_table.size());

}  // namespace

std::span<const Rule> rules() {
  return rule_table;
}

const Rule* find_rule(std::string_view id) {
  for (const Rule& rule : rule_table) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

}  // namespace atl::policy
