#include "policy/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "policy/scan/compiled.h"
#include "policy/shipped.h"

namespace atl::policy {

namespace {

constexpr std::array<std::string_view, 3> mode_names{"enforce", "audit", "off"};
constexpr std::array<std::string_view, 3> effect_names{"deny", "audit", "off"};

template <class Enum>
Result<Enum> one_of(const config::Node& node, std::span<const std::string_view> names,
                    std::string_view what) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (node.is_scalar() && node.text() == names[i]) return static_cast<Enum>(i);
  }
  return fail(node.error(fmt::format("{} must be one of {}{}", what, fmt::join(names, ", "),
                                     config::did_you_mean(node.text(), names))));
}

Result<RiskLevel> severity_of(const config::Node& node) {
  constexpr std::array<std::string_view, 5> names{"none", "low", "medium", "high", "critical"};
  return one_of<RiskLevel>(node, names, "severity");
}

// `off` and `on` are booleans to some YAML readers; here they are words.
Result<void> read_setting(const config::Node& node, RuleSetting& setting) {
  if (node.is_scalar()) {
    setting.effect = TRY(one_of<Effect>(node, effect_names, "the effect of a rule"));
    return {};
  }
  TRY(node.check_keys({"effect", "severity", "message", "recommendation", "name"}));
  if (const config::Node* effect = node.find("effect"))
    setting.effect = TRY(one_of<Effect>(*effect, effect_names, "effect"));
  if (const config::Node* severity = node.find("severity")) setting.severity = TRY(severity_of(*severity));
  setting.message = TRY(node.get_or<std::string>("message", setting.message));
  setting.recommendation = TRY(node.get_or<std::string>("recommendation", setting.recommendation));
  return {};
}

bool is_dotted_name(std::string_view text) {
  if (text.empty() || text.front() == '.' || text.back() == '.' || text.contains("..")) return false;
  return std::ranges::all_of(text, [](char c) {
    return c == '_' || c == '.' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  });
}

// Builds one policy out of one document, on top of what it extends.
class Builder {
 public:
  explicit Builder(Compiled& compiled) : compiled_(compiled) {}

  Result<void> rules_section(const config::Node& node);
  Result<void> language_section(const config::Node& node, Language language);

 private:
  using Apply = Result<void> (Builder::*)(const config::Node& at, Language language, const std::string& name,
                                          ListedIndex listed);
  Result<void> list(const config::Node& section, std::string_view key, Language language, RuleId rule,
                    Apply apply);
  Result<void> names(const config::Node& section, std::string_view key, std::optional<NameMap<bool>>& out);

  Result<void> import(const config::Node& at, Language language, const std::string& name, ListedIndex listed);
  Result<void> function(const config::Node& at, Language language, const std::string& name,
                        ListedIndex listed);
  Result<void> attribute(const config::Node& at, Language language, const std::string& name,
                         ListedIndex listed);
  Result<void> call(const config::Node& at, Language language, const std::string& name, ListedIndex listed);
  Result<void> command(const config::Node& at, Language language, const std::string& name,
                       ListedIndex listed);
  Result<void> pattern(const config::Node& at, Language language, const std::string& name,
                       ListedIndex listed);

  LanguageRules& of(Language language) { return compiled_.languages[static_cast<std::size_t>(language)]; }
  Compiled& compiled_;
};

Result<void> Builder::rules_section(const config::Node& node) {
  TRY(node.expect(config::Kind::map));
  std::vector<std::string_view> known;
  for (const Rule& rule : rules()) known.push_back(rule.id);
  for (const config::Member& member : node.members()) {
    auto found = std::ranges::find(known, member.key);
    if (found == known.end()) {
      return fail(member.value.error(
          fmt::format("there is no rule '{}'{}", member.key, config::did_you_mean(member.key, known))));
    }
    auto index = static_cast<std::size_t>(found - known.begin());
    TRY(read_setting(member.value, compiled_.rules[index]));
  }
  return {};
}

