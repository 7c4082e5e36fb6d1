#include "session/skill_place.h"

#include "sandbox/image_place.h"
#include "session/session_skills.h"

namespace atl::session {
namespace {

// Null where no image decides.
sandbox::ImagePlace* place_of(const Live& live) {
  return live.traits().images ? dynamic_cast<sandbox::ImagePlace*>(live.sandbox().get()) : nullptr;
}

}  // namespace

std::string working_directory_of(const Live& live, std::string otherwise) {
  const sandbox::ImagePlace* const place = place_of(live);
  return place == nullptr || place->working_directory().empty() ? otherwise : place->working_directory();
}

void lead_to_skills(const Live& live) {
  sandbox::ImagePlace* const place = place_of(live);
  if (place == nullptr || live.facts().skills.empty() || place->working_directory().empty()) return;
  TextMap env;
  SessionSkills::add_variables(place->working_directory(), env);
  place->add_variables(env);
}

}  // namespace atl::session
