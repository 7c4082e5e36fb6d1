#pragma once

#include <any>
#include <deque>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/remote.h"
#include "net/http.h"

// What the commands below `atoll session` share.
namespace atl::cli {

struct SessionFlags {
  ConnectionFlags connection;
  bool json = false;
};

// The commands of a group with what each does; the chosen one runs. Owns the bodies and the flags that they
// read.
class Group {
 public:
  // Gives the exit status, or why it failed.
  using Body = std::move_only_function<Result<int>()>;

  // Flags of one command, which live as long as the group: its options write to them, its body reads them.
  template <class Flags>
  Flags* keep() {
    return &flags_.emplace_back().emplace<Flags>();
  }
  // Adds a command whose body run() calls if it is the chosen one.
  Command add(Command& parent, const std::string& name, const std::string& about, Body body);
  int run();

 private:
  struct Entry {
    Command command;
    Body body;
  };
  std::deque<Entry> entries_;
  std::deque<std::any> flags_;  // a deque, so that pointers stay good
};

// Each adds commands to `atoll session`. `flags` lives as long as the group.
void add_session_records(Command& session, const SessionFlags& flags, Group& group);
void add_session_lifecycle(Command& session, const SessionFlags& flags, Group& group);
void add_session_code(Command& session, const SessionFlags& flags, Group& group);
void add_session_files(Command& session, const SessionFlags& flags, Group& group);
void add_session_attach(Command& session, const SessionFlags& flags, Group& group);

// "/api/sessions/ses_x/pause" with the id made safe for an address.
std::string session_target(const std::string& id, std::string_view rest = {});

// All pages of a list that the service gives in pages, as one answer of its kind: the member `list` of all.
Result<boost::json::value> all_pages(const Remote& remote, const std::string& target, std::string_view list);

// Runs `once` again and again where `interval` is given, on a terminal in place; until a signal ends it.
Result<int> repeat(const std::string& interval, const std::function<Result<std::string>()>& once);

// "--watch [SECONDS]", which repeat() heeds.
void add_watch(Command& command, std::string& interval);

// Prints it; the status for that.
int print(const std::string& text);

}  // namespace atl::cli