Result<void> Builder::list(const config::Node& section, std::string_view key, Language language, RuleId rule,
                           Apply apply) {
  const config::Node* entries = section.find(key);
  if (entries == nullptr || entries->is_null()) return {};
  TRY(entries->expect(config::Kind::sequence));
  auto index = static_cast<RuleIndex>(rule);
  for (const config::Node& entry : entries->items()) {
    Listed listed{.rule = index, .name = {}, .setting = compiled_.rules[index]};
    if (entry.is_map()) {
      TRY(read_setting(entry, listed.setting));
      listed.name = TRY(entry.require<std::string>("name"));
    } else {
      if (!entry.is_scalar()) return fail(entry.error("expected a name or a map with the key 'name'"));
      listed.name = entry.text();
    }
    std::string name = listed.name;
    compiled_.listed.push_back(std::move(listed));
    TRY((this->*apply)(entry, language, name, static_cast<ListedIndex>(compiled_.listed.size() - 1)));
  }
  return {};
}

Result<void> Builder::names(const config::Node& section, std::string_view key,
                            std::optional<NameMap<bool>>& out) {
  auto given = TRY(section.get<std::vector<std::string>>(key));
  if (!given) return {};
  out.emplace();
  for (std::string& name : *given) out->emplace(std::move(name), true);
  return {};
}

Result<void> Builder::import(const config::Node& at, Language language, const std::string& name,
                             ListedIndex listed) {
  if (language == Language::python && !is_dotted_name(name)) {
    return fail(
        at.error(fmt::format("'{}' is not the name of a module (write it as in an import: os.path)", name)));
  }
  if (name.empty()) return fail(at.error("the name of a module is empty"));
  of(language).imports.insert_or_assign(name.starts_with("node:") ? name.substr(5) : name, listed);
  return {};
}

Result<void> Builder::function(const config::Node& at, Language language, const std::string& name,
                               ListedIndex listed) {
  if (!is_dotted_name(name)) {
    return fail(
        at.error(fmt::format("'{}' is not the name of a function (no brackets: eval, os.system)", name)));
  }
  of(language).paths.set_mention(name, listed);
  return {};
}

Result<void> Builder::attribute(const config::Node& at, Language language, const std::string& name,
                                ListedIndex listed) {
  if (!is_dotted_name(name)) return fail(at.error(fmt::format("'{}' is not the name of an attribute", name)));
  if (name.contains('.')) {
    of(language).paths.set_mention(name, listed);
  } else {
    of(language).attributes.insert_or_assign(name, listed);
  }
  return {};
}

Result<void> Builder::call(const config::Node& at, Language language, const std::string& name,
                           ListedIndex listed) {
  if (!is_dotted_name(name)) {
    return fail(at.error(fmt::format("'{}' is not the name of a function (no brackets: os.system)", name)));
  }
  of(language).paths.set_call(name, listed);
  return {};
}

Result<void> Builder::command(const config::Node& at, Language language, const std::string& name,
                              ListedIndex listed) {
  if (name.empty() || name.find_first_of(" \t\n'\"$|;&<>()") != std::string::npos) {
    return fail(at.error(
        fmt::format("'{}' is not the name of a command (one word; use forbidden_patterns for more)", name)));
  }
  of(language).commands.insert_or_assign(name, listed);
  return {};
}

