#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/json.h"
#include "cli/answer.h"
#include "cli/commands/session.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "config/checked.h"
#include "os/fd.h"

// files: ls, get, put, rm, watch.
namespace atl::cli {
namespace {

namespace bj = boost::json;

struct FileFlags {
  std::string id, path = ".", local, remote, user, mode, depth = "1";
  bool recursive = false, archive = false;
};

std::string files_target(const FileFlags& flags, std::string_view route, const std::string& path) {
  std::string target =
      session_target(flags.id, fmt::format("/files{}?path={}", route, net::percent_encode(path)));
  if (!flags.user.empty()) target += "&user=" + net::percent_encode(flags.user);
  return target;
}

std::string listing_table(const bj::value& listing) {
  Table table({{"MODE"}, {"OWNER"}, {"SIZE", Table::Align::right}, {"CHANGED"}, {"NAME"}});
  for (const bj::value& one : list_at(listing, "entries")) {
    const std::string type = text_at(one, "type"), target = text_at(one, "target");
    std::string name = text_at(one, "name");
    if (type == "directory") name += "/";
    if (!target.empty()) name += " -> " + target;
    table.add({{text_at(one, "mode"), Tone::dim},
               {text_at(one, "owner")},
               {short_bytes(static_cast<std::uint64_t>(number_at(one, "size")))},
               {local_time(text_at(one, "modified_at")), Tone::dim},
               {name, type == "directory" ? Tone::strong : Tone::plain}});
  }
  return table.text(paint_of_output());
}

Result<int> list_files(const SessionFlags& shared, const FileFlags& flags) {
  const auto depth = TRY(config::Checked("--depth", flags.depth).whole_number(1, 64));
  const Remote remote = TRY(Remote::open(shared.connection));
  // A directory below where the session works, as commands see it.
  const std::string target = files_target(flags, "", flags.path) + fmt::format("&depth={}", depth);
  const std::string answer = TRY(remote.text({.method = "GET", .target = target, .body = {}, .headers = {}}));
  const auto listing = parse_answer(answer);
  if (!listing || !member(*listing, "entries").is_array())
    return fail(config::Checked("PATH", flags.path)
                    .wrong("is a file",
                           fmt::format("`atoll session files get {} {}` prints it", flags.id, flags.path)));
  return print(shared.json ? answer + "\n" : listing_table(*listing));
}

Result<int> get_file(const SessionFlags& shared, const FileFlags& flags) {
  const Remote remote = TRY(Remote::open(shared.connection));
  RemoteCall call{.method = "GET",
                  .target = files_target(flags, flags.archive ? "/archive" : "", flags.remote),
                  .body = {},
                  .headers = {},
                  // What can be read in parts is a file; the listing of a directory cannot.
                  .must_have = flags.archive ? "" : "Accept-Ranges",
                  .ends_in_order = true};
  Progress progress(std::filesystem::path(flags.remote).filename().string());
  const auto moved = [&](std::uint64_t so_far, std::uint64_t all) { progress.moved(so_far, all); };
  const auto explain = [&](Error error) {
    if (error.code() != Code::is_a_directory) return error;
    return Error(
        Code::is_a_directory,
        fmt::format(
            "REMOTE: '{0}' is a directory; `atoll session files get --tar {1} {0}` gives it as an archive",
            config::shown(flags.remote), flags.id));
  };
  if (flags.local.empty() || flags.local == "-") {
    auto done = remote.download(std::move(call), STDOUT_FILENO, moved);
    return done ? Result<int>(0) : fail(explain(std::move(done).error()));
  }
  std::string local = flags.local;
  std::error_code none;
  if (std::filesystem::is_directory(local, none) && !flags.archive)
    local = (std::filesystem::path(local) / std::filesystem::path(flags.remote).filename()).string();
  OutputFile out = TRY(OutputFile::open("LOCAL", local));
  if (auto done = remote.download(std::move(call), out.fd(), moved); !done)
    return fail(explain(std::move(done).error()));
  TRY(out.finish());
  return 0;
}

// A directory as tar(1) packs it.
class Packed {
 public:
  static Result<Packed> open(const std::string& directory) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(errno_error(errno, "a pipe"));
    os::Fd from(ends[0]), to(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) return fail(errno_error(errno, "start tar"));
    if (child == 0) {
      // Ctrl-C is ours alone: half an archive must not look like a whole one.
      (void)::setpgid(0, 0);
      ::dup2(to.get(), STDOUT_FILENO);
      ::execlp("tar", "tar", "-C", directory.c_str(), "-cf", "-", ".", nullptr);
      ::_exit(127);
    }
    return Packed(std::move(from), child);
  }
  int fd() const { return from_.get(); }
  Result<void> finish() {
    int status = 0;
    from_ = os::Fd();
    // 1: a file changed while it was read, about which tar has said a word.
    if (::waitpid(child_, &status, 0) == child_ && WIFEXITED(status) && WEXITSTATUS(status) <= 1) return {};
    return fail(Code::internal, "LOCAL: tar could not pack all of it; nothing was put");
  }

