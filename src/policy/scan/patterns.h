#pragma once

#include <string_view>
#include <vector>

#include "policy/scan/compiled.h"
#include "policy/scan/grammar.h"
#include "policy/scan/report.h"

namespace atl::policy {

// A token of the code and where it begins.
struct PlacedToken {
  Token token;
  std::uint32_t offset = 0;
  bool command_position = false;  // shell: the name of a command
};
using TokenStream = std::vector<PlacedToken>;

// The tokens of Python or JavaScript, without comments; a string is one token, by its value.
TokenStream tokens_of(std::string_view text, const TSTree& syntax, Language language);

// A pattern's first word does not match an attribute (`x.word`), in shell only the name of a command. A last
// word that ends in '/' matches every path below.
// Adds a finding for every match, each where it begins.
void match_patterns(const LanguageRules& rules, const TokenStream& tokens, Report& report, Language language);

// Reports what did not parse, and how deep the code is nested.
void report_shell_errors(std::string_view text, const TSTree& syntax, Report& report);

}  // namespace atl::policy
