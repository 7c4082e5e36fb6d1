#include "sandbox/interpreter.h"

#include <algorithm>
#include <array>
#include <utility>

namespace atl::sandbox {
namespace {

struct Spelling {
  std::string_view word;
  Language language;
};

constexpr std::array kSpellings = {
    Spelling{"python", Language::python},
    Spelling{"python3", Language::python},
    Spelling{"py", Language::python},
    Spelling{"javascript", Language::javascript},
    Spelling{"js", Language::javascript},
    Spelling{"node", Language::javascript},
    Spelling{"typescript", Language::typescript},
    Spelling{"ts", Language::typescript},
    Spelling{"shell", Language::shell},
    Spelling{"bash", Language::shell},
    Spelling{"sh", Language::shell},
    Spelling{"r", Language::r},
    Spelling{"R", Language::r},
    Spelling{"java", Language::java},
    Spelling{"deno", Language::deno},
};

}  // namespace

std::string_view to_string(Language language) {
  switch (language) {
    case Language::python: return "python";
    case Language::javascript: return "javascript";
    case Language::typescript: return "typescript";
    case Language::shell: return "shell";
    case Language::r: return "r";
    case Language::java: return "java";
    case Language::deno: return "deno";
  }
  std::unreachable();
}

std::optional<Language> parse_language(std::string_view word) {
  const auto* found = std::ranges::find(kSpellings, word, &Spelling::word);
  if (found == kSpellings.end()) return std::nullopt;
  return found->language;
}

Language interpreter_language(Language language) {
  return language == Language::typescript ? Language::javascript : language;
}

}  // namespace atl::sandbox
