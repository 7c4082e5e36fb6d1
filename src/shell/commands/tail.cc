#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/runner.h"
#include "shell/text/count_byte.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::tail_program {

namespace {

enum Long { kRetry = 256, kPid, kMaxUnchanged, kFollow };

constexpr Option kOptions[] = {
    {'c', 'c', "bytes", Arg::required},
    {'n', 'n', "lines", Arg::required},
    {'q', 'q', "quiet"},
    {'q', 0, "silent"},
    {'v', 'v', "verbose"},
    {'z', 'z', "zero-terminated"},
    {'f', 'f', ""},
    {kFollow, 0, "follow", Arg::optional},
    {'F', 'F', ""},
    {kRetry, 0, "retry"},
    {'s', 's', "sleep-interval", Arg::required},
    {kPid, 0, "pid", Arg::required},
    {kMaxUnchanged, 0, "max-unchanged-stats", Arg::required},
};

struct Request {
  std::uint64_t count = 10;
  bool bytes = false, from_start = false, follow = false;
  bool by_name = false;  // -F: what a name leads to is followed, also when it comes late or is replaced
  char delimiter = '\n';
  bool retry = false;  // what is not there yet is waited for
  int headers = -1;
  double interval = 0.05;  // GNU tail is told by the kernel: what is added shows at once
  std::vector<int> pids;   // following ends when none of them runs any more
};

// Whole blocks are kept and dropped from the front as soon as the rest holds enough lines.
void last_lines(Invocation& call, Input& in, Sink& out, const Request& request) {
  struct Block {
    std::string text;
    std::uint64_t lines;
  };
  std::deque<Block> blocks;
  std::uint64_t total = 0;
  while (true) {
    std::string_view block = in.fill();
    if (block.empty()) break;
    call.charge(block.size() / 32 + 1);
    std::uint64_t lines = count_byte(block, request.delimiter);
    blocks.push_back({std::string(block), lines});
    total += lines;
    in.consume(block.size());
    while (!blocks.empty() && total - blocks.front().lines > request.count) {
      total -= blocks.front().lines;
      blocks.pop_front();
    }
  }
  if (blocks.empty() || request.count == 0) return;
  std::uint64_t ends = total + (blocks.back().text.ends_with(request.delimiter) ? 0 : 1);
  std::uint64_t skip = ends > request.count ? ends - request.count : 0;
  for (const Block& block : blocks) {
    std::string_view text = block.text;
    while (skip > 0) {
      std::size_t end = text.find(request.delimiter);
      if (end == std::string_view::npos) {
        text = {};
        break;
      }
      text.remove_prefix(end + 1);
      --skip;
    }
    out.append(text);
  }
}

void last_bytes(Invocation& call, Input& in, Sink& out, std::uint64_t count) {
  std::string held;
  while (true) {
    std::string_view block = in.fill();
    if (block.empty()) break;
    call.charge(block.size() / 64 + 1);
    held.append(block);
    in.consume(block.size());
    if (held.size() / 2 > count + 32768) held.erase(0, held.size() - count);
  }
  out.append(held.size() > count ? std::string_view(held).substr(held.size() - count) : held);
}

void from_start(Invocation& call, Input& in, Sink& out, const Request& request) {
  std::uint64_t skip = request.count ? request.count - 1 : 0;
  while (true) {
    std::string_view block = in.fill();
    if (block.empty()) return;
    call.charge(block.size() / 32 + 1);
    std::string_view rest = block;
    if (request.bytes) {
      std::size_t drop = static_cast<std::size_t>(std::min<std::uint64_t>(skip, rest.size()));
      rest.remove_prefix(drop);
      skip -= drop;
    }
    while (!request.bytes && skip > 0 && !rest.empty()) {
      std::size_t end = rest.find(request.delimiter);
      if (end == std::string_view::npos) {
        rest = {};
        break;
      }
      rest.remove_prefix(end + 1);
      --skip;
    }
    out.append(rest);
    in.consume(block.size());
  }
}

struct Followed {
  std::string name;
  vfs::Path path;
  std::optional<std::uint64_t> inode;  // of what was read so far; nothing while the name leads nowhere
  std::uint64_t size = 0;
};

// Prints what files grow by, by turns; one ends with its content unless its name is followed (-F).
class Follower {
 public:
  Follower(Invocation& call, Sink& out, const Request& request, std::vector<Followed> files)
      : call_(call), out_(out), request_(request), files_(std::move(files)), shown_(files_.size() - 1) {}

  void run() {
    auto pause =
        std::chrono::milliseconds(static_cast<int>(std::clamp(request_.interval, 0.02, 60.0) * 1000));
    while (true) {
      out_.flush();
      bool last = !request_.pids.empty() && std::none_of(request_.pids.begin(), request_.pids.end(),
                                                         [&](int pid) { return runs(pid); });
      if (!last) call_.sleep(pause);
      for (std::size_t i = 0; i < files_.size(); ++i) look(i);
      if (last) return;
    }
  }

