#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/settings.h"
#include "layer/build.h"
#include "layer/store.h"
#include "registry/registry.h"

namespace atl::cli {

// What every `atoll env` command needs: the layers of the data directory and the declared environments.
struct EnvRoom {
  enum class Missing {
    make,     // a data directory that is not there
    refuse,   // Code::not_found
    without,  // `store` is null: what is declared can be shown all the same
  };
  std::string data;
  std::unique_ptr<layer::Store> store;
  std::unique_ptr<registry::Registry> registry;

  static Result<EnvRoom> open(const SettingFlags& flags, Missing missing = Missing::make);
};

// An environment in use by this process: nobody removes its layers meanwhile. The store must outlive it.
class EnvironmentUse {
 public:
  EnvironmentUse(layer::Store& store, std::string holder) : store_(store), holder_(std::move(holder)) {}
  EnvironmentUse(const EnvironmentUse&) = delete;
  EnvironmentUse& operator=(const EnvironmentUse&) = delete;
  ~EnvironmentUse();

 private:
  layer::Store& store_;
  std::string holder_;
};
// Null if the environment has no layers of the store.
Result<std::unique_ptr<EnvironmentUse>> use_environment(layer::Store& store,
                                                        const registry::Environment& environment);

// How steps with a network reach what their recipe names, where this machine needs more than the recipe knows
// of: a mirror, an internal address, an authority of its own. None of it decides what a layer is, and none of
// it stays in one.
struct StepReach {
  std::vector<std::string> allow;                // beside the recipe's (docs/guides/network.md)
  std::map<std::string, std::string> variables;  // such as PIP_INDEX_URL
  std::string authorities;                       // certificates (PEM) that programs trust; empty: their own
};

// Prints what was made: lines, or JSON.
Result<void> build_environment(const SettingFlags& flags, const std::string& name,
                               const layer::BuildOptions& options, const StepReach& reach, bool json);

std::string show_bytes(std::uint64_t bytes);

}  // namespace atl::cli
