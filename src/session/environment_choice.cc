#include "session/environment_choice.h"

#include <fmt/format.h>

#include "sandbox/spec_check.h"

namespace atl::session {
namespace {

// What E2B's own service calls its sandboxes for code.
constexpr const char* kDefaultTemplate = "Python3";
constexpr std::size_t kTemplateBytesMax = 256;

registry::Environment undeclared(const char* user, const char* working_directory) {
  registry::Environment made;
  made.languages = {sandbox::Language::python, sandbox::Language::javascript, sandbox::Language::shell};
  made.user = user;
  made.working_directory = working_directory;
  return made;
}

auto refuse(Code code, const char* field, std::string message) {
  return fail(Error(code, std::move(message)).with_field(field));
}

// With a provider that has images.
Result<const registry::Environment*> choose_image(const registry::Registry& registry,
                                                  const std::string& wanted, const std::string& image,
                                                  const std::string& otherwise, Session& facts) {
  const std::string& name = wanted.empty() && image.empty() ? otherwise : wanted;
  const registry::Environment* declared = name.empty() ? nullptr : registry.environment(name);
  const std::string& reference = !image.empty() ? image : declared != nullptr ? declared->image : name;
  const char* const field = image.empty() ? "environment" : "image";
  if (!reference.empty() && !sandbox::is_image_reference(reference)) {
    if (image.empty())
      return refuse(Code::invalid_argument, field,
                    fmt::format("no environment is called '{}', and no image can be", name));
    return refuse(Code::invalid_argument, field,
                  fmt::format("'{}' is no reference of an image, such as python:3.13-slim", reference));
  }
  if (!image.empty() && !wanted.empty() && declared == nullptr)
    return refuse(Code::invalid_argument, "environment",
                  fmt::format("no environment is called '{}': give an image or an environment", wanted));
  facts.image = reference;
  facts.environment = name.empty() ? reference : name;
  return declared != nullptr ? declared : &undeclared_image();
}

}  // namespace

const registry::Environment& undeclared_image() {
  static const registry::Environment made = undeclared("", "");
  return made;
}

const registry::Environment& undeclared_template() {
  static const registry::Environment made = undeclared("user", "/home/user");
  return made;
}

bool is_only_image(const registry::Environment& environment) {
  return !environment.image.empty() && environment.layers.empty() && environment.stack.empty();
}

const registry::Environment* environment_of(const registry::Registry& registry, const Session& facts,
                                            const sandbox::Traits& traits) {
  const registry::Environment* const declared = registry.environment(facts.environment);
  // An image may be called like an environment that has nothing to do with it.
  const bool by_image_alone = !facts.image.empty() && facts.environment == facts.image;
  if (declared != nullptr && (!by_image_alone || declared->image == facts.image)) return declared;
  if (!facts.image.empty() && traits.images) return &undeclared_image();
  return traits.templates ? &undeclared_template() : nullptr;
}

Result<const registry::Environment*> choose_environment(const registry::Registry& registry,
                                                        const sandbox::Traits& traits,
                                                        const std::string& wanted, const std::string& image,
                                                        const std::string& otherwise, Session& facts) {
  if (traits.images) return choose_image(registry, wanted, image, otherwise, facts);
  if (!image.empty())
    return refuse(Code::unsupported, "image",
                  "this provider makes no sandboxes from images: ask for the provider docker");
  const std::string name = !wanted.empty() ? wanted : traits.templates ? kDefaultTemplate : otherwise;
  const registry::Environment* declared = registry.environment(name);
  if (traits.templates) {
    if (name.size() > kTemplateBytesMax)
      return refuse(Code::invalid_argument, "environment", "a template's name has at most 256 bytes");
    facts.environment = name;
    return declared != nullptr ? declared : &undeclared_template();
  }
  if (declared == nullptr)
    return refuse(Code::invalid_argument, "environment", fmt::format("no environment is called '{}'", name));
  if (is_only_image(*declared))
    return refuse(
        Code::unsupported, "environment",
        fmt::format("environment {} is the image {}: ask for the provider docker", name, declared->image));
  TRY(registry::check_usable(*declared));
  facts.environment = name;
  return declared;
}

}  // namespace atl::session
