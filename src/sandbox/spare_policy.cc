#include "sandbox/spare_policy.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "base/ids.h"

namespace atl::sandbox {

bool SparePolicy::is_wanted() const {
  return options_.bytes_max > 0 && begun_ > 0 && !asked_ && refused_ != begun_ && !is_fresh(false);
}

std::string SparePolicy::request() {
  // It ends the older one first.
  forget();
  variables_.clear();
  asked_ = Copy{random_word(32), begun_};
  ++owed_;
  return fmt::format("{} {}", options_.bytes_max, asked_->word);
}

std::optional<SparePolicy::Time> SparePolicy::begin_calm(Time now) {
  calm_since_ = now;
  if (std::exchange(is_watched_, true)) return std::nullopt;
  return now + options_.calm;
}

std::optional<SparePolicy::Time> SparePolicy::look_again(Time now) const {
  const Time calm_at = calm_since_ + options_.calm;
  if (now < calm_at) return calm_at;
  if (now < calm_at + options_.latest && options_.others_wait && options_.others_wait())
    return now + options_.calm;
  return std::nullopt;
}

void SparePolicy::refuse(std::string why) {
  refused_ = begun_, refusal_ = std::move(why);
  forget();
}

std::optional<std::uint32_t> SparePolicy::take_answer(std::string_view payload) {
  // Answers come in order: only the last one is to the last request.
  if (owed_ == 0) return std::nullopt;
  --owed_;
  if (owed_ > 0 || !asked_) return std::nullopt;
  std::uint32_t pid = 0;
  const auto [end, error] = std::from_chars(payload.data(), payload.data() + payload.size(), pid);
  if (error == std::errc() && end == payload.data() + payload.size() && pid > 1) return named_ = pid;
  refuse(to_valid_utf8(payload.substr(0, 200)));
  return std::nullopt;
}

void SparePolicy::confirm(std::uint32_t pid) {
  if (!asked_ || named_ == 0) return;
  if (pid != named_) return refuse("it is no child of the interpreter");
  kept_ = std::exchange(asked_, std::nullopt);
  named_ = 0;
  refused_.reset();
}

std::string SparePolicy::use() {
  if (!kept_) return {};
  // What died with the interpreter was never executed.
  begun_ = kept_->begun;
  std::string word = std::move(kept_->word);
  forget();
  owed_ = 0;
  return word;
}

std::string SparePolicy::lack() const {
  if (options_.bytes_max == 0) return {};
  if (refused_) return refusal_;
  return begun_ <= 1 ? "nothing was executed before" : "there was no time to make one";
}

}  // namespace atl::sandbox
