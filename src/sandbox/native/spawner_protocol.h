#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sandbox/isolation.h"
#include "sandbox/limits.h"
#include "sandbox/native/checkpoint_file.h"
#include "sandbox/spec.h"

// What daemon and spawner say to each other: one packet a message, descriptors beside it. Both are processes
// of the same program, but the daemon may be newer than the spawner it finds: hello settles that.
//
// Plain values, for any thread. Descriptors are named here and travel beside the bytes: the sender keeps its
// own, the receiver owns what came.
namespace atl::sandbox::native {

inline constexpr std::uint32_t kSpawnerProtocolVersion = 10;

// The first byte of every message. Numbers stay: a daemon asks a spawner of any version for that version, and
// to shut down.
enum class Verb : std::uint8_t {
  hello,
  create,
  destroy,
  freeze,
  thaw,
  rename,
  snapshot = 7,
  discard,
  adopt,
  list,
  shut_down,
  ended,  // spawner to daemon, unasked: a sandbox ended by itself
  fork_interpreter,
  checkpoint,
  revive,
  second_connection,
  open_volume,
  close_volume,
  measure,
  // Between the spawner and its own children, never to a daemon.
  files_written,  // a checkpoint's files are in place; the interpreters follow
  image_made,
  // Between daemon and spawner again.
  zygotes,  // spawner to daemon, unasked: whether interpreters can be forked has changed
  open_interpreters,
  discard_interpreters,
};

// What a daemon can ask for, a type for each verb. "The sandbox" is the one that Request::name names; without
// it the answer is Code::not_found. An answer is a Reply of the same token, with an error or with what stands
// behind the arrow; a failure leaves everything as it was.
namespace ask {

// -> version, names of all sandboxes, the parent control group, what this machine gives.
struct Hello {
  static constexpr Verb kVerb = Verb::hello;
};
// -> the same.
struct List {
  static constexpr Verb kVerb = Verb::list;
};
// Makes a sandbox. Its id is the request's name. -> group, guest, walls + {stream, pidfd, writable layer}.
struct Create {
  static constexpr Verb kVerb = Verb::create;
  Spec spec;
};
// As create, for a sandbox that exists: a daemon that was started again takes it over. -> also its spec.
struct Adopt {
  static constexpr Verb kVerb = Verb::adopt;
};
// Everything of it is gone when the reply comes.
struct Destroy {
  static constexpr Verb kVerb = Verb::destroy;
};
// It stands still when the reply comes, until thaw. Code::deadline_exceeded if it cannot be brought to that.
struct Freeze {
  static constexpr Verb kVerb = Verb::freeze;
};
struct Thaw {
  static constexpr Verb kVerb = Verb::thaw;
};
// A sandbox that was made ahead gets its name. Code::already_exists if another one has it.
struct Rename {
  static constexpr Verb kVerb = Verb::rename;
  std::string to;
};
// The files of the sandbox go into that directory, which must not exist; it stands still meanwhile.
struct Snapshot {
  static constexpr Verb kVerb = Verb::snapshot;
  std::string directory;
};
// Removes the directory of a snapshot or checkpoint, of no sandbox.
struct Discard {
  static constexpr Verb kVerb = Verb::discard;
  std::string directory;
};
// -> the bytes that the directory of a snapshot or checkpoint takes on the disk, as the disk counts.
struct Measure {
  static constexpr Verb kVerb = Verb::measure;
  std::string directory;
};
// The interpreters of a checkpoint that lie on the disk. The file belongs to the spawner's user, which may
// not be the daemon's. -> + {their file, to be read}; Code::not_found if the checkpoint has none there.
struct OpenInterpreters {
  static constexpr Verb kVerb = Verb::open_interpreters;
  std::string directory;
};
// Removes that file; the files of the checkpoint stay. One that is not there is success.
struct DiscardInterpreters {
  static constexpr Verb kVerb = Verb::discard_interpreters;
  std::string directory;
};
// Ends all sandboxes, then the spawner.
struct ShutDown {
  static constexpr Verb kVerb = Verb::shut_down;
};
// Forks an interpreter from a zygote into the sandbox; waits for a zygote that is starting. Code::unavailable
// if there is none, Code::unsupported if the sandbox has other programs than any zygote.
// -> its process number inside + {control, output, errors}.
struct ForkInterpreter {
  static constexpr Verb kVerb = Verb::fork_interpreter;
  std::string user;
  std::string directory;  // empty: the user's home
};
// Files and parked interpreters of the sandbox into that directory, while it stands still. -> which were
// carried and what was left behind + {a file of them, if it lies in memory}.
struct Checkpoint {
  static constexpr Verb kVerb = Verb::checkpoint;
  struct Interpreter {
    std::string id, user, directory;
    std::uint32_t pid = 0;         // inside
    std::uint32_t forked_pid = 0;  // the number inside of the one that was forked, whose spare this may be
  };
  std::string directory;
  std::vector<Interpreter> interpreters;  // parked ones
  std::vector<std::uint32_t> known;       // processes inside that are accounted for
  std::vector<std::string> left_behind;   // what is known not to be carried
  bool whole = false;                     // to go on from later, not in a copy
  bool strict = false;                    // what cannot be carried is a failure
};
// Makes an interpreter of a checkpoint go on in the sandbox. Comes with + {the file of the checkpoint}.
// -> as fork_interpreter.
struct Revive {
  static constexpr Verb kVerb = Verb::revive;
  std::uint32_t index = 0;  // which one of the file
  // What the checkpoint's file says of it. The spawner itself does not read the file; the child that writes
  // the memory trusts the file alone.
  CheckpointedInterpreter interpreter;
};
// -> + {socket}: another connection, to go on with when this one is lost.
struct SecondConnection {
  static constexpr Verb kVerb = Verb::second_connection;
};
// Mounts the filesystem of a volume, making it if there is none. -> + {its top}.
struct OpenVolume {
  static constexpr Verb kVerb = Verb::open_volume;
  std::string directory;  // of the volume
  std::uint64_t bytes = 0, inodes = 0;
};
// The spawner lets go of that filesystem.
struct CloseVolume {
  static constexpr Verb kVerb = Verb::close_volume;
  std::string directory;
};

}  // namespace ask

using Ask = std::variant<ask::Hello, ask::List, ask::Create, ask::Adopt, ask::Destroy, ask::Freeze, ask::Thaw,
                         ask::Rename, ask::Snapshot, ask::Discard, ask::Measure, ask::OpenInterpreters,
                         ask::DiscardInterpreters, ask::ShutDown, ask::ForkInterpreter, ask::Checkpoint,
                         ask::Revive, ask::SecondConnection, ask::OpenVolume, ask::CloseVolume>;

struct Request {
  std::uint64_t token = 0;  // comes back in the reply
  std::string name;         // of the sandbox; empty where the verb is about none
  Ask ask;

