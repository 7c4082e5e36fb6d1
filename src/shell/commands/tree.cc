#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/calendar/calendar.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/sort/order.h"
#include "shell/files/file_names.h"
#include "shell/files/walk.h"
#include "shell/stack.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::tree_program {

namespace {

enum Long {
  kNoReport = 256,
  kDirsFirst,
  kFilesFirst,
  kPrune,
  kMatchDirs,
  kIgnoreCase,
  kCharset,
  kFileLimit,
  kSi,
  kTimeFormat,
  kInodes,
  kSort
};

constexpr Option kOptions[] = {
    {'a', 'a', ""},
    {'d', 'd', ""},
    {'l', 'l', ""},
    {'f', 'f', ""},
    {'x', 'x', ""},
    {'L', 'L', "", Arg::required},
    {'P', 'P', "", Arg::required},
    {'I', 'I', "", Arg::required},
    {kIgnoreCase, 0, "ignore-case"},
    {kMatchDirs, 0, "matchdirs"},
    {kPrune, 0, "prune"},
    {kNoReport, 0, "noreport"},
    {kCharset, 0, "charset", Arg::required},
    {kFileLimit, 0, "filelimit", Arg::required},
    {'o', 'o', "", Arg::required},
    {'q', 'q', ""},
    {'N', 'N', ""},
    {'Q', 'Q', ""},
    {'p', 'p', ""},
    {'u', 'u', ""},
    {'g', 'g', ""},
    {'s', 's', ""},
    {'h', 'h', ""},
    {kSi, 0, "si"},
    {'D', 'D', ""},
    {kTimeFormat, 0, "timefmt", Arg::required},
    {'F', 'F', ""},
    {kInodes, 0, "inodes"},
    {'v', 'v', ""},
    {'t', 't', ""},
    {'c', 'c', ""},
    {'U', 'U', ""},
    {'r', 'r', ""},
    {kDirsFirst, 0, "dirsfirst"},
    {kFilesFirst, 0, "filesfirst"},
    {kSort, 0, "sort", Arg::required},
    {'i', 'i', ""},
    {'n', 'n', ""},
    {'C', 'C', ""},
    {'X', 'X', ""},
    {'J', 'J', ""},
};

struct Settings {
  bool all = false, only_directories = false, follow = false, full = false, classify = false, flat = false,
       quote = false, hide_controls = false;
  bool sizes = false, modes = false, users = false, groups = false, dates = false, inodes = false,
       report = true, prune = false, match_directories = false;
  bool ignore_case = false, reverse = false, color = false, ascii = false;
  enum class Sort : unsigned char { name, none, version, size, modified, changed } sort = Sort::name;
  enum class First : unsigned char { none, directories, files } first = First::none;
  enum class Form : unsigned char { lines, json, xml } form = Form::lines;
  int human = 0;
  std::int64_t depth = INT32_MAX, file_limit = 0;
  std::string time_format, output;
  std::vector<std::string> ignore, patterns;
};

struct Node {
  std::string name, shown;
  vfs::Path path;
  vfs::Stat stat;
  std::string target, note;  // of a link; what is said behind the name
  std::vector<Node> children;
  bool is_directory() const { return stat.is_directory(); }
};

class Tree {
 public:
  Tree(Invocation& call, const Settings& settings, Sink& out)
      : call_(call), s_(settings), out_(out), zone_(Zone::of(call)) {}

  int run(const std::vector<std::string>& operands) {
    int status = 0;
    if (s_.form == Settings::Form::json) out_.append(s_.flat ? "[" : "[\n");
    if (s_.form == Settings::Form::xml) out_.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tree>\n");
    for (std::size_t i = 0; i < operands.size(); ++i) {
      auto path = call_.resolve(operands[i]);
      auto stat = path ? call_.fs().find(*path) : std::nullopt;
      Node top{operands[i], operands[i], path.value_or(vfs::Path()), stat.value_or(vfs::Stat{}), {}, {}, {}};
      if (!stat || !stat->is_directory()) {
        top.note = "  [error opening dir]";
        if (stat)
          ++files_;
        else
          status = 2;
      } else {
        load(top, 1);
        if (!top.children.empty() || !top.note.empty()) ++directories_;
      }
      if (s_.form == Settings::Form::json && i) out_.append(s_.flat ? "," : ",\n");
      print(top, "", true, 0);
      if (s_.form == Settings::Form::json && !s_.flat) out_.put('\n');
    }
    report();
    return status;
  }

