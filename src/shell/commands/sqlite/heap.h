#pragma once

#include "shell/calendar/calendar.h"
#include "shell/commands/sqlite/files.h"
#include "shell/heap.h"

namespace atl::shell::sqlite {

// SQLite's heap and its idea of local time are the process's. While a Turn lives, what SQLite allocates on
// this thread is charged to the script, where it cannot be SQLite runs out of memory, and 'localtime' is the
// script's zone.
class Turn {
 public:
  explicit Turn(Files& files, const Zone* zone = nullptr);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // False if SQLite was in use before it could be told: then nothing of the above holds.
  static bool possible();

 private:
  HeapMeter::Quiet quiet_;
  Files* outer_files_;
  const Zone* outer_zone_;
};

}  // namespace atl::shell::sqlite
