#pragma once

#include "guest/program/guest.h"

namespace atl::guest {

// Bytes on their way into a file, so that a transfer which breaks off leaves nothing half done. A file that
// was made for it is written in place, and goes again. One that was there stays as it was until everything
// has come: what comes waits in memory while it is little, and in a file without a name when it is much,
// beside the one that it will go into, so that the same disk pays. Then it is copied: the file stays the same
// one, with its owner, its mode, its other names and those who watch it.
//
// On the guest's only thread. Where a call fails, errno says why.
struct StagedWrite {
  int fd = -1;               // the file; owned
  bool made = false;         // for this transfer
  bool append = false;       // behind what is there
  bool handed_over = false;  // root may have to take back what the user cannot
  bool done = false;         // everything is in the file
  int stage = -1;            // owned
  Bytes held{0};
  uint64_t size = 0;    // of what came
  uint64_t copied = 0;  // of the stage, into the file
  bool copying = false;
  Bytes place;  // the file's path without links
};

// Takes the file.
void begin(StagedWrite* write, int fd, bool made, bool append);
bool add(StagedWrite* write, const char* bytes, size_t size);
// Nothing more will come. False if there is no room for it: the file is as it was.
bool begin_commit(StagedWrite* write);
// One piece of what is left to do; `done` is true after the last.
bool commit_piece(StagedWrite* write);
// Closes everything. What was begun with begin_commit() is brought to its end; before that, nothing stays of
// it.
void end(StagedWrite* write, const User& user);

}  // namespace atl::guest
