#include "shell/files/backup.h"

#include <algorithm>

#include "shell/arguments/choice.h"
#include "shell/files/file_names.h"
#include "shell/text/numbers.h"

namespace atl::shell {

namespace {

// The largest N of "NAME.~N~" beside the file; 0: there is none.
std::int64_t highest_number(Invocation& call, const std::string& shown) {
  auto path = call.resolve(shown);
  if (!path) return 0;
  auto listing = call.fs().list(path->parent());
  if (!listing) return 0;
  std::string lead = std::string(base_name(shown)) + ".~";
  std::int64_t highest = 0;
  for (auto entry : *listing) {
    call.charge(1);
    std::string_view name = entry.name;
    if (!name.starts_with(lead) || !name.ends_with('~') || name.size() <= lead.size() + 1) continue;
    std::int64_t number = 0;
    if (parse_integer(name.substr(lead.size(), name.size() - lead.size() - 1), number))
      highest = std::max(highest, number);
  }
  return highest;
}

}  // namespace

bool Backup::settle(Invocation& call) {
  if (!wanted_) return true;
  static constexpr Choice kWords[] = {
      {"none", static_cast<int>(Kind::none)},         {"off", static_cast<int>(Kind::none)},
      {"simple", static_cast<int>(Kind::simple)},     {"never", static_cast<int>(Kind::simple)},
      {"existing", static_cast<int>(Kind::existing)}, {"nil", static_cast<int>(Kind::existing)},
      {"numbered", static_cast<int>(Kind::numbered)}, {"t", static_cast<int>(Kind::numbered)},
  };
  kind_ = Kind::existing;
  std::optional<std::string> word = control_ ? control_ : call.variable("VERSION_CONTROL");
  if (word && !word->empty()) {
    auto kind = choose(call, control_ ? "backup type" : "$VERSION_CONTROL", *word, kWords);
    if (!kind) return false;
    kind_ = static_cast<Kind>(*kind);
  }
  if (!suffix_) suffix_ = call.variable("SIMPLE_BACKUP_SUFFIX");
  if (!suffix_ || suffix_->empty() || suffix_->find('/') != std::string::npos) suffix_ = "~";
  return true;
}

std::string Backup::name_for(Invocation& call, const std::string& shown) const {
  std::string base = shown;
  while (base.size() > 1 && base.ends_with('/')) base.pop_back();
  std::int64_t highest = kind_ == Kind::simple ? 0 : highest_number(call, base);
  if (kind_ == Kind::numbered || highest > 0) return base + ".~" + std::to_string(highest + 1) + "~";
  return base + suffix_.value_or("~");
}

}  // namespace atl::shell
