#pragma once

#include "shell/commands/awk/machine.h"
#include "shell/text/lines.h"

namespace atl::shell::awk {

// An input that is read record by record: a file, a command's output, standard input.
// Owned by the machine, by the name that the program gave it, until it is closed.
struct Machine::Reader {
  std::unique_ptr<Input> owned;
  Input* in = nullptr;
  std::unique_ptr<Lines> lines;  // while RS is one character
  char delimiter = '\n';
  std::string buffer;  // for other record separators: what was read and not yet used
  std::size_t at = 0;
  bool ended = false;
  int status = 0;  // of a command
};

// What print and printf write to.
struct Machine::Writer {
  Redirect kind = Redirect::none;
  std::string name;
  std::unique_ptr<Output> out;  // of a file
  Output* borrowed = nullptr;   // /dev/stdout, /dev/stderr
  std::unique_ptr<Sink> sink;
  std::string piped;  // of a command: given to it when closed

  // Never fails here: a file that cannot be written is noticed when its sink is flushed.
  void write(std::string_view bytes) {
    if (sink)
      sink->append(bytes);
    else if (borrowed)
      borrowed->write(bytes);
    else
      piped.append(bytes);
  }
};

}  // namespace atl::shell::awk
