#include <array>
#include <cctype>

#include "shell/parser.h"
#include "shell/parser_characters.h"

namespace atl::shell {

// name=, name+=, name[subscript]= at pos_.
bool Parser::try_assignment(Assign& out) {
  std::size_t end = pos_;
  if (end >= src_.size() || !(std::isalpha(static_cast<unsigned char>(src_[end])) || src_[end] == '_'))
    return false;
  while (end < src_.size() && (std::isalnum(static_cast<unsigned char>(src_[end])) || src_[end] == '_'))
    ++end;
  std::size_t name_end = end;
  std::size_t after = end;
  if (after < src_.size() && src_[after] == '[') {
    after = find_subscript_end(after);
    if (after == std::string::npos) return false;
    ++after;
  }
  // Nothing is consumed until it is sure that this is an assignment: a+b and a[1] are words.
  bool append = after < src_.size() && src_[after] == '+';
  if (after + append >= src_.size() || src_[after + append] != '=') return false;
  std::size_t start = pos_;
  out.name = src_.substr(pos_, name_end - pos_);
  if (after != name_end) {
    pos_ = name_end;
    out.has_index = true;
    out.index = subscript_word();
    out.index_arith = make_arith(text_word(name_end + 1, pos_ - 1, Mode::arith));
  }
  out.append = append;
  pos_ = after + append + 1;
  if (peek() == '(') {
    ++pos_;
    out.is_array = true;
    array_items(out);
  } else {
    out.value = word();
  }
  out.raw = src_.substr(start, pos_ - start);
  return true;
}

void Parser::array_items(Assign& out) {
  while (true) {
    skip_newlines();
    if (at_end()) unexpected_end(")");
    if (peek() == ')') {
      ++pos_;
      return;
    }
    if (meta(peek()) && !((peek() == '<' || peek() == '>') && peek(1) == '(')) unexpected();
    ArrayItem item;
    if (peek() == '[') {
      std::size_t close = find_subscript_end(pos_);
      bool append = close != std::string::npos && close + 1 < src_.size() && src_[close + 1] == '+';
      if (close != std::string::npos && close + 1 + append < src_.size() && src_[close + 1 + append] == '=') {
        item.has_index = true;
        item.append = append;
        item.index = subscript_word();
        pos_ += append ? 2 : 1;
      }
    }
    item.value = word();
    // [k]={a,b} is one value: braces are expanded in list items without a key only.
    if (item.has_index) item.value.braces = false;
    out.items.push_back(std::move(item));
  }
}

bool Parser::redirect_operator(Redirect& out) {
  struct Row {
    std::string_view text;
    RedirectKind kind;
  };
  static constexpr std::array<Row, 12> rows = {{{"<<<", RedirectKind::here_string},
                                                {"<<-", RedirectKind::here_doc},
                                                {"<<", RedirectKind::here_doc},
                                                {"<>", RedirectKind::in_out},
                                                {"<&", RedirectKind::dup_in},
                                                {"<", RedirectKind::in},
                                                {">>", RedirectKind::append},
                                                {">&", RedirectKind::dup_out},
                                                {">|", RedirectKind::clobber},
                                                {">", RedirectKind::out},
                                                {"&>>", RedirectKind::both_append},
                                                {"&>", RedirectKind::both}}};
  for (const Row& row : rows) {
    if (!looking_at(row.text)) continue;
    // 2&>x is the word 2 and then a redirection.
    if (out.fd >= 0 && row.text[0] == '&') return false;
    out.kind = row.kind;
    if (row.kind == RedirectKind::here_doc) {
      out.here = std::make_shared<HereDoc>();
      out.here->strip_tabs = row.text == "<<-";
    }
    pos_ += row.text.size();
    return true;
  }
  return false;
}

// One redirection at pos_, if there is one.
bool Parser::redirect(std::vector<Redirect>& out) {
  std::size_t start = pos_;
  Redirect redirect;
  // Digits belong to the redirection only if < or > follows directly: `echo 2 >x` prints 2.
  if (std::isdigit(static_cast<unsigned char>(peek()))) {
    std::size_t end = pos_;
    while (end < src_.size() && std::isdigit(static_cast<unsigned char>(src_[end]))) ++end;
    if (end >= src_.size() || (src_[end] != '<' && src_[end] != '>') || end - pos_ > 9) return false;
    redirect.fd = std::stoi(src_.substr(pos_, end - pos_));
    pos_ = end;
  } else if (peek() == '{') {
    std::size_t end = src_.find_first_of("} \t\n;&|<>()", pos_);
    if (end == std::string::npos || src_[end] != '}' || end + 1 >= src_.size()) return false;
    std::string name = src_.substr(pos_ + 1, end - pos_ - 1);
    std::string base = name.substr(0, name.find('['));
    if ((src_[end + 1] != '<' && src_[end + 1] != '>') || !is_name(base)) return false;
    redirect.fd_var = std::move(name);
    pos_ = end + 1;
  }
  // <( ) and >( ) are process substitutions, parts of words.
  if ((peek() == '<' || peek() == '>') && peek(1) == '(') {
    pos_ = start;
    return false;
  }
  if (!redirect_operator(redirect)) {
    pos_ = start;
    return false;
  }
  skip_blanks();
  redirect.target = word();
  if (redirect.target.raw.empty() && redirect.target.parts.empty()) {
    if (!at_end()) unexpected();
    // The end of a script is the end of its last line.
    throw SyntaxError{"syntax error near unexpected token `newline'", line_at(pos_),
                      src_.substr(src_.rfind('\n') + 1), false};
  }
  if (redirect.here) {
    HereDoc& doc = *redirect.here;
    for (const Part& part : redirect.target.parts) {
      // Any quoting of the delimiter, even of one character, keeps the body as it is.
      if (part.kind != PartKind::literal) doc.quoted = true;
      if (part.kind == PartKind::dquote) {
        for (const Part& child : part.children) doc.delimiter += child.text;
      } else if (part.kind == PartKind::literal || part.kind == PartKind::quoted) {
        doc.delimiter += part.text;
      } else {
        // <<$x: an expansion in the delimiter is not expanded; its text is the delimiter.
        doc.delimiter = redirect.target.raw;
        doc.quoted = redirect.target.raw.find_first_of("\"'\\") != std::string::npos;
        break;
      }
    }
    pending_.push_back(redirect.here);
  }
  out.push_back(std::move(redirect));
  return true;
}

void Parser::read_here_docs() {
  std::vector<std::shared_ptr<HereDoc>> pending;
  pending.swap(pending_);
  for (auto& doc : pending) read_here_doc(*doc);
}

void Parser::read_here_doc(HereDoc& doc) {
  int line = line_at(pos_);
  std::string body;
  bool ended = false;
  while (!at_end()) {
    std::size_t end = src_.find('\n', pos_);
    bool last = end == std::string::npos;
    std::string_view text = std::string_view(src_).substr(pos_, (last ? src_.size() : end) - pos_);
    pos_ = last ? src_.size() : end + 1;
    if (doc.strip_tabs)
      while (!text.empty() && text[0] == '\t') text.remove_prefix(1);
    if (text == doc.delimiter) {
      ended = true;
      break;
    }
    // A backslash before the newline joins lines; the joined line cannot be the delimiter.
    body += text;
    std::size_t slashes = 0;
    while (slashes < text.size() && text[text.size() - 1 - slashes] == '\\') ++slashes;
    bool joined = !doc.quoted && slashes % 2 == 1 && !last;
    body += '\n';
    while (joined && !at_end()) {
      end = src_.find('\n', pos_);
      last = end == std::string::npos;
      text = std::string_view(src_).substr(pos_, (last ? src_.size() : end) - pos_);
      pos_ = last ? src_.size() : end + 1;
      body += text;
      slashes = 0;
      while (slashes < text.size() && text[text.size() - 1 - slashes] == '\\') ++slashes;
      joined = slashes % 2 == 1 && !last;
      body += '\n';
    }
  }
  // The end of the script ends the body; bash warns and goes on.
  if (!ended) context_.here_document_open(doc.delimiter);
  if (!ended)
    context_.warn(line_at(pos_), "here-document at line " + std::to_string(line > 1 ? line - 1 : line) +
                                     " delimited by end-of-file (wanted `" + doc.delimiter + "')");
  doc.raw = body;
  if (doc.quoted) {
    if (!body.empty()) {
      Part part;
      part.kind = PartKind::quoted;
      part.text = std::move(body);
      doc.body.parts.push_back(std::move(part));
    }
  } else {
    Parser inner(std::move(body), context_, line, depth_);
    doc.body = inner.text_word(0, inner.src_.size(), Mode::here);
  }
}

}  // namespace atl::shell
