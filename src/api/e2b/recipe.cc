#include "api/e2b/recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace atl::api::e2b {
namespace {

constexpr std::size_t kStepsMax = 1000;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

Result<Step> step_of(const boost::json::value& item) {
  if (!item.is_object()) return fail(Code::invalid_argument, "a step must be an object");
  const Object& object = item.as_object();
  Step step;
  step.type = TRY(text_or(object, "type", ""));
  step.args = TRY(text_list(object, "args"));
  step.files_hash = TRY(text_or(object, "filesHash", ""));
  step.force = TRY(boolean_or(object, "force", false));
  return step;
}

// "registry.example.org/team/python:3.11" is python.
std::string_view short_name(std::string_view image) {
  const auto slash = image.rfind('/');
  if (slash != std::string_view::npos) image.remove_prefix(slash + 1);
  return image.substr(0, image.find_first_of(":@"));
}

// A name without a registry of its own: "python:3.11", "library/python", "docker.io/library/python".
bool is_official(std::string_view image) {
  for (std::string_view prefix : {"docker.io/", "index.docker.io/"})
    if (image.starts_with(prefix)) image.remove_prefix(prefix.size());
  if (image.starts_with("library/")) image.remove_prefix(8);
  return image.find('/') == std::string_view::npos;
}

}  // namespace

std::string Step::words() const {
  return fmt::format("{} {}", type, fmt::join(args, " "));
}

Result<Recipe> Recipe::parse(const Object& message) {
  Recipe recipe;
  recipe.from_image = TRY(text_or(message, "fromImage", ""));
  recipe.from_template = TRY(text_or(message, "fromTemplate", ""));
  recipe.start_command = TRY(text_or(message, "startCmd", ""));
  recipe.ready_command = TRY(text_or(message, "readyCmd", ""));
  recipe.force = TRY(boolean_or(message, "force", false));
  if (!recipe.from_image.empty() && !recipe.from_template.empty())
    return fail(Code::invalid_argument, "only one of fromImage and fromTemplate can be given");
  const Array* steps = TRY(array(message, "steps"));
  if (steps == nullptr) return recipe;
  if (steps->size() > kStepsMax) return fail(Code::too_large, "too many steps");
  for (const auto& item : *steps) recipe.steps.push_back(TRY(step_of(item)));
  return recipe;
}

std::vector<std::string> layer_names(const Recipe& recipe, std::string_view base) {
  std::vector<std::string> names;
  std::string name = sha256_hex(base);
  for (const Step& step : recipe.steps) {
    // Lengths before texts: no two lists of words look the same.
    std::string text = fmt::format("{}\n{}\n{}\n", name, step.type, step.files_hash);
    for (const std::string& word : step.args) text += fmt::format("{}:{}\n", word.size(), word);
    name = sha256_hex(text);
    names.push_back(name);
  }
  return names;
}

std::string expand_variables(std::string_view text, const std::map<std::string, std::string>& env) {
  std::string out;
  while (!text.empty()) {
    if (text.starts_with("\\$")) {
      out += '$';
      text.remove_prefix(2);
      continue;
    }
    const bool braced = text.starts_with("${");
    const std::size_t begin = braced ? 2 : 1;
    std::size_t end = begin;
    while (end < text.size() && is_name_byte(text[end])) ++end;
    const bool closed = !braced || (end < text.size() && text[end] == '}');
    if (text.front() != '$' || end == begin || !closed) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    const auto found = env.find(std::string(text.substr(begin, end - begin)));
    if (found != env.end()) out += found->second;
    text.remove_prefix(end + (braced ? 1 : 0));
  }
  return out;
}

std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<LocalImage> local_image(std::string_view image, const registry::Registry& registry) {
  if (image.empty() || image.starts_with("e2bdev/base")) return LocalImage{"base", ""};
  if (image.starts_with("e2bdev/code-interpreter")) return LocalImage{"code-interpreter-v1", ""};
  if (image.starts_with("atoll/")) {
    const std::string_view name = image.substr(6);
    const auto at = name.find('@');
    LocalImage found{std::string(name.substr(0, at)),
                     at == std::string_view::npos ? "" : std::string(name.substr(at + 1))};
    if (registry.environment(found.environment) != nullptr) return found;
  }
  std::string dashed(image);
  std::replace_if(
      dashed.begin(), dashed.end(), [](char c) { return c == '/' || c == ':' || c == '@'; }, '-');
  for (const std::string& name : {std::string(image), dashed})
    if (registry.environment(name) != nullptr) return LocalImage{name, ""};
  for (std::string_view known : {"debian", "ubuntu", "python", "node", "buildpack-deps"})
    if (is_official(image) && short_name(image) == known) return LocalImage{"base", ""};
  return fail(Code::not_found,
              fmt::format("image '{}' is not available on this machine: import it as an environment, or use "
                          "fromBaseImage(), a Debian, Ubuntu, Python or Node image, or 'atoll/<environment>'",
                          image));
}

}  // namespace atl::api::e2b