 private:
  void load(Node& node, int depth);
  bool wanted(std::string_view name, bool directory) const;
  bool matches(const std::vector<std::string>& lists, std::string_view name) const;
  void arrange(std::vector<Node>& nodes) const;
  void print(const Node& node, const std::string& lead, bool last, int depth);
  void print_line(const Node& node, const std::string& lead, bool last, int depth);
  void print_markup(const Node& node, int depth);
  std::string details(const Node& node) const;
  std::string shown_name(const Node& node, int depth) const;
  void report();

  Invocation& call_;
  const Settings& s_;
  Sink& out_;
  Zone zone_;
  std::uint64_t directories_ = 0, files_ = 0;
  std::vector<std::uint64_t> above_;  // inodes of the directories on the way, since links can lead back up
};

// A list of patterns has bars between them.
bool Tree::matches(const std::vector<std::string>& lists, std::string_view name) const {
  for (const std::string& list : lists) {
    std::string_view rest = list;
    while (true) {
      std::size_t bar = rest.find('|');
      if (glob_match(rest.substr(0, bar), name, s_.ignore_case)) return true;
      if (bar == std::string_view::npos) break;
      rest.remove_prefix(bar + 1);
    }
  }
  return false;
}

bool Tree::wanted(std::string_view name, bool directory) const {
  if (name.starts_with('.') && !s_.all) return false;
  if (s_.only_directories && !directory) return false;
  if (!s_.ignore.empty() && matches(s_.ignore, name)) return false;
  return s_.patterns.empty() || directory || matches(s_.patterns, name);
}

void Tree::arrange(std::vector<Node>& nodes) const {
  using Sort = Settings::Sort;
  auto less = [&](const Node& a, const Node& b) {
    if (s_.sort == Sort::size && a.stat.size != b.stat.size) return a.stat.size > b.stat.size;
    if (s_.sort == Sort::modified && a.stat.modified != b.stat.modified)
      return a.stat.modified < b.stat.modified;
    if (s_.sort == Sort::changed && a.stat.changed != b.stat.changed) return a.stat.changed < b.stat.changed;
    if (s_.sort == Sort::version) return compare_versions(a.name, b.name) < 0;
    return a.name < b.name;
  };
  if (s_.sort == Sort::none) return;
  std::stable_sort(nodes.begin(), nodes.end(), less);
  if (s_.reverse) std::reverse(nodes.begin(), nodes.end());
  if (s_.first == Settings::First::none) return;
  bool directories = s_.first == Settings::First::directories;
  std::stable_partition(nodes.begin(), nodes.end(),
                        [&](const Node& node) { return node.is_directory() == directories; });
}

void Tree::load(Node& node, int depth) {
  need_stack();
  auto listing = call_.fs().list(node.path);
  if (!listing) {
    node.note = "  [error opening dir]";
    return;
  }
  above_.push_back(node.stat.inode);
  for (auto entry : *listing) {
    call_.charge(1);
    auto path = node.path.child(entry.name);
    auto stat = path ? call_.fs().find(*path, vfs::Follow::no) : std::nullopt;
    if (!stat) continue;
    Node child{std::string(entry.name), join_shown(node.shown, entry.name), *path, *stat, {}, {}, {}};
    if (stat->is_symlink()) child.target = call_.fs().read_link(*path).value_or("");
    bool through = false;
    if (s_.follow && stat->is_symlink())
      if (auto followed = call_.fs().find(*path); followed && followed->is_directory()) {
        through = std::find(above_.begin(), above_.end(), followed->inode) == above_.end();
        if (!through) child.note = "  [recursive, not followed]";
      }
    bool directory = stat->is_directory() || through;
    if (!wanted(child.name, directory)) continue;
    // With --matchdirs a directory that matches is shown with all it holds.
    bool whole =
        s_.match_directories && directory && !s_.patterns.empty() && matches(s_.patterns, child.name);
    if (directory && depth < s_.depth) {
      if (whole) {
        Settings open = s_;
        open.patterns.clear();
        Tree inside(call_, open, out_);
        inside.above_ = above_;
        inside.load(child, depth + 1);
      } else {
        load(child, depth + 1);
      }
    }
    bool empty = directory && child.children.empty();
    if (s_.prune && empty) continue;
    if (s_.match_directories && directory && !s_.patterns.empty() && !whole && empty) continue;
    node.children.push_back(std::move(child));
  }
  above_.pop_back();
  if (s_.file_limit > 0 && node.children.size() > static_cast<std::size_t>(s_.file_limit)) {
    node.note = fmt::format("  [{} entries exceeds filelimit, not opening dir]", node.children.size());
    node.children.clear();
  }
  arrange(node.children);
}

// What -F puts behind a name.
std::string_view mark_of(const std::optional<vfs::Stat>& stat) {
  if (!stat) return "";
  if (stat->is_directory()) return "/";
  if (stat->type == vfs::Type::fifo) return "|";
  return stat->mode & 0111 ? "*" : "";
}

std::string colored(std::string_view text, const std::optional<vfs::Stat>& stat) {
  std::string_view code = !stat                           ? "40;31;01"
                          : stat->is_directory()          ? "01;34"
                          : stat->is_symlink()            ? "01;36"
                          : stat->type == vfs::Type::fifo ? "40;33"
                          : stat->mode & 0111             ? "01;32"
                                                          : "00";
  return fmt::format("\33[{}m{}\33[0m", code, text);
}

std::uint64_t size_of(const Node& node) {
  return node.is_directory() ? 4096 : node.stat.size;
}

std::string Tree::details(const Node& node) const {
  std::vector<std::string> parts;
  if (s_.inodes) parts.push_back(fmt::format("{:>7}", node.stat.inode));
  if (s_.modes) parts.push_back(mode_text(node.stat.type, node.stat.mode));
  if (s_.users) parts.push_back(fmt::format("{:<8}", user_name(call_, node.stat.uid)));
  if (s_.groups) parts.push_back(fmt::format("{:<8}", group_name(call_, node.stat.gid)));
  if (s_.sizes)
    parts.push_back(s_.human ? fmt::format("{:>4}", human_size(size_of(node), s_.human))
                             : fmt::format("{:>11}", size_of(node)));
  if (s_.dates) {
    WallTime time = s_.sort == Settings::Sort::changed ? node.stat.changed : node.stat.modified;
    auto age = call_.now() - time;
    bool recent = age > std::chrono::hours(-1) && age < std::chrono::hours(24 * 365 / 2);
    parts.push_back(format_time(!s_.time_format.empty() ? s_.time_format
                                : recent                ? "%b %e %H:%M"
                                                        : "%b %e  %Y",
                                time, zone_));
  }
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : " ") + part;
  return out.empty() ? out : fmt::format("[{}]  ", out);
}