  Verb verb() const {
    return std::visit([](const auto& what) { return what.kVerb; }, ask);
  }
  // What is asked for, if it is that.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&ask);
  }
};

// What the spawner gives beside "done", a type for each kind of answer. Which verbs it belongs to stands with
// it; every other verb has std::monostate. After a failure it is empty, except for an image's size.
namespace answers {

// hello, list.
struct Hello {
  std::uint32_t version = kSpawnerProtocolVersion;  // of the spawner, which may be older or newer than ours
  std::uint32_t pid = 0;                            // of the spawner
  std::string parent_group;                         // below which the control groups of sandboxes are
  Isolation isolation;                              // what this machine gives, and what it does not
  std::vector<std::string> names;                   // of all sandboxes that have not ended
  std::string zygotes_away;                         // as in Zygotes
};
// create, adopt.
struct Sandbox {
  std::string group;      // control group below the parent
  std::uint32_t pid = 0;  // of the guest, in the host's numbers
  Isolation isolation;
  bool frozen = false;
  std::optional<Spec> spec;  // adopt: what it was created from
};
// fork_interpreter, revive.
struct Interpreter {
  std::uint32_t pid = 0;  // in the sandbox's numbers
};
// checkpoint.
struct Checkpoint {
  std::vector<std::string> carried;      // interpreters, by id
  std::vector<std::string> left_behind;  // what was not carried, in words for the user
  std::uint64_t micros = 0;              // how long the sandbox stood still
};
// measure.
struct Size {
  std::uint64_t bytes = 0;
};
// ended.
struct Ended {
  std::string why;
};
// zygotes.
struct Zygotes {
  std::string away;  // why no interpreter can be forked for plain sandboxes; empty: they can, or never could
};
// image_made: which size of image has come.
struct Image {
  std::uint64_t bytes = 0, inodes = 0;
};

}  // namespace answers

using AnyAnswer =
    std::variant<std::monostate, answers::Hello, answers::Sandbox, answers::Interpreter, answers::Checkpoint,
                 answers::Size, answers::Ended, answers::Zygotes, answers::Image>;

struct Reply {
  Verb verb = Verb::hello;
  std::uint64_t token = 0;     // of the request; 0 if nobody asked
  std::optional<Error> error;  // then nothing was done
  std::string name;            // of the sandbox
  AnyAnswer answer;

  // The answer if it is that one. A reply of another kind, which only a spawner that is confused sends, gives
  // an empty one.
  template <class T>
  T as() const {
    const T* const found = std::get_if<T>(&answer);
    return found ? *found : T{};
  }
};

std::string encode(const Request& request);
std::string encode(const Reply& reply);
// Whole, sound in every length, count and enumerator (spawner_protocol_check.h), or Code::invalid_argument
// with the field that is not.
Result<Request> decode_request(const std::string& bytes);
// Whom to answer that a request is malformed; none if it does not even say that.
std::optional<std::uint64_t> token_of(const std::string& request_bytes);
// Code::internal if it is malformed.
Result<Reply> decode_reply(const std::string& bytes);

}  // namespace atl::sandbox::native