 private:
  bool runs(int pid) {
    Process* process = call_.runner().machine().find_process(pid);
    return process && !process->done;
  }
  void look(std::size_t at) {
    Followed& file = files_[at];
    auto stat = call_.fs().find(file.path);
    if (!stat || !stat->is_file()) {
      if (request_.by_name && file.inode)
        complain(fmt::format("'{}' has become inaccessible: No such file or directory", file.name));
      if (request_.by_name) file.inode.reset();
      return;
    }
    if (file.inode != stat->inode) {
      if (!request_.by_name && file.inode) return;
      complain(fmt::format("'{}' has {};  following new file", file.name,
                           file.inode ? "been replaced" : "appeared"));
      file.inode = stat->inode;
      file.size = 0;
    }
    if (stat->size < file.size) {
      complain(fmt::format("{}: file truncated", file.name));
      file.size = 0;
    }
    if (stat->size == file.size) return;
    auto content = call_.fs().read(file.path);
    if (!content) return;
    if (request_.headers && shown_ != at) out_.append(fmt::format("\n==> {} <==\n", file.name));
    shown_ = at;
    while (file.size < content->size()) {
      std::string_view run = content->run(file.size);
      call_.charge(run.size() / 64 + 1);
      out_.append(run);
      file.size += run.size();
    }
  }
  void complain(const std::string& message) {
    out_.flush();
    call_.complain(message);
  }

  Invocation& call_;
  Sink& out_;
  const Request& request_;
  std::vector<Followed> files_;
  std::size_t shown_;  // whose text came last
};

// -1: go on.
int read_options(Invocation& call, CommandLine& options, Request& request) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c':
      case 'n':
      case '0': {
        if (id != '0') request.bytes = id == 'c';
        std::string_view text = value;
        request.from_start = text.starts_with('+');
        if (request.from_start || text.starts_with('-')) text.remove_prefix(1);
        if (text.empty() || !isdigit(static_cast<unsigned char>(text[0])) || !parse_size(text, request.count))
          return call.fail(fmt::format("invalid number of {}: {}", request.bytes ? "bytes" : "lines",
                                       quote_operand(value)));
        break;
      }
      case 'q': request.headers = 0; break;
      case 'v': request.headers = 1; break;
      case 'z': request.delimiter = '\0'; break;
      case 'F': request.by_name = request.follow = request.retry = true; break;
      case kRetry: request.retry = true; break;
      case kPid: {
        std::int64_t pid = 0;
        if (!parse_integer(value, pid) || pid < 0 || pid > INT32_MAX)
          return call.fail(fmt::format("invalid PID: {}", quote_operand(value)));
        request.pids.push_back(static_cast<int>(pid));
        break;
      }
      case kMaxUnchanged: {
        // Names are looked up in every round anyway.
        std::uint64_t rounds = 0;
        if (!parse_size(value, rounds))
          return call.fail(fmt::format("invalid maximum number of unchanged stats between opens: {}",
                                       quote_operand(value)));
        break;
      }
      case 'f': request.follow = true; break;
      case kFollow:
        request.follow = true;
        request.by_name = value == "name";
        if (!value.empty() && value != "name" && value != "descriptor")
          return call.fail(
              fmt::format("invalid argument {} for '--follow'\nValid arguments are:\n  - 'descriptor'\n  - "
                          "'name'\nTry 'tail --help' for more information.",
                          quote_operand(value)));
        break;
      case 's': {
        char* end = nullptr;
        request.interval = strtod(value.c_str(), &end);
        if (end == value.c_str() || *end || !(request.interval >= 0))
          return call.fail(fmt::format("invalid number of seconds: {}", quote_operand(value)));
        break;
      }
      default: break;
    }
  }
  auto& operands = options.operands();
  // The old form: +N as the first operand.
  if (!operands.empty() && operands[0].size() > 1 && operands[0][0] == '+' &&
      isdigit(static_cast<unsigned char>(operands[0][1])) && options.found().empty()) {
    request.from_start = true;
    parse_size(std::string_view(operands[0]).substr(1), request.count);
    operands.erase(operands.begin());
  }
  if (request.headers < 0) request.headers = operands.size() > 1;
  if (operands.empty()) operands.push_back("-");
  if (request.retry && !request.follow)
    call.complain("warning: --retry ignored; --retry is useful only when following");
  else if (request.retry && !request.by_name)
    call.complain("warning: --retry only effective for the initial open");
  if (!request.pids.empty() && !request.follow)
    call.complain("warning: PID ignored; --pid=PID is useful only when following");
  return -1;
}

}  // namespace

int run_tail(Invocation& call) {
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  Request request;
  if (int status = read_options(call, options, request); status >= 0) return status;
  Sink out(call.out());
  bool first = true, good = true;
  std::vector<Followed> followed;
  for (const std::string& operand : options.operands()) {
    std::unique_ptr<Input> owned;
    Input* in = &call.in();
    if (operand != "-") {
      auto opened = call.open_input(operand);
      if (!opened) {
        bool directory = opened.error().code() == Code::is_a_directory;
        call.complain(directory
                          ? fmt::format("error reading '{}': Is a directory", operand)
                          : fmt::format("cannot open '{}' for reading: {}", operand, reason(opened.error())));
        good = false;
        auto path = call.resolve(operand);
        if (request.retry && request.follow && path && !directory)
          followed.push_back({operand, *path, std::nullopt, 0});
        continue;
      }
      owned = std::move(*opened);
      in = owned.get();
      auto path = call.resolve(operand);
      auto stat = path ? call.fs().find(*path) : std::nullopt;
      if (stat) followed.push_back({operand, *path, stat->inode, stat->size});
    }
    if (request.headers)
      out.append(
          fmt::format("{}==> {} <==\n", first ? "" : "\n", operand == "-" ? "standard input" : operand));
    first = false;
    if (request.from_start)
      from_start(call, *in, out, request);
    else if (request.bytes)
      last_bytes(call, *in, out, request.count);
    else
      last_lines(call, *in, out, request);
  }
  bool standard =
      std::find(options.operands().begin(), options.operands().end(), "-") != options.operands().end();
  if (request.follow && followed.empty() && !standard) {
    out.flush();
    call.complain("no files remaining");
  }
  if (request.follow && !followed.empty()) Follower(call, out, request, std::move(followed)).run();
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::tail_program