std::string Tree::shown_name(const Node& node, int depth) const {
  std::string name = s_.full || depth == 0 ? node.shown : node.name;
  if (s_.hide_controls)
    for (char& c : name)
      if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  return s_.quote ? fmt::format("\"{}\"", name) : name;
}

void Tree::print_line(const Node& node, const std::string& lead, bool last, int depth) {
  std::string line;
  if (!s_.flat && depth > 0)
    line = lead + (s_.ascii ? (last ? "`-- " : "|-- ")
                   : last   ? "\u2514\u2500\u2500 "
                            : "\u251c\u2500\u2500 ");
  std::string name = shown_name(node, depth);
  line += details(node);
  line += s_.color ? colored(name, node.stat) : name;
  auto target = node.stat.is_symlink() ? call_.fs().find(node.path) : std::optional<vfs::Stat>(node.stat);
  if (node.stat.is_symlink()) {
    std::string shown = s_.quote ? fmt::format("\"{}\"", node.target) : node.target;
    line += " -> " + (s_.color ? colored(shown, target) : shown);
  }
  if (s_.classify) line += mark_of(target);
  out_.line(line + node.note);
}

std::string escaped_json(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 32)
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

std::string escaped_xml(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '&'   ? "&amp;"
           : c == '<' ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

void Tree::print_markup(const Node& node, int depth) {
  bool json = s_.form == Settings::Form::json;
  std::string_view kind = node.is_directory()                 ? "directory"
                          : node.stat.is_symlink()            ? "link"
                          : node.stat.type == vfs::Type::fifo ? "fifo"
                                                              : "file";
  std::vector<std::pair<std::string_view, std::string>> fields{
      {"name", s_.full || depth == 0 ? node.shown : node.name}};
  if (node.stat.is_symlink()) fields.emplace_back("target", node.target);
  if (s_.inodes) fields.emplace_back("inode", std::to_string(node.stat.inode));
  if (s_.modes)
    fields.emplace_back("mode", fmt::format("{:04o}", node.stat.mode)),
        fields.emplace_back("prot", mode_text(node.stat.type, node.stat.mode));
  if (s_.users) fields.emplace_back("user", user_name(call_, node.stat.uid));
  if (s_.groups) fields.emplace_back("group", group_name(call_, node.stat.gid));
  if (s_.sizes)
    fields.emplace_back("size",
                        s_.human ? human_size(size_of(node), s_.human) : std::to_string(size_of(node)));
  if (s_.dates)
    fields.emplace_back("time", format_time(s_.time_format.empty() ? "%b %e %H:%M" : s_.time_format,
                                            node.stat.modified, zone_));
  std::string indent = s_.flat ? "" : std::string(static_cast<std::size_t>(depth) * 2 + 2, ' ');
  std::string line = indent + (json ? fmt::format("{{\"type\":\"{}\"", kind) : fmt::format("<{}", kind));
  for (auto& [key, value] : fields) {
    bool number = json && (key == "size" || key == "inode") && !s_.human;
    line += !json    ? fmt::format(" {}=\"{}\"", key, escaped_xml(value))
            : number ? fmt::format(",\"{}\":{}", key, value)
                     : fmt::format(",\"{}\":\"{}\"", key, escaped_json(value));
  }
  std::string_view newline = s_.flat ? "" : "\n";
  out_.append(line);
  if (json && !node.note.empty()) out_.append(",\"contents\":[{\"error\": \"error opening dir\"}]");
  if (node.children.empty()) return out_.append(json ? "}" : fmt::format("></{}>", kind));
  out_.append(fmt::format("{}{}", json ? ",\"contents\":[" : ">", newline));
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    print(node.children[i], "", false, depth + 1);
    out_.append(fmt::format("{}{}", json && i + 1 < node.children.size() ? "," : "", newline));
  }
  out_.append(indent + (json ? "]}" : fmt::format("</{}>", kind)));
}

