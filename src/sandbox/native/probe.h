#pragma once

#include <string>
#include <vector>

namespace atl::sandbox::native {

// One fact about this machine that native sandboxes depend on.
struct Finding {
  enum class Grade { good, note, bad };  // note: works, with less
  Grade grade = Grade::good;
  std::string subject;
  std::string fact;
  std::string remedy;  // empty when nothing is to be done
};

// Found out by trying where that leaves no trace, else by reading the kernel's own files.
std::vector<Finding> probe_machine();

}  // namespace atl::sandbox::native
