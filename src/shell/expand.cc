#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/utf8.h"
#include "shell/expansion.h"
#include "shell/runner.h"

namespace atl::shell {

bool special_in_pattern(char c) {
  switch (c) {
    case '*':
    case '?':
    case '[':
    case ']':
    case '\\':
    case '!':
    case '+':
    case '@':
    case '(':
    case ')':
    case '|':
    case '-':
    case '^':
    // A quoted character that means something in a pattern carries a mark before it until the word is done; a
    // mark in the text itself is marked, too.
    case quote_mark: return true;
    default: return false;
  }
}

namespace {

bool ends_tilde_prefix(char c) {
  return c == '/' || c == ':';
}

std::size_t strip_newlines(const std::string& text) {
  std::size_t end = text.size();
  while (end > 0 && text[end - 1] == '\n') --end;
  return end;
}

}  // namespace

std::string unmark(std::string_view text) {
  if (text.find(quote_mark) == std::string_view::npos) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == quote_mark && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

void Expansion::check_size() {
  if (text_.size() > shell_.machine().limits.expansion_bytes)
    shell_.machine().stop_limit(Limit::expansion_bytes);
  if (done_.size() > shell_.machine().limits.expansion_fields)
    shell_.machine().stop_limit(Limit::expansion_fields);
}

void Expansion::quoted(std::string_view text) {
  started_ = true;
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!special_in_pattern(text[i])) continue;
    text_.append(text, from, i - from);
    text_ += quote_mark;
    from = i;
  }
  text_.append(text, from, text.size() - from);
  if (text.size() > 4096) check_size(), shell_.machine().charge(text.size() / 8);
}

void Expansion::unquoted(std::string_view text) {
  if (text.find(quote_mark) == std::string_view::npos) {
    text_.append(text);
    if (text.size() > 4096) check_size(), shell_.machine().charge(text.size() / 8);
    return;
  }
  for (char c : text) {
    if (c == quote_mark) text_ += quote_mark;
    text_ += c;
  }
}

// Ends the field. `started_` tells an empty field that was quoted ("") from none.
void Expansion::boundary() {
  if (text_.empty() && !started_) return;
  done_.push_back(std::move(text_));
  text_.clear();
  started_ = false;
  // Not at every field: a field is cheap, and so must its counting be.
  if (done_.size() % 1024 == 0) {
    check_size();
    shell_.machine().charge(1024);
  }
}

