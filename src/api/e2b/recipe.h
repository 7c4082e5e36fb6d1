#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/e2b/message.h"
#include "registry/registry.h"

namespace atl::api::e2b {

// One instruction of a template, as clients send it: RUN, COPY, ENV, WORKDIR, USER.
struct Step {
  std::string type;
  std::vector<std::string> args;
  std::string files_hash;  // of what COPY copies
  bool force = false;      // not from the cache, nor anything after it

  std::string words() const;
};

// What a build was asked to do.
struct Recipe {
  std::string from_image, from_template, start_command, ready_command;
  bool force = false;
  std::vector<Step> steps;

  static Result<Recipe> parse(const Object& message);
};

// A name for the state after each step, by everything that led to it: equal names, equal files. `base` names
// what the first step starts from.
std::vector<std::string> layer_names(const Recipe& recipe, std::string_view base);

// $NAME and ${NAME} replaced by what `env` has, by nothing if it has none; \$ is a dollar.
std::string expand_variables(std::string_view text, const std::map<std::string, std::string>& env);

std::string shell_word(std::string_view text);
bool is_sha256(std::string_view text);

// What stands for an image on this machine.
struct LocalImage {
  std::string environment;
  std::string provider;  // empty: the default
};
// An environment of the registry by the image's name ("atoll/<environment>[@<provider>]", or a name that an
// imported image was given), else the environment that stands for the well-known images. Code::not_found says
// what to do.
Result<LocalImage> local_image(std::string_view image, const registry::Registry& registry);

}  // namespace atl::api::e2b
