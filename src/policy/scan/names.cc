#include <memory>

#include "policy/scan/tree.h"

namespace atl::policy {

namespace {
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}
}  // namespace

Names::Names(const PathTrie& paths, std::size_t expected) : paths_(paths), entries_(1), hashes_(1) {
  std::size_t slots = 64;
  while (slots < expected * 2) slots *= 2;
  slots_.resize(slots);
}

NameIndex Names::intern(std::string_view text) {
  std::uint32_t hash = hash_of(text);
  std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at] != 0) {
    NameIndex index = slots_[at];
    if (hashes_[index] == hash && entries_[index].text == text) return index;
    at = (at + 1) & mask;
  }
  auto index = static_cast<NameIndex>(entries_.size());
  entries_.push_back({.text = text, .word = paths_.word(text)});
  hashes_.push_back(hash);
  slots_[at] = index;
  if (entries_.size() * 2 > slots_.size()) grow();
  return index;
}

void Names::grow() {
  slots_.assign(slots_.size() * 2, 0);
  std::size_t mask = slots_.size() - 1;
  for (NameIndex index = 1; index < entries_.size(); ++index) {
    std::size_t at = hashes_[index] & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = index;
  }
}

std::string_view Names::keep(std::string text) {
  kept_.push_back(std::make_unique<std::string>(std::move(text)));
  return *kept_.back();
}

}  // namespace atl::policy
