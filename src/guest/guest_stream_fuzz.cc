// Whatever the host's end of the stream says, the guest answers or ends: every input is one life of a guest,
// from its first instruction to the end of its stream. It does what it is told, so it lives in namespaces of
// its own with an empty root: requests to remove, to start or to signal reach nothing of this machine.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "guest/fuzz_frames.h"

// The loop itself, so that one life can be cleared away before the next.
#define main guest_main
#include "guest/program/loop.cc"
#undef main

namespace atl::guest {
namespace {

// What the end of process 1 would do.
void clear_away() {
  ::kill(-1, SIGKILL);
  for (Channel*& head : table)
    while (head != nullptr) end_channel(head);
  bury();
  scheduled = nullptr;
  stream_replace(-1);
  for (const int fd : {main_set, source_set, child_fd}) ::close(fd);
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
}

}  // namespace
}  // namespace atl::guest

namespace {

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::_Exit(2);
}

// Where found inputs are kept stays reachable under the name it has.
void enter_empty_root(const char* kept) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) give_up("private mounts");
  if (::mount("none", "/mnt", "tmpfs", 0, "size=64m,nr_inodes=4096") != 0) give_up("tmpfs");
  for (const char* name : {"/mnt/.fuzz", "/mnt/dev", "/mnt/tmp", "/mnt/etc"}) (void)::mkdir(name, 0755);
  const std::string place = std::string("/mnt/") + kept;
  if (kept[0] != '\0' &&
      (::mkdir(place.c_str(), 0755) != 0 || ::mount(kept, place.c_str(), nullptr, MS_BIND, nullptr) != 0))
    give_up("keep found inputs");
  for (const char* name : {"null", "urandom"}) {
    const std::string at = std::string("/mnt/dev/") + name;
    ::close(::open(at.c_str(), O_CREAT | O_WRONLY, 0644));
    if (::mount((std::string("/dev/") + name).c_str(), at.c_str(), nullptr, MS_BIND, nullptr) != 0)
      give_up("device");
  }
  if (::chdir("/mnt") != 0 || ::mount(".", "/", nullptr, MS_MOVE, nullptr) != 0 || ::chroot(".") != 0 ||
      ::chdir("/") != 0)
    give_up("empty root");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  std::string kept;
  for (int i = 1; i < *count; ++i)
    if ((*arguments)[i][0] == '.') kept = (*arguments)[i];
  // Root without rights over files is still root over the processes of the machine: enter a process tree of
  // its own first.
  if (::unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0)
    give_up("namespaces (needs root)");
  const pid_t child = ::fork();
  if (child < 0) give_up("fork");
  if (child > 0) {
    int status = 0;
    ::waitpid(child, &status, 0);
    std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  enter_empty_root(kept.c_str());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string said = atl::guest::fuzz_frames(data, size);
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) give_up("socketpair");
  // The guest closes everything beyond its stream, so our end is where it never looks.
  if (::dup2(pair[0], 0) != 0 || ::dup2(pair[1], atl::guest::kStreamFd) != atl::guest::kStreamFd)
    give_up("dup2");
  for (const int fd : pair)
    if (fd > atl::guest::kStreamFd) ::close(fd);
  std::thread host([&] {
    (void)!::send(0, said.data(), said.size(), MSG_NOSIGNAL);
    ::shutdown(0, SHUT_WR);
    char bytes[65536];
    while (::read(0, bytes, sizeof bytes) > 0) {
    }
  });
  (void)guest_main();
  ::shutdown(0, SHUT_RDWR);
  host.join();
  atl::guest::clear_away();
  return 0;
}
