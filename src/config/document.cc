#include "config/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <unordered_map>

#include "base/bytes.h"
#include "config/checked.h"

namespace atl::config {
namespace {

Position position_of(const YAML::Mark& mark) {
  return mark.is_null() ? Position{} : Position{mark.line + 1, mark.column + 1};
}

std::string place(const std::string& file, Position position) {
  return position.line == 0 ? file : fmt::format("{}:{}:{}", file, position.line, position.column);
}

bool is_null_word(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

// Leaves the parser from within a callback; caught in parse() and nowhere else.
struct Refused {
  Error error;
};

}  // namespace

// What the documents of one text take.
struct Taken {
  std::size_t nodes = 0;
  std::size_t copied = 0;  // bytes of text that stand in the tree more often than in the file
};

// Turns the library's events into nodes. Own tree instead of the library's: keys keep their places, duplicate
// keys are seen, and aliases are counted as what they expand to, as is what is kept for them.
class Builder final : public YAML::EventHandler {
 public:
  Builder(std::shared_ptr<const std::string> file, const Bounds& bounds, Taken& taken)
      : file_(std::move(file)), bounds_(bounds), taken_(taken) {}

  Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(make(mark, Kind::null), anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(position_of(mark), "an alias inside its own anchor");
    count_copy(found->second, position_of(mark));
    place_node(found->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = make(mark, Kind::scalar);
    node.quoted_ = tag == "!";
    node.text_ = value;
    if (!node.quoted_ && is_null_word(value)) node.kind_ = Kind::null;
    add(std::move(node), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(mark, Kind::sequence), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(mark, Kind::map), anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    std::optional<Member> pending;               // a key that waits for its value
    std::unordered_map<std::string, int> lines;  // of the keys so far
  };

  [[noreturn]] void refuse(Position position, std::string_view message) const {
    throw Refused{Error(Code::invalid_argument, fmt::format("{}: {}", place(*file_, position), message))};
  }
  static Taken size_of(const Node& node) {
    Taken size{1, node.text_.size()};
    const auto add = [&](const Taken& more) { size.nodes += more.nodes, size.copied += more.copied; };
    for (const Node& item : node.items_) add(size_of(item));
    for (const Member& member : node.members_) {
      add(size_of(member.value));
      add({1, member.key.size()});
    }
    return size;
  }
  void count(std::size_t more, Position position) {
    taken_.nodes += more;
    if (taken_.nodes > bounds_.max_nodes)
      refuse(position, fmt::format("more than {} values", bounds_.max_nodes));
  }
  // Before it is made.
  void count_copy(const Node& node, Position position) {
    const Taken size = size_of(node);
    count(size.nodes, position);
    taken_.copied += size.copied;
    if (taken_.copied > bounds_.max_copied)
      refuse(position, fmt::format("anchors and aliases make more than {} bytes out of it: write short texts "
                                   "where they are needed",
                                   bounds_.max_copied));
  }
  Node make(const YAML::Mark& mark, Kind kind) {
    Node node;
    node.kind_ = kind;
    node.position_ = position_of(mark);
    node.file_ = file_;
    count(1, node.position_);
    return node;
  }
  void add(Node node, YAML::anchor_t anchor) {
    if (anchor != 0) {
      count_copy(node, node.position_);
      anchors_[anchor] = node;
    }
    place_node(std::move(node));
  }
  void open(Node node, YAML::anchor_t anchor) {
    stack_.push_back(Open{std::move(node), anchor, std::nullopt, {}});
  }
  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(done.node), done.anchor);
  }
  void place_node(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node.is_sequence()) {
      parent.node.items_.push_back(std::move(node));
    } else if (!parent.pending) {
      start_member(parent, std::move(node));
    } else {
      parent.pending->value = std::move(node);
      parent.node.members_.push_back(std::move(*parent.pending));
      parent.pending.reset();
    }
  }
  void start_member(Open& parent, Node key) {
    if (key.is_sequence() || key.is_map()) refuse(key.position_, "a key must be a plain word");
    auto [first, fresh] = parent.lines.try_emplace(key.text_, key.position_.line);
    if (!fresh) {
      refuse(key.position_,
             fmt::format("key '{}' appears twice (first at line {})", key.text_, first->second));
    }
    parent.pending = Member{std::move(key.text_), key.position_, Node()};
  }

  std::shared_ptr<const std::string> file_;
  Bounds bounds_;
  Taken& taken_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::vector<Open> stack_;
  Node root_;
};

Result<std::vector<Document>> Document::parse_all(std::string_view text, const std::string& name,
                                                  const Bounds& bounds) {
  if (text.size() > bounds.max_bytes) {
    return fail(Code::too_large, fmt::format("{}: more than {} bytes", name, bounds.max_bytes));
  }
  // The library reads other encodings and control characters in ways of its own.
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos)
    return fail(Code::invalid_argument, fmt::format("{}: is no UTF-8 text", name));
  auto file = std::make_shared<const std::string>(name);
  std::vector<Document> documents;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Taken taken;
    while (true) {
      Builder builder(file, bounds, taken);
      if (!parser.HandleNextDocument(builder)) return documents;
      documents.push_back(Document{name, builder.take_root()});
    }
  } catch (const Refused& refused) {
    return fail(refused.error);
  } catch (const YAML::Exception& error) {
    return fail(Code::invalid_argument,
                fmt::format("{}: {}", place(name, position_of(error.mark)), error.msg));
  }
}

Result<Document> Document::parse(std::string_view text, std::string name, const Bounds& bounds) {
  std::vector<Document> documents = TRY(parse_all(text, name, bounds));
  if (documents.size() > 1) {
    return fail(Code::invalid_argument, fmt::format("{}: more than one YAML document", name));
  }
  if (documents.empty()) return Document{std::move(name), Node()};
  return std::move(documents.front());
}

Result<Document> Document::load(const std::string& path, const Bounds& bounds) {
  return parse(TRY(read_input(path, bounds.max_bytes)), path, bounds);
}

}  // namespace atl::config