Result<void> Builder::pattern(const config::Node& at, Language language, const std::string& name,
                              ListedIndex listed) {
  auto tokens = tokenize_pattern(name, language);
  if (!tokens) return fail(at.error(tokens.error().message()));
  LanguageRules& rules_of = of(language);
  using Kind = Token::Kind;
  if (language == Language::shell) {
    // A single word is a command by that name; everything else is looked for token by token.
    if (tokens->size() == 1 && tokens->front().kind == Kind::word) {
      rules_of.commands.try_emplace(tokens->front().value, listed);
    } else {
      rules_of.patterns.push_back({std::move(*tokens), listed});
    }
    return {};
  }
  // Names, calls of names and imports are found by what they mean, so that another spelling does not help.
  std::string path;
  std::size_t i = 0;
  for (; i < tokens->size(); i += 2) {
    if ((*tokens)[i].kind != Kind::word) break;
    path += (path.empty() ? "" : ".") + (*tokens)[i].value;
    if (i + 1 >= tokens->size() || (*tokens)[i + 1] != Token{Kind::punctuation, "."}) {
      ++i;
      break;
    }
  }
  std::span<const Token> rest(tokens->data() + std::min(i, tokens->size()),
                              tokens->size() - std::min(i, tokens->size()));
  const Token open{Kind::punctuation, "("};
  const Token close{Kind::punctuation, ")"};
  bool importer = path == "require" || path == "import" || path == "__import__";
  if (importer && rest.size() == 3 && rest[0] == open && rest[1].kind == Kind::text && rest[2] == close) {
    compiled_.listed[static_cast<std::size_t>(listed)].rule =
        static_cast<RuleIndex>(RuleId::forbidden_pattern);
    return import(at, language, rest[1].value, listed);
  }
  bool name_alone = rest.empty() || (rest.size() == 1 && rest[0] == open) ||
                    (rest.size() == 2 && rest[0] == open && rest[1] == close);
  if (!path.empty() && name_alone && is_dotted_name(path)) {
    rules_of.paths.set_mention(path, listed);
  } else {
    rules_of.patterns.push_back({std::move(*tokens), listed});
  }
  return {};
}

Result<void> Builder::language_section(const config::Node& node, Language language) {
  if (node.is_null()) return {};
  TRY(node.expect(config::Kind::map));
  LanguageRules& rules_of = of(language);
  if (language == Language::shell) {
    TRY(node.check_keys({"forbidden_commands", "forbidden_patterns", "allowed_commands", "allowed_devices"}));
    TRY(list(node, "forbidden_commands", language, RuleId::forbidden_command, &Builder::command));
    TRY(names(node, "allowed_commands", rules_of.allowed_commands));
    if (auto devices = TRY(node.get<std::vector<std::string>>("allowed_devices")))
      rules_of.allowed_devices = *devices;
  } else {
    TRY(node.check_keys({"forbidden_imports", "forbidden_functions", "forbidden_attributes",
                         "forbidden_calls", "forbidden_patterns", "allowed_imports"}));
    TRY(list(node, "forbidden_imports", language, RuleId::forbidden_import, &Builder::import));
    TRY(list(node, "forbidden_functions", language, RuleId::forbidden_function, &Builder::function));
    TRY(list(node, "forbidden_attributes", language, RuleId::forbidden_attribute, &Builder::attribute));
    TRY(list(node, "forbidden_calls", language, RuleId::forbidden_call, &Builder::call));
    TRY(names(node, "allowed_imports", rules_of.allowed_imports));
  }
  return list(node, "forbidden_patterns", language, RuleId::forbidden_pattern, &Builder::pattern);
}

}  // namespace

