#pragma once

#include <functional>
#include <map>
#include <string>

#include "config/document.h"

namespace atl::registry {

// Where a declaration comes from.
enum class Origin : std::uint8_t { shipped, directory, tenant };
std::string_view to_string(Origin origin);

// One declaration of any kind, as it was written.
struct Entry {
  std::string kind;  // the folder: "agents"
  std::string name;
  std::string description;
  Origin origin = Origin::shipped;
  std::string where;  // "agents/assistant.yaml:1:1"; of a file of the operator's with its whole path
  config::Document document;
  std::string json;    // the document as JSON
  std::string digest;  // sha256 of `json`, 64 hex digits
};

using Entries = std::map<std::string, Entry, std::less<>>;          // by name
using EntriesByKind = std::map<std::string, Entries, std::less<>>;  // by folder
// What a room of a higher rank checks of each entry of a kind: Code::invalid_argument, with file and line.
using Checker = std::function<Result<void>(const Entry&)>;
using Checkers = std::multimap<std::string, Checker, std::less<>>;  // by folder

Entry make_entry(std::string_view kind, Origin origin, config::Document document);

}  // namespace atl::registry
