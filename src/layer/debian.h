#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layer/build_position.h"

// A root filesystem of Debian packages, made by mmdebstrap with the machine's own apt sources.
namespace atl::layer {

// The files of `apt_directory` that name packages of `suite` ("bookworm" and what starts with it).
Result<std::vector<std::string>> sources_for(const std::string& apt_directory, const std::string& suite);
// This machine's.
Result<std::string> machine_suite();

// What mmdebstrap, apt and dpkg say in one stream: how far they are, and why they failed.
class DebianWords {
 public:
  // A share of the whole, and how many of all packages of this stage were unpacked and set up.
  using Counted = std::function<void(double share, std::size_t done, std::size_t all)>;
  explicit DebianWords(std::function<void(const std::string&)> progress, Counted counted = {})
      : progress_(std::move(progress)), counted_(std::move(counted)) {}
  void hear(const std::string& line);
  // ": package P: cause", as far as it was said; begins with a colon, or is empty.
  std::string reason() const;

 private:
  void say(const std::string& line) const {
    if (progress_) progress_(line);
  }
  void note(const std::string& cause);
  void count(std::size_t& counter, std::string_view deed);

  std::function<void(const std::string&)> progress_;
  Counted counted_;
  std::size_t wanted_ = 0, unpacked_ = 0, set_up_ = 0;
  int stage_ = 0;
  std::string package_, last_;
  std::vector<std::string> causes_;
};

// Unpacks into the draft's tree. `progress` gets the program's own lines.
Result<void> make_debian(const Recipe& recipe, const std::string& suite,
                         const std::vector<std::string>& sources, Draft& draft, Owners owners,
                         Interrupt& interrupt, const BuildOptions& options, const Positioned& moved = {});

}  // namespace atl::layer
