#include "tools/file_search.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <re2/re2.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/bytes.h"

namespace atl::tools {
namespace {

constexpr std::size_t kFilesMax = 10'000;
constexpr std::uint32_t kDepthMax = 64;
constexpr std::uint64_t kFileBytesMax = 4U << 20;
constexpr std::uint64_t kBytesMax = 256ULL << 20;
constexpr std::size_t kLineMax = 500;
constexpr std::size_t kMatchesMax = 10'000;
// A pattern that has too many states to remember costs an instruction of its program after the other, at
// every character: these bound what one line may take to a few seconds and a search to not much more.
constexpr std::size_t kProgramMax = 5'000;
constexpr std::size_t kLineUnits = 64U << 20;  // characters times instructions
constexpr std::chrono::seconds kTimeMax{10};

using Pattern = std::shared_ptr<const re2::RE2>;

Result<Pattern> compiled(const SearchRequest& request) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!request.ignore_case);
  options.set_max_mem(4 << 20);
  auto pattern = std::make_shared<const re2::RE2>(request.pattern, options);
  if (!pattern->ok())
    return fail(
        Error(Code::invalid_argument, fmt::format("'pattern': {}", pattern->error())).with_field("pattern"));
  if (static_cast<std::size_t>(pattern->ProgramSize()) > kProgramMax)
    return fail(
        Error(Code::invalid_argument, fmt::format("'pattern' is too large: {} instructions, at most {}",
                                                  pattern->ProgramSize(), kProgramMax))
            .with_field("pattern"));
  return pattern;
}

Task<std::string> whole_file(std::shared_ptr<sandbox::Files> files, std::string path) {
  CO_TRY(const auto reader, co_await files->open_read(std::move(path), 0, kFileBytesMax, std::string()));
  std::string text;
  while (text.size() < kFileBytesMax) {
    CO_TRY(const std::string block, co_await reader->next());
    if (block.empty()) break;
    text += block;
  }
  co_return text;
}

// The matches of one file.
struct FoundLines {
  std::vector<Match> matches;
  bool is_over = false;  // there are more matches, or no time is left
  bool is_cut = false;   // a line was not seen to its end
  std::chrono::steady_clock::duration took{};
};

struct Reading {
  std::string text, path;
  Pattern pattern;
  std::size_t matches_max;
  std::chrono::steady_clock::duration time_left;
};

Result<FoundLines> match_lines(const Reading& reading) {
  const auto began = std::chrono::steady_clock::now();
  const std::size_t line_max =
      kLineUnits / static_cast<std::size_t>(std::max(1, reading.pattern->ProgramSize()));
  const std::string& text = reading.text;
  FoundLines found;
  std::uint64_t number = 0;
  for (std::size_t from = 0; from < text.size() && !found.is_over;) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = std::string_view(text).substr(from, end - from);
    const std::string_view seen = line.substr(0, line_max);
    ++number;
    from = end + 1;
    found.is_cut = found.is_cut || seen.size() < line.size();
    // The clock is not asked for lines that cost nothing.
    if (number % 64 == 0 || seen.size() > 4096)
      found.is_over = std::chrono::steady_clock::now() - began > reading.time_left;
    if (!re2::RE2::PartialMatch(re2::StringPiece(seen.data(), seen.size()), *reading.pattern)) continue;
    if (found.matches.size() >= reading.matches_max) {
      found.is_over = true;
      break;
    }
    found.matches.push_back({to_valid_utf8(reading.path), number, to_valid_utf8(line.substr(0, kLineMax))});
  }
  found.took = std::chrono::steady_clock::now() - began;
  return found;
}

Task<FoundLines> read_lines(SearchPlace place, Reading reading) {
  if (place.pool == nullptr) co_return match_lines(reading);
  auto read = [reading = std::move(reading)] { return match_lines(reading); };
  co_return co_await place.pool->run<FoundLines>(place.tenant, std::move(read));
}

bool is_wanted(const sandbox::FileInfo& info, const SearchRequest& request) {
  if (info.type != sandbox::FileType::file) return false;
  return request.name.empty() || fnmatch(request.name.c_str(), info.name.c_str(), 0) == 0;
}

}  // namespace

Task<SearchAnswer> search(std::shared_ptr<sandbox::Files> files, SearchRequest request, SearchPlace place) {
  CO_TRY(const Pattern pattern, compiled(request));
  request.matches_max = std::min(request.matches_max, kMatchesMax);
  std::chrono::steady_clock::duration time_left = kTimeMax;
  CO_TRY(const auto entries, co_await files->list(request.path, kDepthMax, kFilesMax, std::string()));
  SearchAnswer answer;
  std::uint64_t bytes = 0;
  bool is_cut = false;
  for (const sandbox::FileInfo& info : entries) {
    if (answer.truncated) break;
    if (!is_wanted(info, request)) continue;
    if (request.pattern.empty()) {
      answer.truncated = answer.matches.size() >= request.matches_max;
      if (!answer.truncated) answer.matches.push_back({to_valid_utf8(info.path), 0, ""});
      continue;
    }
    if (info.size > kFileBytesMax) continue;
    if (bytes + info.size > kBytesMax) {
      answer.truncated = true;
      break;
    }
    // A file that went away or may not be read meanwhile has no matches.
    auto text = co_await whole_file(files, info.path);
    if (!text) continue;
    bytes += text->size();
    ++answer.files_searched;
    if (text->find('\0') != std::string::npos) continue;
    Reading reading{std::move(*text), info.path, pattern, request.matches_max - answer.matches.size(),
                    time_left};
    CO_TRY(FoundLines found, co_await read_lines(place, std::move(reading)));
    std::ranges::move(found.matches, std::back_inserter(answer.matches));
    answer.truncated = found.is_over;
    is_cut = is_cut || found.is_cut;
    time_left -= found.took;
  }
  answer.truncated = answer.truncated || is_cut;
  co_return answer;
}

}  // namespace atl::tools