 private:
  Packed(os::Fd from, pid_t child) : from_(std::move(from)), child_(child) {}
  os::Fd from_;
  pid_t child_;
};

Result<int> put_directory(const SessionFlags& shared, const FileFlags& flags, const Remote& remote) {
  Progress progress(flags.local);
  Packed packed = TRY(Packed::open(flags.local));
  const bj::value answer = TRY(remote.upload(
      {.method = "PUT",
       .target = files_target(flags, "/archive", flags.remote),
       .body = {},
       .headers = {},
       .must_have = {},
       .ends_in_order = true},
      packed.fd(), std::nullopt,
      [&](std::uint64_t so_far, std::uint64_t all) { progress.moved(so_far, all); },
      [&] { return packed.finish(); }));
  if (const double skipped = number_at(answer, "skipped"); skipped > 0)
    fmt::print(stderr, "atoll: {:.0f} entries were left out: only files and directories are unpacked\n",
               skipped);
  return shared.json ? print(bj::serialize(answer) + "\n") : 0;
}

Result<int> put_file(const SessionFlags& shared, const FileFlags& flags) {
  const Remote remote = TRY(Remote::open(shared.connection));
  std::error_code none;
  if (flags.local != "-" && std::filesystem::is_directory(flags.local, none))
    return put_directory(shared, flags, remote);
  os::Fd opened;
  int from = STDIN_FILENO;
  if (flags.local != "-") {
    opened = os::Fd(::open(flags.local.c_str(), O_RDONLY | O_CLOEXEC));
    if (opened.get() < 0)
      return fail(errno_error(errno, fmt::format("LOCAL: '{}'", config::shown(flags.local))));
    from = opened.get();
  }
  struct stat facts {};
  std::optional<std::uint64_t> size;
  if (::fstat(from, &facts) == 0 && S_ISREG(facts.st_mode)) {
    const off_t at = ::lseek(from, 0, SEEK_CUR);
    size = static_cast<std::uint64_t>(facts.st_size) - static_cast<std::uint64_t>(std::max<off_t>(at, 0));
  }
  std::string path = flags.remote;
  if (path.ends_with('/')) path += std::filesystem::path(flags.local).filename().string();
  std::string target = files_target(flags, "", path);
  // A program stays one.
  if (!flags.mode.empty())
    target += "&mode=" + net::percent_encode(flags.mode);
  else if (size && (facts.st_mode & 0111U) != 0)
    target += "&mode=755";
  Progress progress(flags.local);
  const bj::value answer = TRY(remote.upload(
      {.method = "PUT",
       .target = target,
       .body = {},
       .headers = {{"Content-Type", "application/octet-stream"}},
       .must_have = {},
       // A read of a terminal or a pipe would wait on: there the signal ends all at once.
       .ends_in_order = size.has_value()},
      from, size, [&](std::uint64_t so_far, std::uint64_t all) { progress.moved(so_far, all); }));
  return shared.json ? print(bj::serialize(answer) + "\n") : 0;
}

Result<int> remove_file(const SessionFlags& shared, const FileFlags& flags) {
  const Remote remote = TRY(Remote::open(shared.connection));
  TRY(remote.json("DELETE",
                  files_target(flags, "", flags.remote) + (flags.recursive ? "&recursive=true" : "")));
  if (!shared.json) return 0;
  return print(bj::serialize(bj::object{{"path", flags.remote}, {"removed", true}}) + "\n");
}

Result<int> watch_files(const SessionFlags& shared, const FileFlags& flags) {
  const Remote remote = TRY(Remote::open(shared.connection));
  const auto each = [&](const ServerEvent& event) -> Result<Remote::Next> {
    const bj::value data = TRY(json::parse(event.data));
    std::string line = fmt::format("{:<7} {}\n", event.name, config::shown(text_at(data, "name"), 4096));
    if (event.name == "start") line = "";
    if (shared.json)
      line = bj::serialize(bj::object{{"event", event.name}, {"data", data}}) + "\n";
    else if (event.name == "start")
      fmt::print(stderr, "atoll: watching {}\n", config::shown(flags.path, 400));
    return print(line) == 0 ? Remote::Next::go_on : Remote::Next::end;
  };
  TRY(remote.events(
      {.method = "GET",
       .target = files_target(flags, "/watch", flags.path) + (flags.recursive ? "&recursive=true" : ""),
       .body = {},
       .headers = {}},
      each));
  return 0;
}

void add_id(Command& command, FileFlags& flags) {
  command.add_option("ID", flags.id, "The session").required().value("SESSION");
}

void add_transfers(Command& files, const SessionFlags& shared, Group& group) {
  auto* got = group.keep<FileFlags>();
  Command get = group.add(files, "get", "Copy a file out; to standard output without LOCAL",
                          [&shared, got] { return get_file(shared, *got); });
  add_id(get, *got);
  get.add_option("REMOTE", got->remote, "Path inside").required();
  get.add_option("LOCAL", got->local, "File or directory here").value("FILE");
  get.add_flag("--tar", got->archive, "A directory, as a tar archive");
  get.add_option("--user", got->user, "As this user of the sandbox");

  auto* put = group.keep<FileFlags>();
  Command send = group.add(files, "put", "Copy a file or a directory in",
                           [&shared, put] { return put_file(shared, *put); });
  add_id(send, *put);
  send.add_option("LOCAL", put->local, "File or directory here, or - for standard input")
      .required()
      .value("FILE");
  send.add_option("REMOTE", put->remote, "Path inside; with / at its end the directory to put it in")
      .required();
  send.add_option("--mode", put->mode, "Permissions as an octal number").value("MODE");
  send.add_option("--user", put->user, "As this user of the sandbox");
}

}  // namespace

