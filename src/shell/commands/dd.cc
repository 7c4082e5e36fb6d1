#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

int run_dd(Invocation& call) {
  std::string in_name, out_name, conversions, status_mode, in_flags, out_flags;
  std::uint64_t ibs = 512, obs = 512, count = UINT64_MAX, skip = 0, seek = 0;
  bool has_in = false, has_out = false;
  for (const std::string& arg : call.args().subspan(1)) {
    std::size_t equals = arg.find('=');
    if (equals == std::string::npos) {
      if (arg == "--") continue;
      return usage_error(call, fmt::format("unrecognized operand {}", quoted(arg)));
    }
    std::string key = arg.substr(0, equals), value = arg.substr(equals + 1);
    auto number = [&](std::uint64_t& out) {
      // 2x1k multiplies.
      out = 1;
      std::string_view rest = value;
      while (true) {
        std::size_t x = rest.find('x');
        std::uint64_t factor = 0;
        if (!parse_size(rest.substr(0, x), factor)) {
          call.complain(fmt::format("invalid number: {}", quoted(value)));
          return false;
        }
        if (__builtin_mul_overflow(out, factor, &out)) return false;
        if (x == std::string_view::npos) return true;
        rest.remove_prefix(x + 1);
      }
    };
    if (key == "if") in_name = value, has_in = true;
    else if (key == "of") out_name = value, has_out = true;
    else if (key == "bs") {
      if (!number(ibs)) return 1;
      obs = ibs;
    } else if (key == "ibs") { if (!number(ibs)) return 1; }
    else if (key == "obs") { if (!number(obs)) return 1; }
    else if (key == "count") { if (!number(count)) return 1; if (value.ends_with('B')) in_flags += ",count_bytes"; }
    else if (key == "skip" || key == "iseek") { if (!number(skip)) return 1; }
    else if (key == "seek" || key == "oseek") { if (!number(seek)) return 1; }
    else if (key == "conv") conversions = "," + value + ",";
    else if (key == "status") status_mode = value;
    else if (key == "iflag") in_flags += "," + value;
    else if (key == "oflag") out_flags += "," + value;
    else if (key == "cbs") continue;
    else return usage_error(call, fmt::format("unrecognized operand {}", quoted(arg)));
  }
  if (ibs == 0 || obs == 0) return call.fail("invalid number: '0'");
  auto conv = [&](std::string_view name) { return conversions.find("," + std::string(name) + ",") != std::string::npos; };
  std::unique_ptr<Input> owned;
  Input* in = &call.in();
  if (has_in) {
    auto opened = call.open_input(in_name);
    if (!opened) return call.fail(fmt::format("failed to open {}: {}", quoted(in_name), reason(opened.error())));
    owned = std::move(*opened);
    in = owned.get();
  }
  std::uint64_t skip_bytes = in_flags.find("skip_bytes") != std::string::npos ? skip : skip * ibs;
  std::uint64_t limit = count == UINT64_MAX ? UINT64_MAX : in_flags.find("count_bytes") != std::string::npos ? count : (count > UINT64_MAX / ibs ? UINT64_MAX : count * ibs);
  std::uint64_t seek_bytes = out_flags.find("seek_bytes") != std::string::npos ? seek : seek * obs;
  while (skip_bytes > 0) {
    std::string_view block = in->fill();
    if (block.empty()) break;
    std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(skip_bytes, block.size()));
    in->consume(take);
    skip_bytes -= take;
    call.charge(1);
  }
  bool special = out_name == "/dev/null" || out_name == "/dev/stdout" || out_name == "/dev/stderr" || out_name.starts_with("/dev/");
  std::unique_ptr<vfs::File> file;
  if (has_out && !special) {
    auto path = call.resolve(out_name);
    vfs::OpenOptions open;
    open.write = true;
    open.create = !conv("nocreat");
    open.exclusive = conv("excl");
    open.append = out_flags.find("append") != std::string::npos;
    open.mode = 0666 & ~call.umask();
    auto opened = path ? call.fs().open(*path, open) : Result<std::unique_ptr<vfs::File>>(fail(path.error()));
    if (!opened) return call.fail(fmt::format("failed to open {}: {}", quoted(out_name), reason(opened.error())));
    file = std::move(*opened);
    if (!conv("notrunc") && !open.append) {
      auto cut = file->truncate(seek_bytes);
      if (!cut) return call.fail(fmt::format("failed to truncate {}: {}", quoted(out_name), reason(cut.error())));
    }
    if (seek_bytes) (void)file->seek(static_cast<std::int64_t>(seek_bytes), vfs::Whence::start);
  }
  std::unique_ptr<Output> device;
  if (special) {
    auto opened = call.open_output(out_name, false);
    if (opened) device = std::move(*opened);
  }
  std::uint64_t total = 0, full = 0, partial = 0, out_full = 0, out_partial = 0;
  std::string pending, problem;
  auto put = [&](std::string_view bytes) {
    if (file) {
      auto done = file->write(bytes);
      if (!done) problem = reason(done.error());
      return static_cast<bool>(done);
    }
    return (device ? *device : call.out()).write(bytes);
  };
  std::string block;
  while (limit > 0) {
    block.clear();
    std::uint64_t want = std::min<std::uint64_t>(ibs, limit);
    while (block.size() < want) {
      std::string_view piece = in->fill();
      if (piece.empty()) break;
      std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(want - block.size(), piece.size()));
      block.append(piece.substr(0, take));
      in->consume(take);
    }
    if (block.empty()) break;
    call.charge(block.size() / 32 + 1);
    (block.size() == ibs ? full : partial) += 1;
    limit -= block.size();
    if (conv("sync")) block.resize(static_cast<std::size_t>(ibs), '\0');
    if (conv("ucase")) for (char& c : block) c = static_cast<char>(toupper(static_cast<unsigned char>(c)));
    if (conv("lcase")) for (char& c : block) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
    if (conv("swab")) for (std::size_t i = 0; i + 1 < block.size(); i += 2) std::swap(block[i], block[i + 1]);
    total += block.size();
    pending += block;
    std::size_t at = 0;
    while (pending.size() - at >= obs) {
      if (!put(std::string_view(pending).substr(at, static_cast<std::size_t>(obs)))) return call.fail(fmt::format("error writing {}: {}", quoted(has_out ? out_name : "standard output"), problem.empty() ? "write error" : problem));
      at += static_cast<std::size_t>(obs);
      ++out_full;
    }
    pending.erase(0, at);
  }
  if (!pending.empty()) {
    if (!put(pending)) return call.fail(fmt::format("error writing {}: {}", quoted(has_out ? out_name : "standard output"), problem.empty() ? "write error" : problem));
    ++out_partial;
  }
  if (file) (void)file->close();
  if (status_mode != "none") {
    std::string text = fmt::format("{}+{} records in\n{}+{} records out\n", full, partial, out_full, out_partial);
    if (status_mode != "noxfer") text += fmt::format("{} byte{} copied, 0.000001 s, 1.0 GB/s\n", total, total == 1 ? "" : "s");
    call.err().write(text);
  }
  return 0;
}

}  // namespace atl::shell