void Tree::print(const Node& node, const std::string& lead, bool last, int depth) {
  need_stack();
  if (depth > 0) ++(node.is_directory() ? directories_ : files_);
  if (s_.form != Settings::Form::lines) {
    print_markup(node, depth);
    if (depth == 0 && s_.form == Settings::Form::xml) out_.put('\n');
    return;
  }
  print_line(node, lead, last, depth);
  std::string below = depth == 0 ? "" : lead + (last ? "    " : s_.ascii ? "|   " : "\u2502\u00a0\u00a0 ");
  for (std::size_t i = 0; i < node.children.size(); ++i)
    print(node.children[i], below, i + 1 == node.children.size(), depth + 1);
}

void Tree::report() {
  if (s_.form == Settings::Form::json) {
    std::string text = fmt::format("{{\"type\":\"report\",\"directories\":{}{}}}", directories_,
                                   s_.only_directories ? "" : fmt::format(",\"files\":{}", files_));
    out_.append(s_.report ? (s_.flat ? "," + text : ",\n  " + text) : "");
    out_.append(s_.flat ? "]\n" : "\n]\n");
    return;
  }
  if (s_.form == Settings::Form::xml) {
    if (s_.report)
      out_.append(fmt::format("  <report>\n    <directories>{}</directories>\n{}  </report>\n", directories_,
                              s_.only_directories ? "" : fmt::format("    <files>{}</files>\n", files_)));
    out_.append("</tree>\n");
    return;
  }
  if (!s_.report) return;
  out_.append(fmt::format("\n{} director{}", directories_, directories_ == 1 ? "y" : "ies"));
  if (!s_.only_directories) out_.append(fmt::format(", {} file{}", files_, files_ == 1 ? "" : "s"));
  out_.put('\n');
}

