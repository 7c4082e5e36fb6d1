#include "cli/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "base/error.h"

namespace atl::cli {
namespace {

// Text as roff takes it literally.
std::string plain(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    // A dot or quote at the beginning of a line would be an order.
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_begins = c == '\n';
  }
  return out;
}

std::string file_of(const CommandPath& path) {
  return fmt::format("{}.1", fmt::join(path | std::views::transform(&CommandFacts::name), "-"));
}

enum class Help : std::uint8_t { shown, left_out };

std::string options_of(const CommandFacts& command, bool positional, Help help = Help::shown) {
  std::string text;
  for (const OptionFacts& option : command.options) {
    if (option.positional != positional || (help == Help::left_out && option.is_called("--help"))) continue;
    std::vector<std::string> names;
    for (const std::string& name : option.names)
      names.push_back(
          fmt::format("\\fB{}\\fR", plain(positional && name == "command" ? "-- COMMAND..." : name)));
    text += fmt::format(".TP\n{}", fmt::join(names, ", "));
    if (!positional && option.takes_value()) text += fmt::format(" \\fI{}\\fR", plain(option.value));
    text += "\n" + plain(option.about);
    if (!option.default_text.empty()) text += fmt::format(" (default {})", plain(option.default_text));
    if (option.required) text += " (required)";
    text += "\n";
  }
  return text;
}

std::string examples_of(const std::string& notes) {
  return notes.empty() ? "" : fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", plain(notes));
}

std::string statuses() {
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : exit_statuses())
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", plain(status), plain(meaning));
  return text;
}

constexpr std::string_view kEnvironment =
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBATOLL_URL\\fR\nwhere the service is: http://HOST:PORT, https://HOST or unix:PATH\n"
    ".TP\n\\fBATOLL_API_KEY\\fR\nthe key that commands show to the service\n"
    ".TP\n\\fBATOLL_TIMEOUT\\fR\nhow many seconds an answer of the service is waited for\n"
    ".TP\n\\fBATOLL_CONFIG\\fR\nthe configuration file\n"
    ".TP\n\\fBATOLL_DATA\\fR, \\fBATOLL_LISTEN\\fR, ...\nevery setting by its name; atoll config lists them\n"
    ".TP\n\\fBNO_COLOR\\fR\nif set, nothing is coloured\n";

std::string page_text(const CommandPath& path, const std::string& version) {
  const CommandFacts& command = *path.back();
  const bool is_program = path.size() == 1;
  std::string title = file_of(path);
  title.resize(title.size() - 2);
  std::string upper = title;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string text = fmt::format(".TH {} 1 \"\" \"atoll {}\" \"Atoll\"\n.SH NAME\n{} \\- {}\n", plain(upper),
                                 plain(version), plain(title), plain(command.about));
  text += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR {}\n", plain(typed(path)), plain(usage_of(command)));
  if (!command.commands.empty()) {
    text += ".SH COMMANDS\n";
    for (const CommandFacts& below : command.commands)
      if (!below.hidden) text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", plain(below.name), plain(below.about));
  }
  if (const std::string arguments = options_of(command, true); !arguments.empty())
    text += ".SH ARGUMENTS\n" + arguments;
  text += ".SH OPTIONS\n" + options_of(command, false);
  for (const CommandFacts* above : path | std::views::take(path.size() - 1) | std::views::drop(1))
    text += options_of(*above, false, Help::left_out);
  text += examples_of(command.notes);
  if (is_program) text += std::string(kEnvironment) + statuses();
  text += fmt::format(".SH SEE ALSO\n{}\n",
                      is_program ? "The guides of Atoll's documentation."
                                 : "\\fBatoll\\fR(1), which also tells exit statuses and variables");
  return text;
}

void add_pages(std::vector<ManualPage>& pages, const CommandPath& path, const std::string& version) {
  pages.push_back({file_of(path), page_text(path, version)});
  for (const CommandFacts& below : path.back()->commands) {
    if (below.hidden) continue;
    CommandPath longer = path;
    longer.push_back(&below);
    add_pages(pages, longer, version);
  }
}

}  // namespace

std::vector<ManualPage> manual(const CommandFacts& program, const std::string& version) {
  std::vector<ManualPage> pages;
  add_pages(pages, {&program}, version);
  return pages;
}

std::vector<std::pair<std::string, std::string>> exit_statuses() {
  const std::map<int, std::string_view> words = {
      {1, "what was asked for is not there, may not be done or was refused"},
      {2, "the command line or a value is wrong; nothing was done"},
      {124, "time ran out"},
      {125, "a failure of Atoll itself, or no service answers"},
      {130, "interrupted"},
  };
  std::map<int, std::vector<std::string_view>> codes;
  for (int at = 0; at <= static_cast<int>(Code::internal); ++at) {
    const CodeRow& one = row(static_cast<Code>(at));
    codes[one.exit_status].push_back(one.name);
  }
  std::vector<std::pair<std::string, std::string>> all{{"0", "done"}};
  for (const auto& [status, names] : codes) {
    const auto word = words.find(status);
    all.emplace_back(
        fmt::format("{}", status),
        fmt::format("{} ({})", word == words.end() ? "an error" : word->second, fmt::join(names, ", ")));
  }
  all.emplace_back(
      "of the program",
      "run, session run and session exec end as what they ran: with its own status, 124 after its time "
      "limit, 137 after its memory, process or output limit, 128+N if signal N ended it");
  all.emplace_back("of check", "0 allowed, 1 denied, 2 no verdict");
  return all;
}

}  // namespace atl::cli