// Unquoted expansion: field splitting by IFS.
void Expansion::split(std::string_view text) {
  if (mode_ == Mode::single) return unquoted(text);
  const std::string& ifs = shell_.variables().ifs();
  // IFS set to nothing: no splitting at all; unset, it is white space (ifs() says so).
  if (ifs.empty()) return unquoted(text);
  bool space_ended = false;  // white space ended a field just before
  // A character of several bytes separates only as a whole.
  bool wide =
      std::any_of(ifs.begin(), ifs.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  for (std::size_t at = 0, length; at < text.size(); at += length) {
    char c = text[at];
    length = wide && static_cast<unsigned char>(c) >= 0x80 ? utf8::sequence(text.substr(at)) : 1;
    if ((length == 1 ? ifs.find(c) : ifs.find(text.substr(at, length))) == std::string::npos) {
      if (c == quote_mark) text_ += quote_mark;
      text_ += text.substr(at, length);
      space_ended = false;
      continue;
    }
    bool have = !text_.empty() || started_;
    if (c == ' ' || c == '\t' || c == '\n') {
      if (have) {
        boundary();
        space_ended = true;
      }
      continue;
    }
    if (have) {
      boundary();
      // Two separators that are no white space have an empty field between them; white space before the
      // second does not add another.
    } else if (!space_ended) {
      started_ = true;
      boundary();
    }
    space_ended = false;
  }
  if (text_.size() > 4096) check_size();
}

void Expansion::literal(std::string_view text, bool first, bool last, bool split_it) {
  auto tilde_at = [&](std::string_view rest, bool stop_colon) -> bool {
    std::size_t end = 0;
    while (end < rest.size() && !(rest[end] == '/' || (stop_colon && ends_tilde_prefix(rest[end])))) ++end;
    // An expansion follows directly: `~$user` is not looked up.
    if (end == rest.size() && !last) return false;
    bool ok = false;
    std::string home = shell_.expander().tilde(rest.substr(1, end - 1), ok);
    if (!ok) return false;
    std::string_view after = rest.substr(end);
    // A home with a slash at its end, then one of the word's: one is enough.
    if (home.size() > 1 && home.back() == '/' && after.starts_with('/')) home.pop_back();
    quoted(home);
    text = after;
    return true;
  };
  bool colons = assignment;
  if (first && !text.empty() && !quoted_all && !no_tilde) {
    if (text[0] == '~') {
      tilde_at(text, colons);
    } else if (!assignment && mode_ == Mode::fields && text.find('~') != std::string_view::npos &&
               !shell_.option(Opt::posix)) {
      std::size_t equals = text.find('=');
      if (equals != std::string_view::npos && is_name(text.substr(0, equals))) {
        unquoted(text.substr(0, equals + 1));
        text.remove_prefix(equals + 1);
        colons = true;
        if (text.starts_with('~')) tilde_at(text, true);
      }
    }
  }
  if (colons) {
    // In assignments a tilde expands behind every colon as well: PATH=~/bin:~/sbin.
    std::size_t colon;
    while ((colon = text.find(":~")) != std::string_view::npos) {
      unquoted(text.substr(0, colon + 1));
      text.remove_prefix(colon + 1);
      if (!tilde_at(text, true)) {
        unquoted(text.substr(0, 1));
        text.remove_prefix(1);
      }
    }
  }
  if (split_it)
    split(text);
  else
    unquoted(text);
}

void Expansion::parts(const std::vector<Part>& list, bool in_quotes, bool split_literals) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Part& p = list[i];
    if (p.kind == PartKind::literal) {
      if (in_quotes)
        quoted(p.text);
      else
        literal(p.text, i == 0, i + 1 == list.size(), split_literals);
    } else {
      part(p, in_quotes, split_literals);
    }
  }
}

void Expansion::part(const Part& p, bool in_quotes, bool split_literals) {
  switch (p.kind) {
    case PartKind::literal: literal(p.text, false, true, split_literals); break;
    case PartKind::quoted: quoted(p.text); break;
    case PartKind::dquote:
      // "" is a word, "$@" without arguments is none: only the parts inside know.
      if (p.children.empty()) started_ = true;
      parts(p.children, true, false);
      break;
    case PartKind::param: param(*p.param, in_quotes || quoted_all); break;
    case PartKind::command: command(p, in_quotes || quoted_all); break;
    case PartKind::arith: {
      std::string value = std::to_string(shell_.expander().evaluate(*p.arith));
      emit_scalar(value, in_quotes || quoted_all);
      break;
    }
    case PartKind::process: process(p); break;
  }
}

void Expansion::command(const Part& p, bool in_quotes) {
  std::string text;
  if (p.command) {
    text = shell_.executor().capture(*p.command);
  } else {
    shell_.last().substitution = 0;
  }
  text.resize(strip_newlines(text));
  // bash drops NUL bytes and says so.
  if (text.find('\0') != std::string::npos) {
    shell_.error("warning: command substitution: ignored null byte in input");
    std::erase(text, '\0');
  }
  emit_scalar(text, in_quotes);
}

