#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What agents share: directories with instructions, and files that the instructions speak of.
namespace atl::skill {

// How a directory says what it is.
enum class Form : std::uint8_t {
  skill_md,   // SKILL.md with front matter, as the agentskills specification has it
  readme,     // README.md: its heading and first paragraph
  docstring,  // __init__.py: its module docstring
};
std::string_view to_string(Form form);

enum class Source : std::uint8_t {
  shipped,    // inside the program
  directory,  // of the operator's, followed: what changes there changes the skill
  tenant,     // added by a tenant, an immutable copy
};
std::string_view to_string(Source source);

// Everything that is read of one skill before anybody uses it. The first level of disclosure is name and
// description, the second `body`, the third the files (list_files, read_file).
struct Skill {
  std::string name;
  std::string description;
  std::string license, compatibility;
  std::map<std::string, std::string> metadata;
  // What the skill says it needs. Shown to whoever decides; nothing is granted by it.
  std::vector<std::string> allowed_tools;
  std::vector<std::string> network;  // names that metadata.network lists
  Form form = Form::skill_md;
  std::string body;
  std::vector<std::string> remarks;  // what is not as the specification wants it, and harmless

  Source source = Source::directory;
  std::string directory;  // of the host, absolute; not for clients
  std::string digest;     // of names, contents and execute bits: 64 hex digits
  bool pinned = false;    // an immutable copy of exactly these contents
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
};

struct Bounds {
  std::uint64_t bytes_max = 64ULL << 20;
  std::uint64_t files_max = 4096;
  std::uint64_t instructions_max = 1ULL << 20;  // of SKILL.md
};

// Reads and checks the skill in `directory`, whose last component is its name. Code::invalid_argument with
// file, line and column for front matter that the specification refuses: a missing or overlong name or
// description, a name other than the directory's, wrong types. Code::not_found if nothing in the directory
// says what it is, Code::too_large beyond the bounds. Blocks.
Result<Skill> read_skill(const std::string& directory, const Bounds& bounds = {});

struct FileFacts {
  std::string path;  // within the skill
  std::uint64_t bytes = 0;
  bool executable = false;
};
// All files, sorted by path. Symbolic links, devices and the like are not part of a skill.
Result<std::vector<FileFacts>> list_files(const std::string& directory, const Bounds& bounds = {});
// One file by its path within the skill; never leaves the directory, whatever links are in it.
Result<std::string> read_file(const std::string& directory, const std::string& path, std::uint64_t bytes_max);

// The digest of a skill's directory: it does not depend on times, owners or the order of files.
Result<std::string> digest_of(const std::string& directory, const Bounds& bounds = {});

// The list for a model: one line a skill, and how to use one.
std::string as_text(const std::vector<Skill>& skills, std::string_view place);

// "my-skill": 1 to 64 of a-z, 0-9 and '-', no '-' at an end or twice in a row.
bool is_name(std::string_view name);

}  // namespace atl::skill
