#pragma once

#include <string>

#include "registry/registry.h"
#include "sandbox/isolation.h"
#include "session/types.h"

// Which declaration a sandbox is made by. Most sessions name an environment of the registry; with a provider
// that has images or templates of its own they may name one of those instead.
namespace atl::session {

// The environment that stands for an image or a template of the provider's which no file of the registry
// declares: languages, policy and limits are the defaults, user and working directory are the image's own.
const registry::Environment& undeclared_image();
const registry::Environment& undeclared_template();

// What a session's sandbox is made by: its environment of the registry, else one of the two above. Null if
// the registry has lost it.
const registry::Environment* environment_of(const registry::Registry& registry, const Session& facts,
                                            const sandbox::Traits& traits);

// Fills in `facts.environment` and `facts.image` for a provider of these traits, of what was asked for.
// `wanted` and `image` may be empty; `otherwise` is the service's default. Code::invalid_argument or
// unsupported, naming the field, for what this provider cannot make a sandbox from; `facts` is unchanged
// then.
Result<const registry::Environment*> choose_environment(const registry::Registry& registry,
                                                        const sandbox::Traits& traits,
                                                        const std::string& wanted, const std::string& image,
                                                        const std::string& otherwise, Session& facts);

// True if the environment is nothing but the name of an image.
bool is_only_image(const registry::Environment& environment);

}  // namespace atl::session
