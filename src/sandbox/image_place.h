#pragma once

#include <string>

#include "sandbox/spec.h"

namespace atl::sandbox {

// An interface that a sandbox has besides Sandbox if its image decides in which directory programs begin,
// which is known only once it was made. Belongs to the loop thread.
class ImagePlace {
 public:
  virtual ~ImagePlace() = default;
  // The directory of programs that name none; empty if the image does not tell.
  virtual const std::string& working_directory() const = 0;
  // More variables for programs inside, below those that they, the session or the image say.
  virtual void add_variables(const Variables& variables) = 0;
};

}  // namespace atl::sandbox