std::string policy_name(const config::Document& document) {
  if (const config::Node* name = document.root.find("name"); name != nullptr && name->is_scalar())
    return name->text();
  std::string_view file = document.name;
  if (std::size_t slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return std::string(file.substr(0, file.rfind('.')));
}

namespace {

// Two Compiled are the same type but not cheap to share: a child starts from a copy of its parent.
Compiled fresh() {
  Compiled compiled;
  for (const Rule& rule : rules()) {
    compiled.rules.push_back(
        {.effect = Effect::deny, .severity = rule.severity, .message = {}, .recommendation = {}});
  }
  for (LanguageRules& language : compiled.languages)
    language.allowed_devices = {"/dev/null", "/dev/stdout", "/dev/stderr"};
  add_python_models(compiled.languages[0].paths);
  add_javascript_models(compiled.languages[1].paths);
  return compiled;
}

Result<void> read_limits(const config::Node& node, PolicyLimits& limits) {
  TRY(node.check_keys({"max_bytes", "max_nesting", "max_findings"}));
  if (const config::Node* bytes = node.find("max_bytes")) {
    limits.max_bytes = TRY(bytes->as_bytes());
    constexpr std::size_t most = 64U << 20;
    if (limits.max_bytes == 0 || limits.max_bytes > most)
      return fail(bytes->error("max_bytes must be 1 to 64M"));
  }
  if (const config::Node* nesting = node.find("max_nesting")) {
    limits.max_nesting = TRY(nesting->as<std::uint32_t>());
    if (limits.max_nesting == 0 || limits.max_nesting > 10'000)
      return fail(nesting->error("max_nesting must be 1 to 10000"));
  }
  if (const config::Node* findings = node.find("max_findings")) {
    limits.max_findings = TRY(findings->as<std::uint32_t>());
    if (limits.max_findings == 0 || limits.max_findings > 10'000)
      return fail(findings->error("max_findings must be 1 to 10000"));
  }
  return {};
}

using Documents = std::map<std::string, const config::Document*, std::less<>>;

Result<void> check_parent(const config::Node& extends, const Documents& by_name) {
  if (by_name.contains(extends.text())) return {};
  std::vector<std::string_view> known;
  for (const auto& [name, document] : by_name) known.push_back(name);
  return fail(extends.error(fmt::format("there is no policy '{}' to extend{}", extends.text(),
                                        config::did_you_mean(extends.text(), known))));
}

}  // namespace

std::string_view to_string(Mode mode) {
  return mode_names[static_cast<std::size_t>(mode)];
}
std::string_view to_string(Effect effect) {
  return effect_names[static_cast<std::size_t>(effect)];
}

Policy::Policy() = default;
Policy::Policy(Policy&&) noexcept = default;
Policy::~Policy() = default;

Result<PolicySet> PolicySet::compile(std::span<const config::Document> documents) {
  Documents by_name;
  for (const config::Document& document : documents) {
    auto [found, is_new] = by_name.emplace(policy_name(document), &document);
    if (!is_new) {
      return fail(document.root.error(
          fmt::format("policy '{}' exists already, in {}", found->first, found->second->name)));
    }
  }
  PolicySet set;
  // Parents first: take what is ready, round after round.
  std::set<std::string> waiting;
  for (const auto& [name, document] : by_name) waiting.insert(name);
  while (!waiting.empty()) {
    std::size_t before = waiting.size();
    for (auto at = waiting.begin(); at != waiting.end();) {
      const config::Document& document = *by_name.find(*at)->second;
      const config::Node& root = document.root;
      TRY(root.check_keys({"name", "description", "extends", "mode", "provider", "limits", "rules", "python",
                           "javascript", "shell"}));
      const config::Node* extends = root.find("extends");
      std::shared_ptr<const Policy> parent;
      if (extends != nullptr && !extends->is_null()) {
        TRY(check_parent(*extends, by_name));
        parent = set.find(extends->text());
        if (parent == nullptr) {
          ++at;
          continue;
        }
      }
      Policy policy;
      policy.compiled_ = std::make_unique<Compiled>(parent ? parent->compiled() : fresh());
      if (parent) policy.mode_ = parent->mode_, policy.limits_ = parent->limits_;
      policy.name_ = *at;
      policy.description_ = TRY(root.get_or<std::string>("description", ""));
      if (const config::Node* mode = root.find("mode"))
        policy.mode_ = TRY(one_of<Mode>(*mode, mode_names, "mode"));
      if (const config::Node* limits = root.find("limits")) TRY(read_limits(*limits, policy.limits_));
      Builder builder(*policy.compiled_);
      if (const config::Node* rules_node = root.find("rules")) TRY(builder.rules_section(*rules_node));
      constexpr std::array<Language, kLanguagesRead> all{Language::python, Language::javascript,
                                                         Language::shell};
      for (Language language : all) {
        if (const config::Node* section = root.find(to_string(language)))
          TRY(builder.language_section(*section, language));
      }
      set.policies_.emplace(*at, std::make_shared<const Policy>(std::move(policy)));
      at = waiting.erase(at);
    }
    if (waiting.size() == before) {
      const config::Document& document = *by_name.find(*waiting.begin())->second;
      return fail(document.root.find("extends")->error(
          fmt::format("policy '{}' extends itself in a circle", *waiting.begin())));
    }
  }
  return set;
}

std::shared_ptr<const Policy> PolicySet::find(std::string_view name) const {
  auto found = policies_.find(name);
  return found == policies_.end() ? nullptr : found->second;
}

std::vector<std::string> PolicySet::names() const {
  std::vector<std::string> out;
  for (const auto& [name, policy] : policies_) out.push_back(name);
  return out;
}

}  // namespace atl::policy
