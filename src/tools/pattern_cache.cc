#include "tools/pattern_cache.h"

#include <list>
#include <map>
#include <mutex>
#include <string>

namespace atl::tools {
namespace {

using Expression = std::shared_ptr<const re2::RE2>;

constexpr std::size_t kKeptBytes = 64U << 20;
constexpr std::int64_t kSmall = 256 << 10, kLarge = 1 << 20;
constexpr std::size_t kUnitsAStep = 64;  // a unit: one instruction at one character

struct Kept {
  std::string text;
  Expression expression;
  std::size_t bytes;
};

class Cache {
 public:
  Expression find(std::string_view text) {
    const std::lock_guard hold(lock_);
    const auto found = by_text_.find(text);
    if (found == by_text_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->expression;
  }

  void put(std::string_view text, Expression expression, std::size_t bytes) {
    const std::lock_guard hold(lock_);
    if (by_text_.contains(text)) return;
    order_.push_front({std::string(text), std::move(expression), bytes});
    by_text_.emplace(order_.front().text, order_.begin());
    bytes_ += bytes;
    while (bytes_ > kKeptBytes) {
      bytes_ -= order_.back().bytes;
      by_text_.erase(order_.back().text);
      order_.pop_back();
    }
  }

 private:
  std::mutex lock_;
  std::list<Kept> order_;  // the latest first
  std::map<std::string_view, std::list<Kept>::iterator, std::less<>> by_text_;
  std::size_t bytes_ = 0;
};

std::shared_ptr<re2::RE2> compile(std::string_view text, std::int64_t bytes) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(bytes);
  return std::make_shared<re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
}

}  // namespace

Result<Expression> compiled_pattern(std::string_view text) {
  static Cache cache;
  if (Expression kept = cache.find(text)) return kept;
  std::int64_t bytes = kSmall;
  auto made = compile(text, bytes);
  if (made->error_code() == re2::RE2::ErrorPatternTooLarge) made = compile(text, bytes = kLarge);
  if (!made->ok()) return fail(Code::invalid_argument, made->error());
  cache.put(text, made, static_cast<std::size_t>(bytes) + text.size());
  return made;
}

std::size_t steps_to_match(std::size_t program, std::size_t bytes) {
  return 1 + bytes * program / kUnitsAStep;
}

}  // namespace atl::tools
