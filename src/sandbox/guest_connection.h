#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "os/fd.h"
#include "os/task.h"
#include "sandbox/guest_files.h"
#include "sandbox/guest_interpreter.h"
#include "sandbox/guest_ports.h"
#include "sandbox/guest_process.h"
#include "sandbox/interpreter.h"
#include "sandbox/process.h"
#include "sandbox/spec.h"

namespace atl::sandbox {

// An interpreter that was forked into the sandbox, as a child of its process 1, and waits at the other end of
// these.
struct ForkedInterpreter {
  os::Fd control, out, err;
  std::uint32_t pid = 0;
};
// Makes one for the user in that directory, or says why not. While a zygote is starting it waits for that: an
// interpreter that is started as a program instead could not be copied with its variables.
using InterpreterFactory = std::function<Task<ForkedInterpreter>(std::string user, std::string directory)>;

// An interpreter inside a sandbox that is saved with its memory, between two executions. Whoever speaks with
// the restored guest goes on with it.
struct SavedInterpreter {
  std::uint32_t channel = 0;
  InterpreterInfo info;
  bool is_warm = false;  // nobody has asked for it yet
};

// What a guest is not told and the host adds to every request.
struct GuestOptions {
  std::string user = "user";                     // where a request names none
  std::string working_directory = "/home/user";  // the same; empty: the user's home
  Variables env;                                 // below each process's own
  std::uint64_t memory_bytes = 0;  // what the sandbox has, for interpreters that must know; 0: unknown
  OutcomeFilter outcome_filter;
  std::function<void()> on_activity;       // called whenever a process or an execution begins; may be empty
  InterpreterFactory interpreter_factory;  // empty: every interpreter is started as a program
  std::chrono::milliseconds patience{5'000};  // for the guest's greeting
  SpareOptions spare;                         // of Python's interpreters
  // Of the sandbox whose memory this one goes on from; others that the guest tells of are ended.
  std::vector<SavedInterpreter> saved;
};

// A guest at the other end of a byte stream, as the interfaces of this room: what any provider with real
// processes hands its Sandbox calls to. The provider builds walls, starts the guest with one end of a stream
// (guest/protocol.h says where), and gives the other end to open().
//
// Belongs to the loop thread. When the stream ends, everything on it ends: calls fail with
// Code::provider_failed, processes report Ending::lost unless the judge knows better. Handles may outlive it.
class GuestConnection {
 public:
  // Waits until the guest has said hello. Processes that it already had (the stream of a daemon that is gone
  // was replaced) are in processes().
  static Task<std::shared_ptr<GuestConnection>> open(os::Fd stream, GuestOptions options);
  // Ends the stream if close() did not.
  ~GuestConnection();
  GuestConnection(const GuestConnection&) = delete;
  GuestConnection& operator=(const GuestConnection&) = delete;

  Task<std::shared_ptr<Process>> start(ProcessSpec spec);
  std::vector<std::shared_ptr<Process>> processes() const;

  Files& files() { return files_; }

  // An interpreter that is ready. Code::unsupported if the sandbox has none for the language. Its process is
  // not among processes().
  Task<std::shared_ptr<Interpreter>> create_interpreter(Language language, std::string cwd);
  std::vector<std::shared_ptr<Interpreter>> interpreters() const;  // in order of creation
  // An interpreter that nobody has asked for yet. The next create_interpreter() for its language takes it.
  Task<void> warm_up(Language language);
  // An interpreter that is a copy of another sandbox's, under the id that the interpreter has there.
  Task<void> receive_interpreter(ForkedInterpreter forked, InterpreterInfo info);
  // Numbers inside of the interpreters, asked for or not.
  std::vector<std::uint32_t> interpreter_pids() const;
  // Boot times at which the latest executions began, in order, whether they have ended or not.
  const std::vector<std::uint64_t>& began() const { return *began_; }
  // Processes that are interpreters, asked for or not, and their spares.
  std::size_t interpreter_processes() const;
  // Something was asked for that is not over.
  bool is_executing() const;
  // Ends every process, or where there is none what a busy interpreter runs, and says why.
  void end_executions(Ending ending, const std::string& reason);
  // Kills what began at that boot time or later and belongs to nothing that is being executed; what began
  // after an execution that began later still may be that one's, and stays unless the time is 0. Gives how
  // many there were, when they are gone.
  Task<std::uint32_t> sweep(std::uint64_t since_us);
  // Ends it and whatever runs in it.
  Task<void> remove_interpreter(std::string id);

  // A connection to a server inside; connections from programs inside (a proxy's port, for instance).
  Task<std::unique_ptr<ByteStream>> connect(std::uint16_t port);
  Task<std::unique_ptr<PortListener>> listen(std::uint16_t port);
  Task<std::shared_ptr<DatagramPort>> datagrams(std::uint16_t port);
  Task<std::vector<std::uint16_t>> listening_ports();

  // Other defaults for processes from now on: a sandbox made before it was asked for gets its caller's.
  void set_defaults(std::string user, std::string working_directory, Variables env);

  // More of them, below what set_defaults() and a process itself say; interpreters that run get them as well.
  void add_variables(const Variables& variables);

  // An answer proves that the guest lives.
  Task<void> ping();
  // A frozen guest is not a silent one.
  void set_paused(bool paused) { frames_->set_paused(paused); }
  // It stands still now: whoever waits for one of its answers is told so.
  void fail_waiting() { frames_->fail_waiting(); }
  // The guest comes to rest, to be saved with its memory; release() has it go on, at the other end of another
  // stream if that is where it is now (frame_stream.h).
  Task<void> hold() { return frames_->hold(); }
  void release(os::Fd replacement = {}) { frames_->release(std::move(replacement)); }
  // What can be gone on with in a copy. Interpreters that execute something are not among them.
  std::vector<SavedInterpreter> saved_interpreters() const;
  // Ends the stream, and with it the guest, for the reason given.
  void close(Error why);
  // Ends when the stream ended; says why.
  Task<std::string> ended();
  bool is_open() const { return frames_->is_open(); }

 private:
  GuestConnection(std::shared_ptr<FrameStream> frames, GuestOptions options);
  void keep(const std::shared_ptr<GuestProcess>& process);
  std::shared_ptr<GuestInterpreter> make_interpreter(InterpreterInfo info);
  std::shared_ptr<GuestInterpreter> take_warm(Language language);

  using Processes = std::vector<std::shared_ptr<GuestProcess>>;

  std::shared_ptr<FrameStream> frames_;
  // Shared with what starts interpreters again later.
  std::shared_ptr<GuestOptions> options_;
  GuestFiles files_;
  std::vector<std::shared_ptr<GuestInterpreter>> interpreters_, warm_;
  std::shared_ptr<std::vector<std::uint64_t>> began_ = std::make_shared<std::vector<std::uint64_t>>();
  // Shared with the processes' ends, which may come after this object.
  std::shared_ptr<Processes> processes_ = std::make_shared<Processes>();
};

// Of `all` processes of a sandbox, those of its workload: not the guest, and no interpreter that waits. Null:
// there is no connection yet.
std::uint32_t workload_processes(std::size_t all, const GuestConnection* connection);

}  // namespace atl::sandbox
