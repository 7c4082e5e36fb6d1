#include "sandbox/docker/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/bytes.h"
#include "embedded/shipped_containers.h"
#include "os/file.h"
#include "sandbox/docker/archive.h"

namespace atl::sandbox::docker {
namespace {

constexpr std::string_view kDockerfile = "Dockerfile.";
constexpr std::size_t kFilesMax = 1000, kContextBytesMax = 32U << 20, kPathMax = 100;
constexpr std::size_t kDigestDigits = 16;

bool is_recipe_word(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.front() != '-' && name.front() != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == std::string_view::npos;
}

auto refuse_file(const std::string& path, const std::string& why) {
  return fail(Code::invalid_argument, fmt::format("{}: {}", path, why));
}

std::vector<std::string> words_in(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

bool is_word_ignoring_case(const std::string& word, std::string_view wanted) {
  return std::ranges::equal(word, wanted, [](char a, char b) { return (a | 0x20) == (b | 0x20); });
}

}  // namespace

Result<Recipes> Recipes::read(const std::string& directory) {
  Recipes recipes;
  for (const embedded::File& file : embedded::shipped_containers())
    recipes.files_[std::string(file.path)] = file.bytes;
  std::error_code error;
  if (directory.empty() || !std::filesystem::is_directory(directory, error)) return recipes;
  std::size_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
    const std::string where = entry.path().string();
    if (entry.is_symlink(error)) return refuse_file(where, "recipes have no links");
    if (!entry.is_regular_file(error)) continue;
    const std::string path = entry.path().lexically_relative(directory).string();
    if (path.size() > kPathMax)
      return refuse_file(where, fmt::format("paths of recipes have at most {} bytes", kPathMax));
    if (path.starts_with(kDockerfile) && !is_recipe_word(std::string_view(path).substr(kDockerfile.size())))
      return refuse_file(where, "name it Dockerfile.NAME, with small letters, digits, '-' and '_'");
    std::string text = TRY(os::read_file(where, kContextBytesMax));
    bytes += text.size();
    recipes.files_[path] = std::move(text);
    if (bytes > kContextBytesMax || recipes.files_.size() > kFilesMax)
      return fail(Code::too_large,
                  fmt::format("{} has more than {} files or {} MiB: it is sent to the engine "
                              "as a whole",
                              directory, kFilesMax, kContextBytesMax >> 20));
  }
  if (error) return fail(errno_error(error.value(), "read " + directory));
  for (const std::string& name : recipes.names()) {
    auto bases = recipes.bases_of(name);
    if (!bases) return fail(std::move(bases).error());
  }
  return recipes;
}

std::vector<std::string> Recipes::names() const {
  std::vector<std::string> names;
  for (const auto& [path, bytes] : files_)
    if (path.starts_with(kDockerfile)) names.push_back(path.substr(kDockerfile.size()));
  return names;
}

Result<std::string> Recipes::find(std::string_view image) const {
  std::string name(image.substr(kRecipePrefix.size()));
  if (name.ends_with(":latest")) name.resize(name.size() - std::string_view(":latest").size());
  if (files_.contains(file_of(name))) return name;
  return fail(
      Error(Code::not_found, fmt::format("no recipe of registry/containers makes the image '{}': there "
                                         "are {}",
                                         image, fmt::join(names(), ", ")))
          .with_field("image"));
}

std::string Recipes::tag_of(const std::string& name) const {
  std::string all;
  for (const auto& [path, bytes] : files_)
    if (!path.starts_with(kDockerfile) || path == file_of(name))
      all += fmt::format("{}:{}:{}:{}", path.size(), path, bytes.size(), bytes);
  return fmt::format("{}{}:{}", kRecipePrefix, name, sha256_hex(all).substr(0, kDigestDigits));
}

Result<std::vector<std::string>> Recipes::bases_of(const std::string& name) const {
  std::istringstream lines(files_.at(file_of(name)));
  std::vector<std::string> bases, stages;
  bool has_any = false;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words = words_in(line);
    if (words.empty() || !is_word_ignoring_case(words[0], "from")) continue;
    std::erase_if(words, [](const std::string& word) { return word.starts_with("--"); });
    const std::string base = words.size() > 1 ? words[1] : "";
    if (base.empty() || base.find('$') != std::string::npos)
      return refuse_file(file_of(name), fmt::format("'{}': write the image itself behind FROM", line));
    has_any = true;
    if (base != "scratch" && std::ranges::find(stages, base) == stages.end()) bases.push_back(base);
    if (words.size() > 3 && is_word_ignoring_case(words[2], "as")) stages.push_back(words[3]);
  }
  if (!has_any) return refuse_file(file_of(name), "it has no FROM");
  return bases;
}

std::string Recipes::context() const {
  std::vector<ArchivedFile> files;
  for (const auto& [path, bytes] : files_) files.push_back({path, bytes});
  return archive_of(files);
}

}  // namespace atl::sandbox::docker
