#include "cli/completion.h"

#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/remote.h"
#include "config/checked.h"
#include "registry/registry.h"

namespace atl::cli {
namespace {

std::vector<Candidate> session_names() {
  std::vector<Candidate> found;
  const auto remote = Remote::open(ConnectionFlags());
  if (!remote) return found;
  const auto page = remote->json("GET", "/api/sessions?limit=200&state=running&state=paused");
  if (!page) return found;
  for (const boost::json::value& one : list_at(*page, "sessions"))
    found.push_back(
        {text_at(one, "session_id"), fmt::format("{} {} {}", text_at(one, "state"), text_at(one, "provider"),
                                                 text_at(one, "environment"))});
  return found;
}

std::vector<Candidate> environment_names() {
  std::vector<Candidate> found;
  const auto registry = registry::Registry::load("");
  if (!registry) return found;
  for (const registry::Entry* entry : registry->entries("environments"))
    found.push_back({entry->name, entry->description});
  return found;
}

std::vector<Candidate> names_of_kind(std::string_view kind) {
  if (kind == "SESSION") return session_names();
  if (kind == "ENVIRONMENT") return environment_names();
  return {};
}

}  // namespace

int complete_words(const CommandFacts& program, const std::vector<std::string>& words) {
  const std::vector<std::string> before(words.begin(), words.end() - 1);
  const Completion found = complete(program, before, words.back(), names_of_kind);
  for (const Candidate& one : found.words)
    fmt::print("{}\t{}\n", config::shown(one.word, 400), config::shown(one.about));
  if (found.files != Completion::Files::none)
    fmt::print("{}\n", found.files == Completion::Files::files ? ":files" : ":directories");
  return flush_output() ? 0 : 1;
}

Action define_completion(Command& top) {
  Command command =
      top.add_command("completion", "Print what makes a shell complete commands, flags and sessions");
  auto shell = std::make_unique<std::string>();
  command.add_option("SHELL", *shell, "bash, zsh or fish").required().value("bash|zsh|fish");
  command.notes(
      "For this shell:   source <(atoll completion bash)\n"
      "For good:         atoll completion bash > ~/.local/share/bash-completion/completions/atoll\n"
      "zsh:              atoll completion zsh > a directory of $fpath, as _atoll\n"
      "fish:             atoll completion fish > ~/.config/fish/completions/atoll.fish");
  return [shell = std::move(shell)] {
    auto script = completion_script(*shell);
    if (!script) return report(script.error());
    fmt::print("{}", *script);
    return flush_output() ? 0 : 1;
  };
}

}  // namespace atl::cli
