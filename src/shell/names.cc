#include "shell/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/command_table.h"
#include "shell/programs.h"
#include "shell/runner.h"

namespace atl::shell {

namespace {

constexpr std::string_view default_path = "/bin:/usr/bin";

}  // namespace

const Command* CommandNames::find_command(std::string_view name) const {
  const auto& added = shell_.machine().commands_added;
  auto it = added.find(name);
  return it != added.end() ? it->second : atl::shell::find_command(name);
}

const Builtin* CommandNames::find_enabled_builtin(std::string_view name) const {
  const Builtin* builtin = find_builtin(name);
  if (builtin && !tables_.disabled->empty() &&
      std::find(tables_.disabled->begin(), tables_.disabled->end(), name) != tables_.disabled->end())
    return nullptr;
  return builtin;
}

std::optional<vfs::Path> CommandNames::find_in_path(const std::string& name, std::string* shown,
                                                    bool use_default) {
  std::string path = use_default ? std::string(default_path) : shell_.variables().get_or_empty("PATH");
  const Command* command = find_command(name);
  for (std::size_t from = 0; from <= path.size();) {
    std::size_t colon = path.find(':', from);
    std::string directory = path.substr(from, colon == std::string::npos ? colon : colon - from);
    from = colon == std::string::npos ? path.size() + 1 : colon + 1;
    std::string full =
        directory.empty() ? "./" + name : directory + (directory.back() == '/' ? "" : "/") + name;
    auto where = shell_.descriptors().path_of(full);
    if (!where) continue;
    auto stat = shell_.machine().fs.find(*where);
    if (stat && !stat->is_directory() && shell_.descriptors().permitted(*stat, 1)) {
      if (shown) *shown = full;
      return *where;
    }
    if ((command || also_program(name)) && holds_commands(directory)) {
      if (shown) *shown = full;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

const std::string* CommandNames::alias(std::string_view name) const {
  auto it = tables_.aliases->find(name);
  return it == tables_.aliases->end() ? nullptr : &it->second;
}

const Function* CommandNames::find_function(std::string_view name) const {
  auto it = tables_.functions->find(name);
  return it == tables_.functions->end() ? nullptr : &it->second;
}

bool CommandNames::unset_function(const std::string& name) {
  const Function* function = find_function(name);
  if (!function) return true;
  if (function->readonly) {
    shell_.error(fmt::format("unset: {}: cannot unset: readonly function", name));
    return false;
  }
  auto& table = tables_.functions.edit();
  table.erase(table.find(name));
  return true;
}

}  // namespace atl::shell
