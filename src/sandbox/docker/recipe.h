#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Images that the operator describes and the engine builds when they are first asked for: the files of
// registry/containers that come with the program, over them those of the operator's own registry.
namespace atl::sandbox::docker {

// The image "atoll/NAME" is made from the file Dockerfile.NAME; nobody else's image can be called so here.
inline constexpr std::string_view kRecipePrefix = "atoll/";

class Recipes {
 public:
  // Those of the program, and the files of `directory` over them; empty or not there: those of the program
  // alone. Code::invalid_argument, with the file, for one that cannot be used; Code::too_large for more than
  // a build's context should be.
  static Result<Recipes> read(const std::string& directory);

  static bool names_one(std::string_view image) { return image.starts_with(kRecipePrefix); }
  std::vector<std::string> names() const;
  // "atoll/python", "atoll/python:latest". Code::not_found, with the names that there are, if there is none.
  Result<std::string> find(std::string_view image) const;
  // The image as the engine knows it: it changes when a file of the recipes does.
  std::string tag_of(const std::string& name) const;
  // Images that must be there before: every FROM that is no earlier stage, and not "scratch".
  // Code::invalid_argument for one that is named by a variable.
  Result<std::vector<std::string>> bases_of(const std::string& name) const;
  // What the engine builds from, as a tar archive.
  std::string context() const;
  static std::string file_of(const std::string& name) { return "Dockerfile." + name; }

 private:
  std::map<std::string, std::string> files_;  // by path
};

}  // namespace atl::sandbox::docker