void add_session_files(Command& session, const SessionFlags& shared, Group& group) {
  Command files = session.add_command("files", "List, copy, remove and watch files of a session");
  files.require_command();
  auto* listed = group.keep<FileFlags>();
  listed->path = "/home/user";
  Command list =
      group.add(files, "ls", "List a directory", [&shared, listed] { return list_files(shared, *listed); });
  add_id(list, *listed);
  list.add_option("PATH", listed->path, "The directory").with_default_shown();
  list.add_option("--depth", listed->depth, "Levels below it").with_default_shown().value("NUMBER");
  list.add_option("--user", listed->user, "As this user of the sandbox");
  add_transfers(files, shared, group);

  auto* removed = group.keep<FileFlags>();
  Command remove = group.add(files, "rm", "Remove a file or, with -r, a tree",
                             [&shared, removed] { return remove_file(shared, *removed); });
  add_id(remove, *removed);
  remove.add_option("REMOTE", removed->remote, "Path inside").required();
  remove.add_flag("-r,--recursive", removed->recursive, "With everything below it");
  remove.add_option("--user", removed->user, "As this user of the sandbox");

  auto* watched = group.keep<FileFlags>();
  watched->path = "/home/user";
  Command watch = group.add(files, "watch", "Print changes below a directory as they happen",
                            [&shared, watched] { return watch_files(shared, *watched); });
  add_id(watch, *watched);
  watch.add_option("PATH", watched->path, "The directory").with_default_shown();
  watch.add_flag("-r,--recursive", watched->recursive, "Its directories, too");
}

}  // namespace atl::cli