// -1: go on.
int read_options(Invocation& call, const CommandLine& options, Settings& s) {
  using Sort = Settings::Sort;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'a': s.all = true; break;
      case 'd': s.only_directories = true; break;
      case 'l': s.follow = true; break;
      case 'f': s.full = true; break;
      case 'F': s.classify = true; break;
      case 'i': s.flat = true; break;
      case 'L':
        if (!parse_integer(value, s.depth) || s.depth < 1)
          return call.fail("Invalid level, must be greater than 0.");
        break;
      case 'I': s.ignore.push_back(value); break;
      case 'P': s.patterns.push_back(value); break;
      case kIgnoreCase: s.ignore_case = true; break;
      case kMatchDirs: s.match_directories = true; break;
      case kPrune: s.prune = true; break;
      case kCharset: s.ascii = value != "UTF-8" && value != "utf-8" && value != "utf8"; break;
      case kFileLimit:
        if (!parse_integer(value, s.file_limit) || s.file_limit < 0)
          return call.fail(fmt::format("invalid --filelimit: {}", quote_operand(value)));
        break;
      case 'o': s.output = value; break;
      case 'q': s.hide_controls = true; break;
      case 'N': s.hide_controls = false; break;
      case 'Q': s.quote = true; break;
      case 'p': s.modes = true; break;
      case 'u': s.users = true; break;
      case 'g': s.groups = true; break;
      case 's': s.sizes = true; break;
      case 'h':
        s.sizes = true;
        s.human = 1024;
        break;
      case kSi:
        s.sizes = true;
        s.human = 1000;
        break;
      case 'D': s.dates = true; break;
      case kTimeFormat:
        s.dates = true;
        s.time_format = value;
        break;
      case kInodes: s.inodes = true; break;
      case 'v': s.sort = Sort::version; break;
      case 't': s.sort = Sort::modified; break;
      case 'c': s.sort = Sort::changed; break;
      case 'U': s.sort = Sort::none; break;
      case kSort:
        if (value == "name")
          s.sort = Sort::name;
        else if (value == "version")
          s.sort = Sort::version;
        else if (value == "size")
          s.sort = Sort::size;
        else if (value == "mtime")
          s.sort = Sort::modified;
        else if (value == "ctime")
          s.sort = Sort::changed;
        else
          return call.fail(fmt::format(
              "sort type '{}' not valid, should be one of: name,version,size,mtime,ctime", value));
        break;
      case 'r': s.reverse = true; break;
      case kDirsFirst: s.first = Settings::First::directories; break;
      case kFilesFirst: s.first = Settings::First::files; break;
      case 'C': s.color = true; break;
      case 'n': s.color = false; break;
      case 'X': s.form = Settings::Form::xml; break;
      case 'J': s.form = Settings::Form::json; break;
      case kNoReport: s.report = false; break;
      default: break;  // -x: there is one filesystem
    }
  }
  return -1;
}

}  // namespace

int run_tree(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Settings settings;
  if (int status = read_options(call, options, settings); status >= 0) return status;
  auto& operands = options.operands();
  if (operands.empty()) operands.push_back(".");
  std::unique_ptr<Output> file;
  if (!settings.output.empty()) {
    auto opened = call.open_output(settings.output, false);
    if (!opened) return call.fail(fmt::format("invalid filename '{}'.", settings.output));
    file = std::move(*opened);
  }
  Sink out(file ? *file : call.out());
  int status = Tree(call, settings, out).run(operands);
  status = out.finish(call, status);
  if (file) file->flush();
  return status;
}

}  // namespace atl::shell::tree_program
