#include "cli/completion.h"

#include <fmt/format.h>

#include <array>
#include <ranges>

#include "config/checked.h"

namespace atl::cli {
namespace {

constexpr std::string_view kBash = R"sh(# Completion of atoll for bash: source <(atoll completion bash)
_atoll() {
  local line current=${COMP_WORDS[COMP_CWORD]}
  local -a before=("${COMP_WORDS[@]:1:COMP_CWORD-1}")
  # bash takes --flag=value for three words.
  if [[ $current == "=" ]]; then before+=("="); current=; fi
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
      :directories) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current") ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${before[@]}" "$current" 2>/dev/null)
}
complete -F _atoll atoll
)sh";

constexpr std::string_view kZsh = R"sh(#compdef atoll
# Completion of atoll for zsh: source <(atoll completion zsh), or as _atoll in a directory of $fpath
_atoll() {
  local line
  local -a found
  for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) _files ;;
      :directories) _files -/ ;;
      *) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  (( $#found )) && _describe atoll found
}
if [ "$funcstack[1]" = _atoll ]; then _atoll "$@"; else compdef _atoll atoll; fi
)sh";

constexpr std::string_view kFish = R"sh(# Completion of atoll for fish: atoll completion fish | source
function __atoll_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $before[1] __complete $before[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':directories'
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c atoll -f -a '(__atoll_complete)'
)sh";

// Where the words before lead: the command, how many arguments stand already, and the option whose value
// comes.
struct Place {
  CommandPath path;
  std::size_t arguments = 0;
  const OptionFacts* option = nullptr;
  bool after_dashes = false;
};

Place place_of(const CommandFacts& program, const std::vector<std::string>& before) {
  Place place{.path = {&program}};
  for (const std::string& word : before) {
    if (word == "=" && place.option != nullptr) continue;  // bash's own word
    if (place.option != nullptr) {
      place.option = nullptr;
      continue;
    }
    if (place.after_dashes) continue;
    if (word == "--") {
      place.after_dashes = true;
    } else if (word.size() > 1 && word.starts_with('-')) {
      const OptionFacts* option = option_on(place.path, word);
      if (option == nullptr) option = place.path.back()->option_anywhere(word);
      if (option != nullptr && option->takes_value()) place.option = option;
    } else if (const CommandFacts* next = place.path.back()->find(word)) {
      place.path.push_back(next);
    } else {
      ++place.arguments;
    }
  }
  return place;
}

void add(Completion& found, std::string_view prefix, std::string word, std::string about) {
  if (word.starts_with(prefix)) found.words.push_back({std::move(word), std::move(about)});
}

void add_values(Completion& found, const OptionFacts& option, std::string_view prefix, const Names& names) {
  if (option.value == "FILE" || option.name() == "file") {
    found.files = Completion::Files::files;
  } else if (option.value == "DIR") {
    found.files = Completion::Files::directories;
  } else if (option.value.contains('|')) {
    for (const auto part : option.value | std::views::split('|'))
      add(found, prefix, std::string(part.begin(), part.end()), "");
  } else {
    for (Candidate& one : names(option.value)) add(found, prefix, std::move(one.word), std::move(one.about));
  }
}

void add_flags(Completion& found, const CommandPath& path, std::string_view prefix) {
  for (const CommandFacts* command : path | std::views::reverse)
    for (const OptionFacts& option : command->options) {
      if (option.positional || (command != path.back() && option.is_called("--help"))) continue;
      // Short ones are offered only to whoever asks for them: every long one says the same.
      for (const std::string& name : option.names)
        if (name.starts_with("--") || prefix == name) add(found, prefix, name, option.about);
    }
}

}  // namespace

Completion complete(const CommandFacts& program, const std::vector<std::string>& before,
                    const std::string& current, const Names& names) {
  Completion found;
  const Place place = place_of(program, before);
  const CommandFacts& command = *place.path.back();
  if (place.after_dashes) {
    found.files = Completion::Files::files;
    return found;
  }
  if (place.option != nullptr) {
    add_values(found, *place.option, current, names);
    return found;
  }
  if (const std::size_t equals = current.find('=');
      current.starts_with("--") && equals != std::string::npos) {
    const OptionFacts* option = option_on(place.path, current.substr(0, equals));
    if (option == nullptr) return found;
    add_values(found, *option, current.substr(equals + 1), names);
    for (Candidate& one : found.words) one.word.insert(0, current.substr(0, equals + 1));
    return found;
  }
  if (current.starts_with('-')) {
    add_flags(found, place.path, current);
    return found;
  }
  for (const CommandFacts& below : command.commands)
    if (!below.hidden) add(found, current, below.name, below.about);
  if (!command.commands.empty()) return found;
  const std::vector<const OptionFacts*> arguments = command.arguments();
  if (place.arguments < arguments.size())
    add_values(found, *arguments[place.arguments], current, names);
  else if (!arguments.empty() && arguments.back()->repeats)
    add_values(found, *arguments.back(), current, names);
  return found;
}

Result<std::string> completion_script(const std::string& shell) {
  constexpr std::array<std::string_view, 3> known = {"bash", "zsh", "fish"};
  const std::string word = TRY(config::Checked("SHELL", shell).choice(known));
  return std::string(word == "bash" ? kBash : word == "zsh" ? kZsh : kFish);
}

}  // namespace atl::cli
