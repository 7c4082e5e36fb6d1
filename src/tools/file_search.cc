#include "tools/file_search.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/bytes.h"

namespace atl::tools {
namespace {

constexpr std::size_t kFilesMax = 10'000;
constexpr std::uint32_t kDepthMax = 64;
constexpr std::uint64_t kFileBytesMax = 4U << 20;
constexpr std::uint64_t kBytesMax = 256ULL << 20;
constexpr std::size_t kLineMax = 500;

Result<std::unique_ptr<re2::RE2>> compiled(const SearchRequest& request) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!request.ignore_case);
  options.set_max_mem(8 << 20);
  auto pattern = std::make_unique<re2::RE2>(request.pattern, options);
  if (!pattern->ok())
    return fail(
        Error(Code::invalid_argument, fmt::format("'pattern': {}", pattern->error())).with_field("pattern"));
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

void match_lines(const std::string& text, const re2::RE2& pattern, const std::string& path,
                 std::size_t matches_max, SearchAnswer& answer) {
  std::uint64_t number = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = std::string_view(text).substr(from, end - from);
    ++number;
    from = end + 1;
    if (!re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), pattern)) continue;
    if (answer.matches.size() >= matches_max) {
      answer.truncated = true;
      return;
    }
    answer.matches.push_back({to_valid_utf8(path), number, to_valid_utf8(line.substr(0, kLineMax))});
  }
}

bool is_wanted(const sandbox::FileInfo& info, const SearchRequest& request) {
  if (info.type != sandbox::FileType::file) return false;
  return request.name.empty() || fnmatch(request.name.c_str(), info.name.c_str(), 0) == 0;
}

}  // namespace

Task<SearchAnswer> search(std::shared_ptr<sandbox::Files> files, SearchRequest request) {
  CO_TRY(const auto pattern, compiled(request));
  CO_TRY(const auto entries, co_await files->list(request.path, kDepthMax, kFilesMax, std::string()));
  SearchAnswer answer;
  std::uint64_t bytes = 0;
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
    const auto text = co_await whole_file(files, info.path);
    if (!text) continue;
    bytes += text->size();
    ++answer.files_searched;
    if (text->find('\0') != std::string::npos) continue;
    match_lines(*text, *pattern, info.path, request.matches_max, answer);
  }
  co_return answer;
}

}  // namespace atl::tools
