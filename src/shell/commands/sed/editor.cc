#include "shell/commands/sed/editor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "shell/files/inputs.h"
#include "shell/text/lines.h"
#include "shell/text/sink.h"

namespace atl::shell::sed {

Editor::Editor(Invocation& call, Script& script, const EditorOptions& options)
    : call_(call), script_(script), options_(options), out_(call.out()), sink_(&out_) {
  if (script.quiet_by_first_line) options_.quiet = true;
}

// Opens the next operand that can be opened.
bool Editor::open_next() {
  while (operand_ < operands_.size()) {
    name_ = operands_[operand_++];
    lines_.reset();
    owned_.reset();
    if (name_ == "-" && !options_.in_place) {
      lines_ = std::make_unique<Lines>(call_.in(), options_.delimiter);
      return true;
    }
    auto path = call_.resolve(name_);
    auto stat = path ? call_.fs().find(*path) : std::nullopt;
    if (stat && stat->is_directory()) {
      call_.complain(options_.in_place ? fmt::format("couldn't edit {}: not a regular file", name_)
                                       : fmt::format("read error on {}: Is a directory", name_));
      failed_ = 4;
      if (options_.in_place) continue;
      operand_ = operands_.size();  // GNU gives up at a read error
      return false;
    }
    auto opened = call_.open_input(name_);
    if (!opened) {
      call_.complain(fmt::format("can't read {}: {}", name_, reason(opened.error())));
      failed_ = std::max(failed_, 2);
      continue;
    }
    owned_ = std::move(*opened);
    lines_ = std::make_unique<Lines>(*owned_, options_.delimiter);
    if (options_.in_place) {
      in_place_text_ = std::make_unique<TextOutput>();
      in_place_sink_ = std::make_unique<Sink>(*in_place_text_);
      sink_ = in_place_sink_.get();
    }
    if (options_.separate) line_number_ = 0;
    return true;
  }
  return false;
}

void Editor::finish_file() {
  if (!options_.in_place || !in_place_sink_) return;
  in_place_sink_->flush();
  sink_ = &out_;
  auto path = call_.resolve(name_);
  if (path) {
    if (!options_.backup_suffix.empty()) {
      std::string backup = options_.backup_suffix;
      std::size_t slash = name_.rfind('/');
      std::string directory = slash == std::string::npos ? "" : name_.substr(0, slash + 1);
      std::string base = slash == std::string::npos ? name_ : name_.substr(slash + 1);
      // -i with a * in its suffix: the * stands for the file's name, so that bak/* is a directory of backups.
      if (backup.find('*') != std::string::npos) {
        std::string replaced;
        for (char c : backup) {
          if (c == '*')
            replaced += base;
          else
            replaced += c;
        }
        backup = replaced;
      } else {
        backup = base + backup;
      }
      if (backup.find('/') == std::string::npos) backup = directory + backup;
      auto target = call_.resolve(backup);
      auto old = call_.fs().read(*path);
      if (target && old) {
        auto kept = call_.fs().write(*target, std::move(*old));
        if (!kept) call_.complain(fmt::format("cannot rename {}: {}", name_, reason(kept.error())));
      }
    }
    vfs::WriteOptions write;
    auto link = call_.fs().find(*path, vfs::Follow::no);
    if (link && link->is_symlink() && !options_.follow_links) {
      // The new file takes the link's place.
      if (auto target = call_.fs().find(*path)) write.mode = target->mode;
      (void)call_.fs().remove_file(*path);
    }
    auto written = call_.fs().write(*path, vfs::Content(in_place_text_->text()), write);
    if (!written) {
      call_.complain(fmt::format("couldn't write {}: {}", name_, reason(written.error())));
      failed_ = std::max(failed_, 2);
    }
  }
  in_place_sink_.reset();
  in_place_text_.reset();
}

// One line is read ahead so that $ is known.
bool Editor::fill_ahead() {
  if (ahead_valid_) return true;
  while (true) {
    if (!lines_ && !open_next()) return false;
    if (lines_->next(ahead_)) {
      ahead_complete_ = lines_->complete();
      ahead_valid_ = true;
      return true;
    }
    if (options_.separate) return false;
    lines_.reset();
  }
}

bool Editor::read_line(std::string& into) {
  if (!fill_ahead()) return false;
  into.assign(ahead_);
  complete_ = ahead_complete_;
  ahead_valid_ = false;
  ++line_number_;
  call_.charge(into.size() / 16 + 1);
  return true;
}

bool Editor::is_last() {
  return !fill_ahead();
}

const Regex* Editor::regex_or_last(const Regex* regex) {
  if (regex) last_regex_ = regex;
  return last_regex_;
}

bool Editor::matches(const Address& address) {
  switch (address.kind) {
    case Address::Kind::line: return line_number_ == address.first;
    case Address::Kind::last: return is_last();
    case Address::Kind::regex: {
      const Regex* regex = regex_or_last(address.regex.get());
      return regex && regex->matches(space_);
    }
    case Address::Kind::step:
      if (address.step == 0) return line_number_ == address.first;
      return line_number_ >= address.first && (line_number_ - address.first) % address.step == 0;
    default: return false;
  }
}

bool Editor::selects(Command& c) {
  using Kind = Address::Kind;
  if (c.from.kind == Kind::none) return !c.negate;
  if (c.to.kind == Kind::none) return matches(c.from) != c.negate;
  bool inside = false;
  // The state of a range is kept in its command: it begins at a match of the first address and is looked at
  // from the next line on for its end.
  if (c.active) {
    inside = true;
    switch (c.to.kind) {
      case Kind::line:
        // A range whose end lies behind is one line.
        if (line_number_ >= c.to.first) c.active = false;
        if (line_number_ > c.to.first) inside = false;
        break;
      case Kind::plus:
      case Kind::multiple:
        if (line_number_ >= c.until) c.active = false;
        break;
      default:
        if (matches(c.to)) c.active = false;
    }
    if (!inside && matches(c.from)) {
      inside = true;
    }
  } else if (c.from.kind == Kind::zero && line_number_ == 1) {
    inside = true;
    // 0,/re/ may end at the first line already; 1,/re/ cannot.
    c.active = !matches(c.to);
  } else if (c.from.kind != Kind::zero && matches(c.from)) {
    inside = true;
    switch (c.to.kind) {
      case Kind::line: c.active = c.to.first > line_number_; break;
      case Kind::plus:
        c.until = line_number_ + c.to.first;
        c.active = c.to.first > 0;
        break;
      case Kind::multiple:
        c.until = c.to.first ? (line_number_ + c.to.first - 1) / c.to.first * c.to.first : line_number_;
        c.active = c.until > line_number_;
        break;
      case Kind::last: c.active = !is_last(); break;
      default: c.active = true;
    }
  }
  return inside != c.negate;
}

void Editor::put_line(std::string_view line, bool newline) {
  // The last line of the input may lack its newline. It is added only if something follows.
  if (missing_newline_) {
    put({&options_.delimiter, 1});
    missing_newline_ = false;
  }
  put(line);
  if (newline)
    put({&options_.delimiter, 1});
  else
    missing_newline_ = true;
}

void Editor::flush_appends() {
  for (Append& append : appends_) {
    if (missing_newline_) {
      put({&options_.delimiter, 1});
      missing_newline_ = false;
    }
    if (append.kind == 'a') {
      put(append.text);
    } else if (append.kind == 'r') {
      if (append.text == "/dev/stdin") {
        if (lines_) lines_->release();  // they may be those of standard input
        put(call_.in().read_all());
      } else if (auto in = call_.open_input(append.text == "-" ? "./-" : append.text)) {
        while (true) {
          std::string_view block = (*in)->fill();
          if (block.empty()) break;
          put(block);
          (*in)->consume(block.size());
        }
      }
    } else {
      auto found = line_files_.find(append.text);
      if (found == line_files_.end()) {
        LineFile file;
        if (auto in = call_.open_input(append.text == "-" ? "./-" : append.text)) {
          file.in = std::move(*in);
          file.lines = std::make_unique<Lines>(*file.in, options_.delimiter);
        }
        found = line_files_.emplace(append.text, std::move(file)).first;
      }
      std::string_view line;
      if (found->second.lines && found->second.lines->next(line)) put_line(line);
    }
  }
  appends_.clear();
}

void Editor::end_cycle() {
  if (!options_.quiet) put_line(space_, complete_);
  flush_appends();
}

Sink* Editor::file_sink(const std::string& name) {
  if (name == "/dev/stdout") return sink_;
  auto found = files_.find(name);
  if (found != files_.end()) return found->second.sink.get();
  OutFile file;
  auto opened = call_.open_output(name, false);
  if (!opened) {
    call_.complain(fmt::format("couldn't open file {}: {}", name, reason(opened.error())));
    failed_ = std::max(failed_, 2);
    return nullptr;
  }
  file.out = std::move(*opened);
  file.sink = std::make_unique<Sink>(*file.out);
  return files_.emplace(name, std::move(file)).first->second.sink.get();
}

void Editor::append_replacement(const Command& c, const std::vector<Regex::Span>& spans, std::string& out) {
  using Kind = Piece::Kind;
  Kind mode = Kind::end_case, once = Kind::end_case;
  auto add = [&](std::string_view text) {
    if (mode == Kind::end_case && once == Kind::end_case) {
      out += text;
      return;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
      Kind how = once != Kind::end_case ? (once == Kind::upper_once ? Kind::upper : Kind::lower) : mode;
      once = Kind::end_case;
      char ch = text[i];
      if (how == Kind::upper) ch = static_cast<char>(toupper(static_cast<unsigned char>(ch)));
      if (how == Kind::lower) ch = static_cast<char>(tolower(static_cast<unsigned char>(ch)));
      out += ch;
    }
  };
  for (const Piece& piece : c.replacement) {
    switch (piece.kind) {
      case Kind::text: add(piece.text); break;
      case Kind::group:
        if (piece.group < spans.size() && spans[piece.group].matched())
          add(std::string_view(space_).substr(spans[piece.group].begin,
                                              spans[piece.group].end - spans[piece.group].begin));
        break;
      case Kind::upper:
      case Kind::lower: mode = piece.kind; break;
      case Kind::end_case: mode = once = Kind::end_case; break;
      default: once = piece.kind;
    }
  }
}

bool Editor::substitute(Command& c) {
  const Regex* regex = regex_or_last(c.regex.get());
  if (!regex) return false;
  bool simple = true;
  for (const Piece& piece : c.replacement)
    if (piece.kind != Piece::Kind::text && !(piece.kind == Piece::Kind::group && piece.group == 0))
      simple = false;
  std::size_t at = 0, from = 0;
  std::uint64_t count = 0;
  bool changed = false;
  std::size_t last_end = std::string::npos;
  result_.clear();
  while (from <= space_.size()) {
    bool found = false;
    if (simple) {
      if (spans_.empty()) spans_.resize(1);
      found = regex->search(space_, from, spans_[0]);
    } else {
      found = regex->search(space_, from, spans_);
    }
    if (!found) break;
    Regex::Span span = spans_[0];
    bool empty = span.begin == span.end;
    // An empty match right behind a match does not count: s/b*/X/g makes XaX of abb and not XaXX.
    if (empty && span.begin == last_end) {
      from = span.end + (span.end < space_.size() ? utf8::read_length(space_, span.end) : 1);
      continue;
    }
    last_end = span.end;
    from = empty ? span.end + (span.end < space_.size() ? utf8::read_length(space_, span.end) : 1) : span.end;
    if (++count < c.nth) continue;
    changed = true;
    result_.append(space_, at, span.begin - at);
    append_replacement(c, spans_, result_);
    at = span.end;
    if (!c.global) break;
    call_.charge(1);
  }
  if (!changed) return false;
  result_.append(space_, at, std::string::npos);
  std::swap(space_, result_);
  return true;
}

void Editor::list(const Command& c) {
  std::uint64_t width = c.number >= 0 ? static_cast<std::uint64_t>(c.number) : options_.line_length;
  std::string out, row;
  auto add = [&](const std::string& piece) {
    if (width > 1 && row.size() + piece.size() > width - 1) {
      out += row + "\\\n";
      row.clear();
    }
    row += piece;
  };
  for (char ch : space_) {
    switch (ch) {
      case '\\': add("\\\\"); break;
      case '\a': add("\\a"); break;
      case '\b': add("\\b"); break;
      case '\f': add("\\f"); break;
      case '\n': add("\\n"); break;
      case '\r': add("\\r"); break;
      case '\t': add("\\t"); break;
      case '\v': add("\\v"); break;
      default:
        if (static_cast<unsigned char>(ch) < 32 || static_cast<unsigned char>(ch) >= 127)
          add(fmt::format("\\{:03o}", static_cast<unsigned char>(ch)));
        else
          add(std::string(1, ch));
    }
  }
  put_line(out + row + "$");
}

Editor::Next Editor::execute() {
  auto& commands = script_.commands;
  std::size_t i = 0;
  std::uint64_t steps = 0;
  while (i < commands.size()) {
    Command& c = commands[i];
    if (++steps >= 256) {
      call_.charge(steps);
      steps = 0;
    }
    if (!selects(c)) {
      i = c.name == '{' ? c.target : i + 1;
      continue;
    }
    switch (c.name) {
      case '{': break;
      case '=': put_line(std::to_string(line_number_)); break;
      case 'a': appends_.push_back({'a', c.text}); break;
      case 'i':
        if (missing_newline_) put_line("", false);
        put(c.text);
        break;
      case 'c':
        // For a range the text comes once, at its end.
        if (c.to.kind == Address::Kind::none || c.negate || !c.active) put(c.text);
        return Next::restart;
      case 'b': i = c.target; continue;
      case 't':
        if (replaced_) {
          replaced_ = false;
          i = c.target;
          continue;
        }
        break;
      case 'T':
        if (!replaced_) {
          i = c.target;
          continue;
        }
        replaced_ = false;
        break;
      case 'd': return Next::restart;
      case 'D': {
        std::size_t newline = space_.find('\n');
        if (newline == std::string::npos) return Next::restart;
        space_.erase(0, newline + 1);
        // D starts the script again with what is left, without reading a line.
        restart_ = true;
        return Next::restart;
      }
      case 'e': {
        out_.flush();
        TextOutput collected;
        Invocation::Redirects redirects;
        redirects.out = &collected;
        std::string script = c.text.empty() ? space_ : c.text;
        call_.run_script(script, redirects);
        std::string text = collected.take();
        if (c.text.empty()) {
          if (text.ends_with('\n')) text.pop_back();
          space_ = text;
        } else {
          put(text);
        }
        break;
      }
      case 'F': put_line(name_); break;
      case 'g': space_ = hold_; break;
      case 'G':
        space_ += options_.delimiter;
        space_ += hold_;
        break;
      case 'h': hold_ = space_; break;
      case 'H':
        hold_ += options_.delimiter;
        hold_ += space_;
        break;
      case 'x': std::swap(space_, hold_); break;
      case 'l': list(c); break;
      case 'n':
        if (is_last()) {
          if (options_.posix) return Next::restart;
          return Next::quit;
        }
        end_cycle();
        read_line(space_);
        break;
      case 'N': {
        if (is_last()) {
          // GNU prints the pattern space when there is no next line.
          return Next::quit;
        }
        flush_appends();
        std::string next;
        read_line(next);
        space_ += options_.delimiter;
        space_ += next;
        if (space_.size() > (256U << 20)) call_.charge(space_.size());
        break;
      }
      case 'p': put_line(space_, complete_); break;
      case 'P': {
        std::size_t newline = space_.find(options_.delimiter);
        put_line(std::string_view(space_).substr(0, newline), newline != std::string::npos || complete_);
        break;
      }
      case 'q':
        status_ = c.number > 0 ? static_cast<int>(c.number) : 0;
        end_cycle();
        return Next::cycle;
      case 'Q': status_ = c.number > 0 ? static_cast<int>(c.number) : 0; return Next::cycle;
      case 'r': appends_.push_back({'r', c.text}); break;
      case 'R': appends_.push_back({'R', c.text}); break;
      case 's':
        if (substitute(c)) {
          replaced_ = true;
          if (c.evaluate) {
            out_.flush();
            TextOutput collected;
            Invocation::Redirects redirects;
            redirects.out = &collected;
            std::string script = space_;
            call_.run_script(script, redirects);
            space_ = collected.take();
            if (space_.ends_with('\n')) space_.pop_back();
          }
          if (c.print) put_line(space_, complete_);
          if (!c.text.empty()) {
            if (Sink* file = file_sink(c.text)) file->line(space_, options_.delimiter);
          }
        }
        break;
      case 'w':
        if (Sink* file = file_sink(c.text)) file->line(space_, options_.delimiter);
        break;
      case 'W':
        if (Sink* file = file_sink(c.text))
          file->line(std::string_view(space_).substr(0, space_.find(options_.delimiter)), options_.delimiter);
        break;
      case 'y': {
        std::string out;
        for (std::size_t at = 0; at < space_.size();) {
          std::size_t length = utf8::read_length(space_, at);
          std::string key = space_.substr(at, length);
          auto found = c.wide_map.find(key);
          out += found == c.wide_map.end() ? key : found->second;
          at += length;
        }
        space_ = std::move(out);
        break;
      }
      case 'z': space_.clear(); break;
      default: break;
    }
    ++i;
  }
  end_cycle();
  return Next::restart;
}

int Editor::run(const std::vector<std::string>& operands) {
  operands_ = operands;
  if (operands_.empty()) operands_.push_back("-");
  // Files named by w exist even if nothing is written.
  for (Command& c : script_.commands)
    if ((c.name == 'w' || c.name == 'W' || (c.name == 's' && !c.text.empty()))) file_sink(c.text);
  bool quit = false;
  while (!quit) {
    if (!restart_ && !read_line(space_)) {
      if (options_.separate && lines_) {
        finish_file();
        lines_.reset();
        owned_.reset();
        if (!open_next()) break;
        continue;
      }
      break;
    }
    bool fresh = !restart_;
    restart_ = false;
    if (fresh) replaced_ = false;
    Next next = execute();
    if (next == Next::quit) {
      // n or N without a next line: the pattern space is printed, nothing else runs.
      end_cycle();
      if (!options_.separate) break;
      continue;
    }
    if (next == Next::cycle) quit = true;
    if (next == Next::restart) flush_appends();
  }
  if (options_.in_place && quit) {
    // What was not read stays as it is.
    if (ahead_valid_) {
      put(ahead_);
      if (ahead_complete_) put({&options_.delimiter, 1});
    }
    std::string_view line;
    while (lines_ && lines_->next(line)) {
      put(line);
      if (lines_->complete()) put({&options_.delimiter, 1});
    }
  }
  finish_file();
  for (auto& [name, file] : files_) {
    file.sink->flush();
    if (file.out) file.out->flush();
  }
  ahead_valid_ = false;
  lines_.reset();
  int status = out_.finish(call_, status_);
  return status ? status : failed_;
}

}  // namespace atl::shell::sed
