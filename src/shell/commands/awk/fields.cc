#include <fmt/format.h>

#include <cstring>

#include "base/utf8.h"
#include "shell/commands/awk/machine.h"

namespace atl::shell::awk {

namespace {

constexpr std::int64_t kFieldsMax = 10'000'000;

bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

}  // namespace

void Machine::set_record(std::string_view text) {
  source_.assign(text);
  is_rebuilt_ = stale_ = split_ = false;
  if (any_changed_) {
    is_changed_.assign(is_changed_.size(), false);
    any_changed_ = false;
  }
}

void Machine::split_text(std::string_view text, std::string_view separator, const Regex* regex,
                         std::vector<std::string_view>& out, std::vector<std::string_view>* separators) {
  out.clear();
  if (separators) separators->clear();
  if (text.empty()) return;
  // One space is the default: runs of blanks, and none at the ends.
  if (separator == " " && !regex) {
    const char* p = text.data();
    const char* end = p + text.size();
    const char* gap = p;
    while (p < end && blank(*p)) ++p;
    if (separators) separators->push_back({gap, static_cast<std::size_t>(p - gap)});
    while (p < end) {
      const char* start = p;
      while (p < end && !blank(*p)) ++p;
      out.emplace_back(start, static_cast<std::size_t>(p - start));
      gap = p;
      while (p < end && blank(*p)) ++p;
      if (separators) separators->push_back({gap, static_cast<std::size_t>(p - gap)});
    }
    return;
  }
  // Each character is a field, a gawk extension.
  if (separator.empty() && !regex) {
    for (std::size_t i = 0; i < text.size();) {
      std::size_t length = utf8::read_length(text, i);
      if (i && separators) separators->push_back(text.substr(i, 0));
      out.push_back(text.substr(i, length));
      i += length;
    }
    return;
  }
  if (!regex) {
    std::size_t at = 0;
    while (true) {
      const void* found = memchr(text.data() + at, separator[0], text.size() - at);
      if (!found) break;
      std::size_t end = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
      out.push_back(text.substr(at, end - at));
      if (separators) separators->push_back(text.substr(end, 1));
      at = end + 1;
    }
    out.push_back(text.substr(at));
    return;
  }
  std::size_t at = 0, from = 0;
  Regex::Span span;
  while (from <= text.size() && regex->search(text, from, span)) {
    // A match of nothing separates nothing.
    if (span.end == span.begin) {
      from = span.end + 1;
      continue;
    }
    out.push_back(text.substr(at, span.begin - at));
    if (separators) separators->push_back(text.substr(span.begin, span.end - span.begin));
    at = from = span.end;
  }
  out.push_back(text.substr(at));
}

void Machine::split_fields() {
  split_ = true;
  std::string_view text = source_;
  if (!widths_.empty()) {
    fields_.clear();
    std::size_t at = 0;
    for (std::size_t width : widths_) {
      if (at >= text.size()) break;
      fields_.push_back(text.substr(at, width));
      at += width;
    }
  } else if (use_fpat_) {
    std::string scratch;
    const Regex& pattern = dynamic_regex(text_of(globals_[kFPAT].value, scratch));
    fields_.clear();
    std::size_t from = 0;
    bool adjacent = false;  // an empty match right behind a field is no field of its own
    Regex::Span span;
    while (from <= text.size() && pattern.search(text, from, span)) {
      bool empty = span.end == span.begin;
      if (empty && adjacent && span.begin == from) {
        ++from;
        adjacent = false;
        continue;
      }
      fields_.push_back(text.substr(span.begin, span.end - span.begin));
      from = empty ? span.end + 1 : span.end;
      adjacent = !empty;
    }
  } else if (rs_.empty() && fs_ != " ") {
    // With blank-line records a newline separates fields besides FS.
    std::string both =
        fs_regex_ || fs_.size() != 1
            ? fmt::format("({})|\n", fs_)
            : fmt::format("[{}]|\n", fs_ == "^" || fs_ == "]" || fs_ == "\\" ? "\\" + fs_ : fs_);
    split_text(text, fs_, &dynamic_regex(both), fields_, nullptr);
  } else {
    split_text(text, fs_, fs_regex_, fields_, nullptr);
  }
  field_count_ = static_cast<std::int64_t>(fields_.size());
  call_.charge(fields_.size() / 4 + 1);
}

// $0 is put together again only when somebody reads it after a field was changed.
std::string_view Machine::record() {
  if (stale_) {
    rebuilt_.clear();
    for (std::int64_t i = 1; i <= field_count_; ++i) {
      if (i > 1) rebuilt_ += ofs_;
      rebuilt_ += field_text(i);
    }
    stale_ = false;
    is_rebuilt_ = true;
  }
  return is_rebuilt_ ? rebuilt_ : source_;
}

std::int64_t Machine::field_index(const Node* node) {
  double index = node->a->op == Op::number ? node->a->number : number(node->a);
  if (index < 0) fatal(fmt::format("attempt to access field {}", static_cast<std::int64_t>(index)));
  if (index > static_cast<double>(kFieldsMax)) fatal("field number too large");
  return static_cast<std::int64_t>(index);
}

std::string_view Machine::field_text(std::int64_t index) {
  if (index == 0) return record();
  if (!split_) split_fields();
  if (index > field_count_) return {};
  std::size_t at = static_cast<std::size_t>(index - 1);
  if (any_changed_ && at < is_changed_.size() && is_changed_[at]) {
    Value& value = changed_[at];
    if (!value.is_string()) {
      append_number(value.text, value.number, convfmt_);
      value.flags |= Value::kString;
    }
    return value.text;
  }
  return at < fields_.size() ? fields_[at] : std::string_view();
}

Value Machine::field(std::int64_t index) {
  if (index == 0) return Value::input(record());
  if (!split_) split_fields();
  std::size_t at = static_cast<std::size_t>(index - 1);
  if (index > field_count_) return Value{};
  if (any_changed_ && at < is_changed_.size() && is_changed_[at]) return changed_[at];
  return Value::input(at < fields_.size() ? fields_[at] : std::string_view());
}

void Machine::set_field(std::int64_t index, Value value) {
  if (index == 0) {
    std::string scratch;
    std::string text(text_of(value, scratch));
    set_record(text);
    return;
  }
  if (!split_) split_fields();
  if (index > field_count_) field_count_ = index;
  std::size_t at = static_cast<std::size_t>(index - 1);
  if (at >= is_changed_.size()) {
    is_changed_.resize(at + 1, false);
    changed_.resize(at + 1);
  }
  // A field that was assigned is a string, never unset: typeof and comparisons see the difference.
  if (value.unset()) value = Value::of(std::string());
  changed_[at] = std::move(value);
  is_changed_[at] = true;
  any_changed_ = true;
  stale_ = true;
}

void Machine::set_field_count(std::int64_t count) {
  if (!split_) split_fields();
  if (count < 0) fatal("NF set to negative value");
  if (count > kFieldsMax) fatal("NF set to too large a value");
  if (static_cast<std::size_t>(count) < fields_.size()) fields_.resize(static_cast<std::size_t>(count));
  // A field that comes back when NF grows again is empty, not what it was.
  if (static_cast<std::size_t>(count) < is_changed_.size())
    for (std::size_t i = static_cast<std::size_t>(count); i < is_changed_.size(); ++i) is_changed_[i] = false;
  field_count_ = count;
  stale_ = true;
}

}  // namespace atl::shell::awk
