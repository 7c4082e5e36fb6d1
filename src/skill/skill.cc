#include "skill/skill.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/bytes.h"
#include "base/utf8.h"
#include "config/checked.h"
#include "config/document.h"
#include "layer/digest.h"
#include "layer/walk.h"
#include "os/fd.h"
#include "os/file.h"

namespace atl::skill {
namespace {

constexpr std::size_t kDescriptionMax = 1024, kCompatibilityMax = 500;

std::string name_of(const std::string& directory) {
  std::string_view path = directory;
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

// Older skills are Python packages: their names may have '_'.
bool is_older_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream in{std::string(text)};
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

struct Parts {
  std::string front;  // with an empty first line, so that lines are counted as in the file
  std::string body;
};

Result<Parts> split_front_matter(const std::string& text, const std::string& file) {
  const auto line_end = [&](std::size_t from) {
    const auto end = text.find('\n', from);
    return end == std::string::npos ? text.size() : end;
  };
  const auto is_fence = [&](std::size_t from) {
    std::string_view line = std::string_view(text).substr(from, line_end(from) - from);
    while (!line.empty() && (line.ends_with('\r') || line.ends_with(' '))) line.remove_suffix(1);
    return line == "---";
  };
  if (!is_fence(0))
    return fail(Code::invalid_argument,
                fmt::format("{}:1:1: a SKILL.md begins with a line '---', then name and description", file));
  const std::size_t begin = line_end(0);
  for (std::size_t at = begin + 1; at < text.size(); at = line_end(at) + 1) {
    if (!is_fence(at)) continue;
    const std::size_t rest = std::min(line_end(at) + 1, text.size());
    return Parts{text.substr(begin, at - begin), text.substr(rest)};
  }
  return fail(Code::invalid_argument,
              fmt::format("{}:1:1: the front matter does not end: a line '---' is missing behind it", file));
}

Result<void> read_optional(const config::Node& root, Skill& skill) {
  skill.license = TRY(root.get_or<std::string>("license", ""));
  skill.compatibility = TRY(root.get_or<std::string>("compatibility", ""));
  if (characters_in(skill.compatibility) > kCompatibilityMax)
    return fail(root.find("compatibility")
                    ->error(fmt::format("'compatibility' has at most {} characters", kCompatibilityMax)));
  skill.metadata = TRY((root.get_or<std::map<std::string, std::string>>("metadata", {})));
  if (const config::Node* tools = root.find("allowed-tools"); tools != nullptr && !tools->is_null()) {
    if (!tools->is_scalar())
      return fail(tools->error("'allowed-tools' is one text with spaces between the tools"));
    skill.allowed_tools = words_of(tools->text());
  }
  if (const auto names = skill.metadata.find("network"); names != skill.metadata.end())
    skill.network = words_of(names->second);
  return {};
}

Result<Skill> parse_skill_md(const std::string& text, const std::string& file, const std::string& directory) {
  if (!is_utf8(text)) return fail(Code::invalid_argument, fmt::format("{}:1:1: is no UTF-8", file));
  Parts parts = TRY(split_front_matter(text, file));
  const config::Document document = TRY(config::Document::parse(parts.front, file));
  const config::Node& root = document.root;
  if (root.is_null()) return fail(Code::invalid_argument, fmt::format("{}:2:1: missing key 'name'", file));
  TRY(root.expect(config::Kind::map));
  Skill skill;
  skill.name = TRY(root.require<std::string>("name"));
  if (!is_name(skill.name))
    return fail(root.find("name")->error(
        "a skill's name has 1 to 64 of a-z, 0-9 and '-', with no '-' at an end or twice in a row"));
  if (skill.name != name_of(directory))
    return fail(root.find("name")->error(
        fmt::format("the skill is called '{}' and its directory '{}'; both must be the same", skill.name,
                    config::shown(name_of(directory)))));
  skill.description = TRY(root.require<std::string>("description"));
  const std::size_t length = characters_in(skill.description);
  if (length == 0 || length > kDescriptionMax)
    return fail(
        root.find("description")
            ->error(fmt::format("'description' has 1 to {} characters, not {}", kDescriptionMax, length)));
  TRY(read_optional(root, skill));
  constexpr std::string_view known[] = {"name",          "description", "license",
                                        "compatibility", "metadata",    "allowed-tools"};
  if (auto fine = root.check_keys(known); !fine) skill.remarks.push_back(fine.error().message());
  skill.body = std::move(parts.body);
  return skill;
}

// The first paragraph that is no heading, in one line.
std::string first_paragraph(std::string_view text) {
  std::string paragraph;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    const auto begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) line.erase(0, begin);
    if (line.empty() || line.starts_with('#') || line.starts_with("===") || line.starts_with("---")) {
      if (!paragraph.empty()) break;
      continue;
    }
    if (!paragraph.empty()) paragraph += ' ';
    paragraph += line;
  }
  if (paragraph.size() <= kDescriptionMax) return paragraph;
  paragraph.resize(kDescriptionMax - 3);
  paragraph.resize(paragraph.size() - utf8::incomplete_tail(paragraph));
  return paragraph + "...";
}

// The text between the first pair of three quotes, if nothing but comments and blanks is before it.
std::string docstring_of(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto next = text.find_first_not_of(" \t\r\n", at);
    if (next == std::string_view::npos) return {};
    at = next;
    if (text[at] != '#') break;
    at = std::min(text.find('\n', at), text.size());
  }
  std::string_view rest = text.substr(at);
  if (rest.starts_with('r') || rest.starts_with('R')) rest.remove_prefix(1);
  for (const std::string_view quotes : {R"(""")", "'''"}) {
    if (!rest.starts_with(quotes)) continue;
    const auto end = rest.find(quotes, 3);
    return end == std::string_view::npos ? std::string() : std::string(rest.substr(3, end - 3));
  }
  return {};
}

Result<Skill> parse_older(const std::string& text, Form form, const std::string& file,
                          const std::string& directory) {
  Skill skill;
  skill.form = form;
  skill.name = name_of(directory);
  if (!is_older_name(skill.name))
    return fail(Code::invalid_argument,
                fmt::format("{}: the directory's name has something else than letters, digits, '-' and '_'",
                            config::shown(skill.name)));
  if (!is_utf8(text)) return fail(Code::invalid_argument, fmt::format("{}:1:1: is no UTF-8", file));
  skill.body = form == Form::docstring ? docstring_of(text) : text;
  skill.description = first_paragraph(skill.body);
  if (skill.description.empty())
    return fail(
        Code::invalid_argument,
        fmt::format("{}:1:1: says nothing about the skill; write a SKILL.md with name and description",
                    file));
  skill.remarks.push_back("it has no SKILL.md");
  return skill;
}

Result<void> count(const std::string& directory, const Bounds& bounds, Skill& skill) {
  for (const FileFacts& file : TRY(list_files(directory, bounds))) {
    ++skill.files;
    skill.bytes += file.bytes;
  }
  skill.digest = TRY(digest_of(directory, bounds));
  return {};
}

Result<void> walk_files(const std::string& directory, const Bounds& bounds,
                        const std::function<Result<void>(const layer::Entry&, int)>& visit) {
  const os::Fd root = TRY(os::open(directory.c_str(), O_RDONLY | O_DIRECTORY));
  std::uint64_t files = 0, bytes = 0;
  return layer::walk(
      root.get(), layer::OverlayAttributes::user, [&](const layer::Entry& entry, int fd) -> Result<void> {
        if (entry.kind != layer::Kind::file && entry.kind != layer::Kind::hard_link) return {};
        if (++files > bounds.files_max)
          return fail(Code::too_large,
                      fmt::format("{}: has more than {} files", name_of(directory), bounds.files_max));
        bytes += static_cast<std::uint64_t>(entry.info.st_size);
        if (bytes > bounds.bytes_max)
          return fail(Code::too_large,
                      fmt::format("{}: has more than {} bytes", name_of(directory), bounds.bytes_max));
        return visit(entry, fd);
      });
}

}  // namespace

std::string_view to_string(Form form) {
  switch (form) {
    case Form::skill_md: return "skill_md";
    case Form::readme: return "readme";
    case Form::docstring: return "docstring";
  }
  std::unreachable();
}

std::string_view to_string(Source source) {
  switch (source) {
    case Source::shipped: return "shipped";
    case Source::directory: return "directory";
    case Source::tenant: return "tenant";
  }
  std::unreachable();
}

bool is_name(std::string_view name) {
  const bool has_good_letters = std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  return !name.empty() && name.size() <= 64 && has_good_letters && !name.starts_with('-') &&
         !name.ends_with('-') && name.find("--") == std::string_view::npos;
}

Result<Skill> read_skill(const std::string& directory, const Bounds& bounds) {
  struct Candidate {
    const char* file;
    Form form;
  };
  constexpr Candidate candidates[] = {{"SKILL.md", Form::skill_md},
                                      {"README.md", Form::readme},
                                      {"README", Form::readme},
                                      {"__init__.py", Form::docstring}};
  for (const Candidate& candidate : candidates) {
    auto text = read_file(directory, candidate.file, bounds.instructions_max);
    if (!text && text.error().code() == Code::not_found) continue;
    if (!text) return fail(std::move(text).error());
    const std::string shown = fmt::format("{}/{}", config::shown(name_of(directory)), candidate.file);
    Skill skill = candidate.form == Form::skill_md
                      ? TRY(parse_skill_md(*text, shown, directory))
                      : TRY(parse_older(*text, candidate.form, shown, directory));
    skill.directory = directory;
    TRY(count(directory, bounds, skill));
    return skill;
  }
  return fail(Code::not_found, fmt::format("{}: has no SKILL.md, README.md or __init__.py",
                                           config::shown(name_of(directory))));
}

Result<std::vector<FileFacts>> list_files(const std::string& directory, const Bounds& bounds) {
  std::vector<FileFacts> files;
  TRY(walk_files(directory, bounds, [&](const layer::Entry& entry, int) -> Result<void> {
    files.push_back(
        {entry.path, static_cast<std::uint64_t>(entry.info.st_size), (entry.info.st_mode & S_IXUSR) != 0});
    return {};
  }));
  std::ranges::sort(files, {}, &FileFacts::path);
  return files;
}

Result<std::string> read_file(const std::string& directory, const std::string& path,
                              std::uint64_t bytes_max) {
  const os::Fd root = TRY(os::open(directory.c_str(), O_RDONLY | O_DIRECTORY));
  if (path.empty() || path.starts_with('/') || path.find('\0') != std::string::npos)
    return fail(
        Error(Code::invalid_argument, "a file of a skill is named by its path within it").with_field("path"));
  auto file = os::open_beneath(root.get(), path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  if (!file) return fail(Code::not_found, fmt::format("the skill has no file '{}'", config::shown(path)));
  struct stat info {};
  if (::fstat(file->get(), &info) < 0 || !S_ISREG(info.st_mode))
    return fail(Code::not_found, fmt::format("the skill has no file '{}'", config::shown(path)));
  std::string bytes;
  std::string block(64U << 10, '\0');
  while (true) {
    const ssize_t got = ::read(file->get(), block.data(), block.size());
    if (got < 0) return fail(errno_error(errno, "read a file of a skill"));
    if (got == 0) return bytes;
    bytes.append(block, 0, static_cast<std::size_t>(got));
    if (bytes.size() > bytes_max)
      return fail(Code::too_large,
                  fmt::format("'{}' has more than {} bytes", config::shown(path), bytes_max));
  }
}

Result<std::string> digest_of(const std::string& directory, const Bounds& bounds) {
  layer::Sha256 hash;
  hash.update("atoll skill 1\n");
  const auto add = [&](const layer::Entry& entry, int) -> Result<void> {
    // Read by name: of a further name of one file the walk gives no descriptor.
    const std::string bytes = TRY(read_file(directory, entry.path, bounds.bytes_max));
    const char* const executable = (entry.info.st_mode & S_IXUSR) != 0 ? "x" : "-";
    hash.update(fmt::format("{} {} {}\n", executable, bytes.size(), entry.path.size()));
    hash.update(entry.path);
    hash.update(bytes);
    return {};
  };
  TRY(walk_files(directory, bounds, add));
  return hash.finish();
}

std::string as_text(const std::vector<Skill>& skills, std::string_view place) {
  if (skills.empty()) return "There are no skills.\n";
  std::string text = fmt::format(
      "Skills are instructions and files that were written for you. Each is a directory under {0}/. Before "
      "you "
      "use one, read {0}/NAME/SKILL.md.\n\n",
      place);
  for (const Skill& skill : skills) {
    std::string line = skill.description;
    // Whoever wrote it has one line, and no say about the terminal that shows it.
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    text += fmt::format("- {}: {}\n", skill.name, line);
  }
  return text;
}

}  // namespace atl::skill
