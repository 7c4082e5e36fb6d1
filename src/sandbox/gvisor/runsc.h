#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace atl::sandbox::gvisor {

// The program that makes gVisor's sandboxes, as it was found on this machine.
struct Runsc {
  std::string program;   // a path
  std::string version;   // as it says itself
  std::string platform;  // "systrap" where it has that, else "ptrace"
  // A checkpoint can leave the sandbox running. Without that it ends the sandbox, which is then restored
  // from the checkpoint as well.
  bool leaves_running = false;
};

// Looks for `setting` (a path, or a name to be found in PATH; empty: "runsc") and asks it what it can.
// Code::unsupported, with the way to get it, if there is none or it cannot be run. Waits for the program.
Result<Runsc> find_runsc(const std::string& setting);

struct Command {
  std::string program;
  std::vector<std::string> arguments;
  // Descriptors for its standard streams; -1 is /dev/null. They stay the caller's.
  int input = -1, output = -1, error = -1;
  std::chrono::milliseconds patience{30'000};
};

// Runs a program of the host to its end and kills it when its time is over. Fails if it does not end with 0:
// Code::provider_failed with the exit status, Code::deadline_exceeded. Waits.
Result<void> run_command(const Command& command);
// The same, and gives what it wrote to its standard output, at most 64 KiB, or what it wrote to
// its standard error if that was nothing. In a failure's detail is what it
// wrote to its standard error.
Result<std::string> ask_command(Command command);

}  // namespace atl::sandbox::gvisor
