#include "shell/commands/grep/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "shell/text/count_byte.h"

namespace atl::shell {

namespace {

bool word(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

constexpr std::string_view kMatchColor = "\33[01;31m\33[K", kNameColor = "\33[35m\33[K",
                           kNumberColor = "\33[32m\33[K", kSeparatorColor = "\33[36m\33[K",
                           kPlain = "\33[m\33[K";

std::size_t line_begin(std::string_view text, std::size_t at, char delimiter) {
  if (at == 0) return 0;
  const void* found = memrchr(text.data(), delimiter, at);
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1 : 0;
}

std::size_t line_end(std::string_view text, std::size_t at, char delimiter) {
  if (at >= text.size()) return text.size();
  const void* found = memchr(text.data() + at, delimiter, text.size() - at);
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : text.size();
}

}  // namespace

Result<std::unique_ptr<Grep>> Grep::create(Invocation& call, const GrepSettings& settings,
                                           const std::vector<std::string>& patterns, Syntax syntax,
                                           RegexOptions options) {
  std::unique_ptr<Grep> grep(new Grep(call, settings));
  if (patterns.empty()) {
    grep->none_match_ = true;
    return grep;
  }
  // Only where a match is matters, never its groups.
  options.captures = false;
  options.dot_newline = false;
  options.quick = !settings.words;
  auto line = Regex::compile(patterns, syntax, options);
  if (!line) return std::unexpected(line.error());
  grep->line_ = std::make_unique<Regex>(std::move(*line));
  options.quick = false;
  if (settings.delimiter == '\n' && grep->line_->required().size() + grep->line_->required_at_start() > 1) {
    grep->at_start_ = grep->line_->required_at_start();
    // Text that every match contains: lines without it are skipped by memmem, which is many times as fast as
    // the expression.
    grep->required_ = (grep->at_start_ ? "\n" : "") + std::string(grep->line_->required());
  }
  // The whole buffer at once: not for Perl, whose \s or [^x] could cross a line's end.
  if (settings.delimiter == '\n' && syntax != Syntax::perl) {
    bool empty_pattern =
        std::any_of(patterns.begin(), patterns.end(), [](const std::string& p) { return p.empty(); });
    options.lines = true;
    auto buffer = Regex::compile(patterns, syntax, options);
    if (buffer && !empty_pattern) grep->buffer_ = std::make_unique<Regex>(std::move(*buffer));
  }
  call.charge(100);
  return grep;
}

// -w: a match counts if no word character touches it; else a shorter match there, then a later one, is tried.
bool Grep::find_in_line(std::string_view line, std::size_t from, Regex::Span& span) {
  if (!settings_.words) return line_->search(line, from, span);
  std::size_t start = from;
  while (start <= line.size() && line_->search(line, start, span)) {
    call_.charge(1);
    while (true) {
      bool left = span.begin == 0 || !word(line[span.begin - 1]);
      bool right = span.end >= line.size() || !word(line[span.end]);
      if (left && right) return true;
      if (!left || span.end == span.begin) break;
      Regex::Span shorter;
      if (!line_->match_at(line, span.begin, span.end - 1, shorter)) break;
      span = shorter;
    }
    start = span.begin + 1;
  }
  return false;
}

bool Grep::line_matches(std::string_view line) {
  if (none_match_) return false;
  Regex::Span span;
  return settings_.words ? find_in_line(line, 0, span) : line_->matches(line);
}

// Where the first line in text[from..) begins that holds what every match must; the end of the text if none
// does.
std::size_t Grep::next_candidate(std::string_view text, std::size_t from) {
  std::string_view wanted = required_;
  if (at_start_ && from == 0 && text.starts_with(wanted.substr(1))) return 0;
  std::size_t start = at_start_ && from > 0 ? from - 1 : from;
  const void* found = memmem(text.data() + start, text.size() - start, wanted.data(), wanted.size());
  if (!found) return text.size();
  std::size_t at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
  return at_start_ ? at + 1 : std::max(from, line_begin(text, at, settings_.delimiter));
}

bool Grep::next_matching(std::string_view text, std::size_t from, std::size_t& begin, std::size_t& end) {
  if (none_match_) return false;
  char delimiter = settings_.delimiter;
  bool by_line = !buffer_ || (line_->quick() && line_->literal().empty());
  while (from < text.size()) {
    if (!required_.empty() && line_->literal().empty()) {
      from = next_candidate(text, from);
      if (from == text.size()) return false;
    } else if (!by_line && !dense_) {
      Regex::Span span;
      if (!buffer_->search(text, from, span)) return false;
      if (span.begin >= text.size() && text.ends_with(delimiter)) return false;
      begin = std::max(from, line_begin(text, span.begin, delimiter));
      end = line_end(text, span.begin, delimiter);
      // Where nearly every line matches, asking line by line is faster than searching on; the next miss turns
      // back.
      dense_ = begin == from;
      if (!settings_.words || line_matches(text.substr(begin, end - begin))) return true;
      from = end + 1;
      continue;
    }
    begin = from;
    end = line_end(text, from, delimiter);
    if (line_matches(text.substr(begin, end - begin))) return true;
    dense_ = false;
    call_.charge(end - begin + 1);
    from = end + 1;
  }
  return false;
}

bool Grep::next_selected(std::string_view text, std::size_t from, std::size_t& begin, std::size_t& end) {
  if (!settings_.invert) return next_matching(text, from, begin, end);
  while (from < text.size()) {
    begin = from;
    end = line_end(text, from, settings_.delimiter);
    if (!line_matches(text.substr(begin, end - begin))) return true;
    from = end + 1;
  }
  return false;
}

void Grep::count_lines(std::string_view text, std::size_t upto) {
  if (upto <= counted_) return;
  line_number_ += count_byte(text.substr(counted_, upto - counted_), settings_.delimiter);
  counted_ = upto;
}

void Grep::prefix(std::uint64_t offset, std::uint64_t number, char separator) {
  auto separate = [&] {
    if (settings_.color)
      out_.append(fmt::format("{}{}{}", kSeparatorColor, separator, kPlain));
    else
      out_.put(separator);
  };
  if (settings_.with_name == 1) {
    if (settings_.color)
      out_.append(fmt::format("{}{}{}", kNameColor, name_, kPlain));
    else
      out_.append(name_);
    if (settings_.null_names)
      out_.put('\0');
    else
      separate();
  }
  char digits[24];
  auto number_text = [&](std::uint64_t value) {
    auto length = static_cast<std::size_t>(
        snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(value)));
    if (settings_.color)
      out_.append(fmt::format("{}{}{}", kNumberColor, std::string_view(digits, length), kPlain));
    else
      out_.append({digits, length});
    separate();
  };
  if (settings_.line_numbers) number_text(number);
  if (settings_.byte_offset) number_text(offset);
  if (settings_.initial_tab && (settings_.with_name == 1 || settings_.line_numbers || settings_.byte_offset))
    out_.put('\t');
}

void Grep::print_line(std::string_view line, std::uint64_t offset, std::uint64_t number, char separator) {
  prefix(offset, number, separator);
  if (settings_.color && separator == ':' && !settings_.invert) {
    std::size_t at = 0, from = 0;
    Regex::Span span;
    while (from <= line.size() && find_in_line(line, from, span)) {
      if (span.end == span.begin) {
        from = span.end + 1;
        continue;
      }
      out_.append(line.substr(at, span.begin - at));
      out_.append(kMatchColor);
      out_.append(line.substr(span.begin, span.end - span.begin));
      out_.append(kPlain);
      at = from = span.end;
    }
    out_.append(line.substr(at));
  } else {
    out_.append(line);
  }
  out_.put(settings_.delimiter);
}

void Grep::print_matches(std::string_view line, std::uint64_t offset, std::uint64_t number) {
  std::size_t from = 0;
  Regex::Span span;
  while (from <= line.size() && find_in_line(line, from, span)) {
    if (span.end == span.begin) {
      from = span.end + 1;
      continue;
    }
    prefix(offset + span.begin, number, ':');
    if (settings_.color) out_.append(kMatchColor);
    out_.append(line.substr(span.begin, span.end - span.begin));
    if (settings_.color) out_.append(kPlain);
    out_.put(settings_.delimiter);
    from = span.end;
  }
}

// Lines between what was printed last and the line at [begin, end): after-context of the one, before-context
// of the other, and the separator where something was left out.
void Grep::context(std::string_view text, std::size_t begin, std::size_t) {
  std::uint64_t next = base_ + begin;
  std::size_t at = next_unprinted_ > base_ ? static_cast<std::size_t>(next_unprinted_ - base_) : 0;
  // Where before-context starts.
  std::size_t start = begin;
  std::int64_t taken = 0;
  while (taken < settings_.before && start > at) {
    start = line_begin(text, start - 1, settings_.delimiter);
    ++taken;
  }
  start = std::max(start, at);
  std::size_t from_kept = 0;
  if (start == 0 && taken < settings_.before && kept_end_ == base_) {
    std::uint64_t kept_begin = kept_end_;
    while (from_kept < kept_.size() && taken < settings_.before) {
      std::uint64_t size = kept_[kept_.size() - 1 - from_kept].size() + 1;
      if (kept_begin - size < next_unprinted_) break;
      kept_begin -= size;
      ++from_kept;
      ++taken;
    }
    next = kept_begin;
  } else {
    next = base_ + start;
  }
  if (printed_any_ && next > next_unprinted_ && settings_.group_separator) {
    if (settings_.color)
      out_.append(fmt::format("{}{}{}", kSeparatorColor, *settings_.group_separator, kPlain));
    else
      out_.append(*settings_.group_separator);
    out_.put('\n');
  }
  for (std::size_t i = from_kept; i > 0; --i) {
    const std::string& line = kept_[kept_.size() - i];
    print_line(line, next,
               line_number_ -
                   (counted_ ? static_cast<std::uint64_t>(std::count(
                                   text.begin(), text.begin() + static_cast<std::ptrdiff_t>(counted_),
                                   settings_.delimiter))
                             : 0) +
                   1 - i,
               '-');
    next += line.size() + 1;
  }
  while (start < begin) {
    std::size_t end = line_end(text, start, settings_.delimiter);
    count_lines(text, start);
    print_line(text.substr(start, end - start), base_ + start, line_number_ + 1, '-');
    start = end + 1;
  }
}

void Grep::selected(std::string_view text, std::size_t begin, std::size_t end) {
  any_ = true;
  ++selected_count_;
  if (settings_.quiet || settings_.list != FileList::none) {
    stopped_ = true;
    return;
  }
  if (!settings_.count) {
    if (binary_) {
      stopped_ = true;
      return;
    }
    if (settings_.before > 0 || settings_.after > 0) context(text, begin, end);
    if (settings_.line_numbers) count_lines(text, begin);
    std::string_view line = text.substr(begin, end - begin);
    if (settings_.only_matching) {
      if (!settings_.invert) print_matches(line, base_ + begin, line_number_ + 1);
    } else {
      print_line(line, base_ + begin, line_number_ + 1, ':');
    }
    printed_any_ = true;
    next_unprinted_ = base_ + end + 1;
    after_left_ = settings_.after;
  }
  if (selected_count_ >= static_cast<std::uint64_t>(settings_.max_count)) stopped_ = true;
}

// `text` holds whole lines (the last one of the input perhaps without its delimiter).
void Grep::block(std::string_view text) {
  counted_ = 0;
  std::size_t at = 0;
  bool contextual = settings_.after > 0 && !settings_.count && !settings_.only_matching;
  auto print_after = [&](std::size_t upto) {
    std::size_t start = next_unprinted_ > base_ ? static_cast<std::size_t>(next_unprinted_ - base_) : 0;
    while (contextual && after_left_ > 0 && start < upto) {
      std::size_t end = line_end(text, start, settings_.delimiter);
      if (settings_.line_numbers) count_lines(text, start);
      print_line(text.substr(start, end - start), base_ + start, line_number_ + 1, '-');
      --after_left_;
      start = end + 1;
      next_unprinted_ = base_ + start;
    }
  };
  std::size_t begin = 0, end = 0;
  while (!stopped_ && at < text.size() && next_selected(text, at, begin, end)) {
    print_after(begin);
    selected(text, begin, end);
    at = end + 1;
    call_.charge(1);
  }
  if (stopped_ && selected_count_ >= static_cast<std::uint64_t>(settings_.max_count)) {
    // After the last match its context still follows, up to the next match.
    if (at < text.size() && contextual && !settings_.quiet) {
      std::size_t stop = next_selected(text, at, begin, end) ? begin : text.size();
      print_after(stop);
    }
    return;
  }
  print_after(text.size());
  if (settings_.line_numbers || settings_.before > 0) count_lines(text, text.size());
  if (settings_.before > 0) {
    std::size_t stop = text.size();
    std::vector<std::string> last;
    std::size_t tail = text.ends_with(settings_.delimiter) ? stop - 1 : stop;
    while (stop > 0 && last.size() < static_cast<std::size_t>(settings_.before)) {
      std::size_t start = line_begin(text, tail, settings_.delimiter);
      last.emplace_back(text.substr(start, tail - start));
      if (start == 0) break;
      stop = start;
      tail = start - 1;
    }
    kept_.assign(last.rbegin(), last.rend());
    kept_end_ = base_ + text.size();
  }
}

void Grep::search(Input& in, const std::string& name) {
  name_ = name;
  binary_ = stopped_ = printed_any_ = false;
  base_ = line_number_ = selected_count_ = next_unprinted_ = kept_end_ = 0;
  after_left_ = 0;
  kept_.clear();
  if (settings_.max_count == 0) stopped_ = true;
  // Pieces end anywhere; what is behind the last line break waits for the rest of its line.
  std::string carry;
  while (!stopped_) {
    std::string_view piece = in.fill();
    if (piece.empty()) {
      if (!carry.empty()) block(carry);
      break;
    }
    call_.charge(piece.size() / 8 + 1);
    if (settings_.binary != Binary::text && settings_.delimiter == '\n' && !binary_ &&
        memchr(piece.data(), '\0', piece.size())) {
      binary_ = true;
      if (settings_.binary == Binary::without_match) {
        in.consume(piece.size());
        return;
      }
    }
    const void* last = memrchr(piece.data(), settings_.delimiter, piece.size());
    if (!last) {
      carry.append(piece);
      in.consume(piece.size());
      continue;
    }
    std::size_t whole = static_cast<std::size_t>(static_cast<const char*>(last) - piece.data()) + 1;
    std::string rest(piece.substr(whole));
    if (carry.empty()) {
      block(piece.substr(0, whole));
      base_ += whole;
    } else {
      std::size_t head = line_end(piece, 0, settings_.delimiter) + 1;
      carry.append(piece.substr(0, head));
      block(carry);
      base_ += carry.size();
      if (!stopped_ && head < whole) {
        block(piece.substr(head, whole - head));
        base_ += whole - head;
      }
    }
    carry = std::move(rest);
    in.consume(piece.size());
  }
  if (settings_.quiet) return;
  if (settings_.list != FileList::none) {
    if ((selected_count_ > 0) == (settings_.list == FileList::with)) {
      out_.append(name_);
      out_.put(settings_.null_names ? '\0' : '\n');
    }
    return;
  }
  if (settings_.count) {
    if (settings_.with_name == 1) {
      out_.append(name_);
      out_.put(settings_.null_names ? '\0' : ':');
    }
    out_.append(std::to_string(selected_count_));
    out_.put('\n');
    return;
  }
  if (binary_ && selected_count_ > 0) {
    out_.flush();
    call_.complain(fmt::format("{}: binary file matches", name_));
  }
}

int Grep::finish() {
  if (!out_.flush()) {
    call_.complain(fmt::format("write error: {}", call_.out().error()));
    return 2;
  }
  return any_ ? 0 : 1;
}

}  // namespace atl::shell
