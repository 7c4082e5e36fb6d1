#pragma once

#include <boost/json/value.hpp>
#include <list>
#include <map>
#include <optional>
#include <string>

namespace atl::tools {

// Outputs of pure tools by what they were made of: tenant, tool, input, and the session whose sandbox
// answered. Bounded by entries and bytes; what was not asked for longest goes first. Belongs to one thread.
class ResultCache {
 public:
  ResultCache(std::size_t bytes_max, std::size_t entries_max)
      : bytes_max_(bytes_max), entries_max_(entries_max) {}

  std::optional<boost::json::value> find(const std::string& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->output;
  }

  // `bytes` is what the output takes as text.
  void put(const std::string& key, boost::json::value output, std::size_t bytes) {
    if (bytes > bytes_max_ / 4 || entries_.contains(key)) return;
    order_.push_front({key, std::move(output), bytes + key.size()});
    entries_.emplace(key, order_.begin());
    bytes_ += order_.front().bytes;
    while (bytes_ > bytes_max_ || entries_.size() > entries_max_) {
      bytes_ -= order_.back().bytes;
      entries_.erase(order_.back().key);
      order_.pop_back();
    }
  }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    boost::json::value output;
    std::size_t bytes;
  };
  std::size_t bytes_max_, entries_max_, bytes_ = 0;
  std::list<Entry> order_;  // the latest first
  std::map<std::string, std::list<Entry>::iterator> entries_;
};

}  // namespace atl::tools