void Expansion::process(const Part& p) {
  auto ends = make_pipe(shell_.machine());
  bool reads = p.direction == '<';  // the command line reads what the process writes
  OpenFilePtr ours = reads ? ends.first : ends.second;
  OpenFilePtr theirs = reads ? ends.second : ends.first;
  // Each end must have one owner, or a reader would never see the end of the file.
  ends = {};
  int fd = 63;
  // From 63 downwards, as bash does: the number is seen in /dev/fd/63.
  while (fd > 10 && shell_.descriptors().file(fd)) --fd;
  NodePtr body = p.command;
  auto process = shell_.jobs().background(
      [body, theirs, reads](ShellRunner& child) {
        child.traps().reset_inherited();
        child.descriptors().set_file(reads ? 1 : 0, theirs);
        return body ? child.executor().execute(*body) : 0;
      },
      false);
  // The process has the only other reference: its end is then the end of the file.
  theirs.reset();
  shell_.descriptors().set_file(fd, ours);
  shell_.jobs().add_substitution(fd, process);
  quoted(fmt::format("/dev/fd/{}", fd));
}

void Expansion::emit_scalar(std::string_view text, bool in_quotes) {
  if (in_quotes)
    quoted(text);
  else
    split(text);
}

void Expansion::emit(Value& value, bool in_quotes) {
  if (!value.list) return emit_scalar(value.text, in_quotes);
  const std::string& ifs = shell_.variables().ifs();
  bool join = mode_ == Mode::single || (in_quotes && value.star);
  if (join) {
    // "$*" is joined by the first character of IFS, and by nothing if IFS is empty; $@ where only one word
    // can be is joined by blanks.
    std::string separator = value.star ? ifs.substr(0, ifs.empty() ? 0 : utf8::sequence(ifs)) : " ";
    std::string joined;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (i) joined += separator;
      joined += value.items[i];
    }
    if (in_quotes)
      quoted(joined);
    else
      unquoted(joined);
    return;
  }
  if (!in_quotes && !ifs.empty() && ifs[0] != ' ' && ifs[0] != '\t' && ifs[0] != '\n') {
    // Joined and split again: an empty item stays as an empty field.
    std::string joined;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (i) joined += ifs.substr(0, utf8::sequence(ifs));
      joined += value.items[i];
    }
    return split(joined);
  }
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (i) {
      if (in_quotes) started_ = true;
      boundary();
    }
    if (in_quotes) {
      started_ = true;
      quoted(value.items[i]);
    } else {
      split(value.items[i]);
    }
  }
}

void Expansion::word(const Word& word) {
  parts(word.parts, quoted_all, false);
}

std::string Expansion::plain() const {
  return unmark(text_);
}

std::string Expansion::pattern() const {
  std::string out;
  out.reserve(text_.size());
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == quote_mark && i + 1 < text_.size()) {
      ++i;
      // What was quoted must match itself.
      if (text_[i] != quote_mark) out += '\\';
    }
    out += text_[i];
  }
  return out;
}

void Expansion::finish(std::vector<std::string>& out) {
  boundary();
  bool extended = shell_.option(Shopt::extglob);
  for (std::string& field : done_) {
    // Most fields have no unquoted pattern character: they do not touch the filesystem.
    bool live = false;
    if (!shell_.option(Opt::noglob)) {
      for (std::size_t i = 0; i < field.size() && !live; ++i) {
        char c = field[i];
        if (c == quote_mark)
          ++i;
        else if (c == '*' || c == '?' || (c == '[' && field.find(']', i + 1) != std::string::npos))
          live = true;
        else if (extended && (c == '+' || c == '@' || c == '!') && i + 1 < field.size() &&
                 field[i + 1] == '(')
          live = true;
      }
    }
    if (!live) {
      out.push_back(unmark(field));
      continue;
    }
    text_ = field;
    bool matched = false;
    std::vector<std::string> names = shell_.expander().glob(pattern(), matched);
    if (matched) {
      for (auto& name : names) out.push_back(std::move(name));
    } else if (shell_.option(Shopt::failglob)) {
      shell_.abandon(fmt::format("no match: {}", unmark(field)));
    } else if (!shell_.option(Shopt::nullglob)) {
      out.push_back(unmark(field));
    }
  }
  text_.clear();
  done_.clear();
  if (out.size() > shell_.machine().limits.expansion_fields)
    shell_.machine().stop_limit(Limit::expansion_fields);
}

}  // namespace atl::shell
