#include "shell/variable.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/quoting.h"

namespace atl::shell {

namespace {

// bash's table for associative arrays: 1024 buckets, this hash, newest first within a bucket.
std::uint32_t bash_hash(std::string_view key) {
  std::uint32_t hash = 2166136261U;
  for (char c : key) {
    hash *= 16777619U;
    hash ^= static_cast<std::uint32_t>(static_cast<signed char>(c));
  }
  return hash;
}

}  // namespace

const std::string* AssocArray::find(const std::string& key) const {
  auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second.value;
}

void AssocArray::set(const std::string& key, std::string value) {
  auto [it, fresh] = entries_.try_emplace(key);
  it->second.value = std::move(value);
  if (fresh) it->second.order = next_++;
}

std::vector<std::string> AssocArray::keys() const {
  struct Row {
    std::uint32_t bucket;
    std::uint64_t order;
    const std::string* key;
  };
  std::vector<Row> rows;
  rows.reserve(entries_.size());
  std::uint32_t buckets = 1024;
  while (entries_.size() >= std::size_t{buckets} * 2) buckets *= 4;
  for (const auto& [key, entry] : entries_)
    rows.push_back({bash_hash(key) & (buckets - 1), entry.order, &key});
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.bucket != b.bucket ? a.bucket < b.bucket : a.order > b.order;
  });
  std::vector<std::string> out;
  out.reserve(rows.size());
  for (const Row& row : rows) out.push_back(*row.key);
  return out;
}

std::string attribute_letters(const Variable& variable) {
  std::string out;
  if (variable.is(attr::array)) out += 'a';
  if (variable.is(attr::assoc)) out += 'A';
  if (variable.is(attr::integer)) out += 'i';
  if (variable.is(attr::nameref)) out += 'n';
  if (variable.is(attr::readonly)) out += 'r';
  if (variable.is(attr::trace)) out += 't';
  if (variable.is(attr::exported)) out += 'x';
  if (variable.is(attr::capital)) out += 'c';
  if (variable.is(attr::lower)) out += 'l';
  if (variable.is(attr::upper)) out += 'u';
  return out;
}

std::string array_literal(const Variable& variable) {
  std::string out = "(";
  bool first = true;
  if (variable.is(attr::array)) {
    for (const auto& [index, value] : *variable.array) {
      if (!first) out += ' ';
      first = false;
      out += fmt::format("[{}]={}", index, quote_double(value));
    }
  } else {
    for (const std::string& key : variable.assoc->keys())
      out += fmt::format("[{}]={} ", quote_key(key), quote_double(*variable.assoc->find(key)));
  }
  return out + ")";
}

std::string describe(const std::string& name, const Variable& variable) {
  std::string letters = attribute_letters(variable);
  std::string out = fmt::format("declare -{} {}", letters.empty() ? "-" : letters, name);
  if (variable.is_array()) {
    if (variable.set || variable.has_elements()) out += "=" + array_literal(variable);
  } else if (variable.set) {
    out += "=" + quote_double(variable.value);
  }
  return out;
}

}  // namespace atl::shell
