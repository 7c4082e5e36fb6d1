#include "shell/commands/awk/io.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/files/inputs.h"

namespace atl::shell::awk {

namespace {

// What "cmd" | getline may print: it is collected whole before the first line is read.
constexpr std::size_t kPipeBytesMax = 256 << 20;

}  // namespace

void Machine::command_line_assignment(const std::string& text) {
  std::size_t equals = text.find('=');
  assign_text(text.substr(0, equals), std::string_view(text).substr(equals + 1));
}

// Opens what ARGV names next; standard input if it names nothing at all.
bool Machine::open_next_file() {
  std::string scratch;
  Array& argv = *globals_[kARGV].array;
  while (true) {
    auto count = static_cast<std::size_t>(std::max(0.0, number_of(globals_[kARGC].value)));
    if (argument_ >= count) {
      if (input_used_) return false;
      input_used_ = true;
      main_ = std::make_unique<Reader>();
      main_->in = &call_.in();
      return true;
    }
    auto* element = argv.find(std::to_string(argument_++));
    if (!element) continue;
    std::string name(text_of(element->value, scratch));
    if (name.empty()) continue;
    std::size_t equals = name.find('=');
    // An operand of the form var=value is an assignment, made when it is its turn.
    if (equals != std::string::npos && equals > 0 &&
        (isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_') &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == equals) {
      command_line_assignment(name);
      continue;
    }
    input_used_ = true;
    main_ = std::make_unique<Reader>();
    fnr_ = 0;
    globals_[kFILENAME].value = Value::of(name);
    if (name == "-" || name == "/dev/stdin") {
      main_->in = &call_.in();
    } else {
      auto opened = call_.open_input(name);
      if (!opened) {
        if (opened.error().code() != Code::is_a_directory)
          fatal(fmt::format("cannot open file `{}' for reading: {}", name, reason(opened.error())));
        out_.flush();
        call_.err().write(
            fmt::format("awk: warning: command line argument `{}' is a directory: skipped\n", name));
        main_.reset();
        continue;
      }
      main_->owned = std::move(*opened);
      main_->in = main_->owned.get();
    }
    if (run_kind(Rule::Kind::begin_file) == Flow::exit) return false;
    return true;
  }
}

bool Machine::next_record() {
  if (input_done_) return false;
  while (true) {
    if (!main_ && !open_next_file()) {
      input_done_ = true;
      return false;
    }
    if (rs_.size() == 1) {
      // The common case without a copy in between.
      if (!main_->lines && main_->buffer.empty()) {
        main_->delimiter = rs_[0];
        main_->lines = std::make_unique<Lines>(*main_->in, rs_[0]);
      }
      if (main_->lines && main_->delimiter == rs_[0]) {
        std::string_view line;
        if (main_->lines->next(line)) {
          ++nr_;
          ++fnr_;
          set_record(line);
          globals_[kRT].value.text.assign(main_->lines->complete() ? rs_ : std::string());
          return true;
        }
        run_kind(Rule::Kind::end_file);
        main_.reset();
        continue;
      }
    }
    std::string next;
    if (read_record(*main_, next)) {
      ++nr_;
      ++fnr_;
      set_record(next);
      return true;
    }
    run_kind(Rule::Kind::end_file);
    main_.reset();
  }
}

// Any record separator: one character, a blank line, or a regular expression.
bool Machine::read_record(Reader& reader, std::string& out) {
  if (reader.lines) {
    if (rs_.size() == 1 && reader.delimiter == rs_[0]) {
      std::string_view line;
      if (!reader.lines->next(line)) return false;
      out.assign(line);
      return true;
    }
    reader.lines.reset();
  } else if (rs_.size() == 1 && reader.buffer.size() == reader.at) {
    reader.delimiter = rs_[0];
    reader.lines = std::make_unique<Lines>(*reader.in, rs_[0]);
    return read_record(reader, out);
  }
  auto more = [&] {
    if (reader.ended) return false;
    std::string_view block = reader.in->fill();
    if (block.empty()) {
      reader.ended = true;
      return false;
    }
    reader.buffer.erase(0, reader.at);
    reader.at = 0;
    call_.charge(block.size());
    reader.buffer.append(block);
    reader.in->consume(block.size());
    return true;
  };
  bool paragraphs = rs_.empty();
  // Leading blank lines do not begin a record.
  while (paragraphs) {
    while (reader.at < reader.buffer.size() && reader.buffer[reader.at] == '\n') ++reader.at;
    if (reader.at < reader.buffer.size() || !more()) break;
  }
  const Regex* regex = nullptr;
  if (paragraphs)
    regex = &dynamic_regex("\n\n+");
  else if (rs_.size() > 1)
    regex = &dynamic_regex(rs_);
  std::size_t from = 0;
  while (true) {
    std::string_view rest = std::string_view(reader.buffer).substr(reader.at);
    Regex::Span span;
    if (regex) {
      // A match that reaches the end of what is buffered could become longer.
      if (regex->search(rest, 0, span) && span.end > span.begin && (span.end < rest.size() || reader.ended)) {
        out.assign(rest.substr(0, span.begin));
        globals_[kRT].value = Value::of(std::string(rest.substr(span.begin, span.end - span.begin)));
        reader.at += span.end;
        return true;
      }
    } else {
      std::size_t end = rest.find(rs_[0], from);
      if (end != std::string_view::npos) {
        out.assign(rest.substr(0, end));
        globals_[kRT].value = Value::of(rs_);
        reader.at += end + 1;
        return true;
      }
      from = rest.size();
    }
    if (more()) continue;
    rest = std::string_view(reader.buffer).substr(reader.at);
    if (regex && regex->search(rest, 0, span) && span.end > span.begin) continue;
    if (rest.empty()) return false;
    globals_[kRT].value = Value::of(std::string());
    if (rest.ends_with('\n') && (paragraphs || rs_.size() > 1)) {
      if (paragraphs) rest.remove_suffix(1);
    }
    out.assign(rest);
    reader.at = reader.buffer.size();
    return true;
  }
}

double Machine::getline(const Node* node) {
  std::string record_text;
  if (node->op == Op::getline) {
    if (!node->b) {
      return next_record() ? 1 : 0;
    }
    // Into a variable: NR counts, $0 stays.
    while (true) {
      if (input_done_) return 0;
      if (!main_ && !open_next_file()) {
        input_done_ = true;
        return 0;
      }
      if (read_record(*main_, record_text)) break;
      main_.reset();
    }
    ++nr_;
    ++fnr_;
    store(node->b, Value::input(record_text));
    return 1;
  }
  std::string scratch;
  std::string name(text(node->a, scratch));
  std::string key = (node->op == Op::getline_file ? "<" : "|") + name;
  auto found = readers_.find(key);
  if (found == readers_.end()) {
    auto reader = std::make_unique<Reader>();
    if (node->op == Op::getline_file) {
      auto opened = call_.open_input(name);
      if (!opened) return -1;
      reader->owned = std::move(*opened);
      reader->in = reader->owned.get();
    } else {
      flush_all();
      TextOutput collected(kPipeBytesMax);
      Invocation::Redirects redirects;
      redirects.out = &collected;
      reader->status = call_.run_script(name, redirects);
      reader->owned = std::make_unique<TextInput>(collected.take());
      reader->in = reader->owned.get();
    }
    found = readers_.emplace(key, std::move(reader)).first;
  }
  if (!read_record(*found->second, record_text)) return 0;
  if (node->b) {
    if (node->op == Op::getline_command) ++nr_;
    store(node->b, Value::input(record_text));
  } else {
    if (node->op == Op::getline_command) ++nr_, ++fnr_;
    set_record(record_text);
  }
  return 1;
}

Machine::Writer& Machine::writer(const Node* node, Redirect redirect) {
  std::string scratch;
  std::string name(text(node, scratch));
  auto found = writers_.find(name);
  if (found != writers_.end()) return *found->second;
  auto out = std::make_unique<Writer>();
  out->kind = redirect;
  out->name = name;
  if (redirect != Redirect::pipe) {
    if (name == "/dev/stdout" || name == "-") {
      out_.flush();
      out->borrowed = &call_.out();
    } else if (name == "/dev/stderr") {
      out->borrowed = &call_.err();
    } else {
      if (name.empty()) fatal("expression for `>' redirection has null string value");
      auto opened = call_.open_output(name, redirect == Redirect::append);
      if (!opened) fatal(fmt::format("cannot redirect to `{}': {}", name, reason(opened.error())));
      out->out = std::move(*opened);
      out->sink = std::make_unique<Sink>(*out->out);
    }
  }
  writer_order_.push_back(name);
  if (out->borrowed == &call_.out()) {
    // Shares the buffer of plain print so that the order stays right.
    out->borrowed = nullptr;
    out->sink = std::make_unique<Sink>(call_.out());
  }
  return *writers_.emplace(name, std::move(out)).first->second;
}

int Machine::run_writer(Writer& out) {
  if (out.kind != Redirect::pipe) {
    bool good = !out.sink || out.sink->flush();
    if (out.out) out.out->flush();
    return good ? 0 : -1;
  }
  out_.flush();
  // Pipes to commands are collected as well: the command runs when the pipe is closed, at the latest at the
  // end.
  TextInput input(std::move(out.piped));
  Invocation::Redirects redirects;
  redirects.in = &input;
  return call_.run_script(out.name, redirects);
}

int Machine::close_stream(const std::string& name) {
  int status = -1;
  auto found = writers_.find(name);
  if (found != writers_.end()) {
    std::unique_ptr<Writer> out = std::move(found->second);
    writers_.erase(found);
    std::erase(writer_order_, name);
    status = run_writer(*out);
  }
  for (const char* prefix : {"<", "|"}) {
    auto reader = readers_.find(prefix + name);
    if (reader == readers_.end()) continue;
    status = reader->second->status;
    readers_.erase(reader);
  }
  return status;
}

void Machine::close_all() {
  while (!writer_order_.empty()) {
    std::string name = writer_order_.front();
    close_stream(name);
  }
}

void Machine::flush_all() {
  out_.flush();
  for (auto& [name, out] : writers_)
    if (out->sink) {
      out->sink->flush();
      if (out->out) out->out->flush();
    }
}

}  // namespace atl::shell::awk
