#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include "shell/commands/commands.h"
#include "shell/commands/compression.h"
#include "shell/commands/file_names.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

namespace {

constexpr std::size_t kInflatedMax = 1U << 30;
constexpr std::size_t kRatioMax = 2000;
constexpr std::size_t kRatioFrom = 16 << 20;  // small outputs may have any ratio

bool too_much(std::size_t out, std::size_t in) { return out > kInflatedMax || (out > kRatioFrom && out / (in + 1) > kRatioMax); }

}  // namespace

std::string deflate_gzip(Invocation& call, std::string_view text, int level) {
  z_stream z{};
  std::string out;
  if (deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return out;
  out.resize(deflateBound(&z, text.size()) + 64);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  call.charge(text.size() / 4 + 1);
  return out;
}

Result<std::string> inflate_gzip(Invocation& call, std::string_view data) {
  std::string out;
  if (data.size() < 2 || static_cast<unsigned char>(data[0]) != 0x1f || static_cast<unsigned char>(data[1]) != 0x8b)
    return fail(Code::invalid_argument, "not in gzip format");
  std::string_view rest = data;
  while (!rest.empty()) {
    if (rest.size() < 2 || static_cast<unsigned char>(rest[0]) != 0x1f || static_cast<unsigned char>(rest[1]) != 0x8b) break;  // trailing garbage
    z_stream z{};
    if (inflateInit2(&z, 15 + 16) != Z_OK) return fail(Code::internal, "inflate");
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    z.avail_in = static_cast<uInt>(rest.size());
    int status = Z_OK;
    while (status == Z_OK) {
      char block[65536];
      z.next_out = reinterpret_cast<Bytef*>(block);
      z.avail_out = sizeof block;
      status = inflate(&z, Z_NO_FLUSH);
      out.append(block, sizeof block - z.avail_out);
      call.charge(2048);
      if (too_much(out.size(), data.size())) {
        inflateEnd(&z);
        return fail(Code::too_large, "decompressed data exceeds the limit");
      }
    }
    rest.remove_prefix(z.total_in);
    inflateEnd(&z);
    if (status == Z_BUF_ERROR || (status == Z_OK)) return fail(Code::invalid_argument, "unexpected end of file");
    if (status != Z_STREAM_END) return fail(Code::invalid_argument, "invalid compressed data--format violated");
  }
  return out;
}

std::string deflate_zstd(Invocation& call, std::string_view text, int level) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), level);
  out.resize(ZSTD_isError(size) ? 0 : size);
  call.charge(text.size() / 4 + 1);
  return out;
}

Result<std::string> inflate_zstd(Invocation& call, std::string_view data) {
  struct Stream {
    ZSTD_DStream* stream = ZSTD_createDStream();
    ~Stream() { ZSTD_freeDStream(stream); }
  } held;
  ZSTD_DCtx_setParameter(held.stream, ZSTD_d_windowLogMax, 27);
  ZSTD_inBuffer in{data.data(), data.size(), 0};
  std::string out;
  std::string block(65536, '\0');
  std::size_t status = 0;
  while (in.pos < in.size) {
    ZSTD_outBuffer target{block.data(), block.size(), 0};
    status = ZSTD_decompressStream(held.stream, &target, &in);
    if (ZSTD_isError(status)) return fail(Code::invalid_argument, ZSTD_getErrorName(status));
    out.append(block, 0, target.pos);
    call.charge(2048);
    if (too_much(out.size(), data.size())) return fail(Code::too_large, "decompressed data exceeds the limit");
  }
  if (status != 0) return fail(Code::invalid_argument, "premature end");
  return out;
}

namespace {

constexpr Option kOptions[] = {
    {'c', 'c', "stdout"}, {'c', 0, "to-stdout"}, {'d', 'd', "decompress"}, {'d', 0, "uncompress"}, {'f', 'f', "force"}, {'k', 'k', "keep"}, {'l', 'l', "list"},
    {'n', 'n', "no-name"}, {'N', 'N', "name"}, {'q', 'q', "quiet"}, {'r', 'r', "recursive"}, {'S', 'S', "suffix", Arg::required}, {'t', 't', "test"}, {'v', 'v', "verbose"},
    {'1', '1', "fast"}, {'2', '2', ""}, {'3', '3', ""}, {'4', '4', ""}, {'5', '5', ""}, {'6', '6', ""}, {'7', '7', ""}, {'8', '8', ""}, {'9', '9', "best"},
    {'o', 'o', "", Arg::required}, {'T', 'T', "threads", Arg::required}, {256, 0, "rm"}, {257, 0, "rsyncable"},
};

struct Request {
  bool to_stdout = false, decompress = false, force = false, keep = false, test = false, verbose = false, quiet = false, list = false, zstd = false;
  int level = 6;
  std::string suffix = ".gz", output;
};

bool one_file(Invocation& call, const std::string& operand, const Request& r) {
  std::string data;
  std::string shown = operand;
  std::optional<vfs::Stat> stat;
  std::optional<vfs::Path> path;
  if (operand == "-") {
    data = call.in().read_all();
  } else {
    auto resolved = call.resolve(shown);
    if (r.decompress && resolved && !call.fs().find(*resolved) && !shown.ends_with(r.suffix)) {
      shown += r.suffix;
      resolved = call.resolve(shown);
    }
    auto found = resolved ? call.fs().stat(*resolved) : Result<vfs::Stat>(fail(resolved.error()));
    if (!found) {
      call.complain(fmt::format("{}: {}", shown, reason(found.error())));
      return false;
    }
    if (found->is_directory()) {
      call.complain(fmt::format("{} is a directory -- ignored", shown));
      return false;
    }
    stat = *found;
    path = *resolved;
    auto bytes = call.fs().read_bytes(*path);
    if (!bytes) {
      call.complain(fmt::format("{}: {}", shown, reason(bytes.error())));
      return false;
    }
    data = std::move(*bytes);
  }
  std::string result;
  std::string target = shown;
  if (r.decompress || r.test || r.list) {
    if (operand != "-" && !r.to_stdout && !r.test && !r.list) {
      if (shown.ends_with(r.suffix)) target = shown.substr(0, shown.size() - r.suffix.size());
      else if (shown.ends_with(".tgz")) target = shown.substr(0, shown.size() - 4) + ".tar";
      else {
        if (!r.quiet) call.complain(fmt::format("{}: unknown suffix -- ignored", shown));
        return false;
      }
    }
    auto inflated = r.zstd ? inflate_zstd(call, data) : inflate_gzip(call, data);
    if (!inflated) {
      if (r.force && r.to_stdout && inflated.error().message().starts_with("not in")) {
        call.out().write(data);
        return true;
      }
      call.err().write(fmt::format("\n{}: {}: {}\n", call.args()[0], operand == "-" ? "stdin" : shown, inflated.error().message()).substr(r.zstd || inflated.error().message().starts_with("not in") ? 1 : 0));
      return false;
    }
    result = std::move(*inflated);
    if (r.test) return true;
    if (r.list) {
      std::string name = shown.ends_with(r.suffix) ? shown.substr(0, shown.size() - r.suffix.size()) : shown;
      double ratio = result.empty() ? 0 : 100.0 * (1.0 - static_cast<double>(data.size() - 18) / static_cast<double>(result.size()));
      call.out().write(fmt::format("         compressed        uncompressed  ratio uncompressed_name\n{:>19} {:>19} {:>5.1f}% {}\n", data.size(), result.size(), ratio, name));
      return true;
    }
  } else {
    if (operand != "-" && !r.to_stdout && shown.ends_with(r.suffix) && !r.force) {
      if (!r.quiet) call.complain(fmt::format("{} already has {} suffix -- unchanged", shown, r.suffix));
      return false;
    }
    target += r.suffix;
    result = r.zstd ? deflate_zstd(call, data, r.level) : deflate_gzip(call, data, r.level);
  }
  if (!r.output.empty()) target = r.output;
  else if (r.to_stdout || operand == "-") {
    call.out().write(result);
    return true;
  }
  auto to = call.resolve(target);
  if (!to) return false;
  if (call.fs().find(*to) && !r.force) {
    call.complain(fmt::format("{} already exists; not overwritten", target));
    return false;
  }
  vfs::WriteOptions write;
  write.mode = stat ? stat->mode : 0644;
  write.parents = vfs::Parents::must_exist;
  auto written = call.fs().write(*to, vfs::Content(result), write);
  if (!written) {
    call.complain(fmt::format("{}: {}", target, reason(written.error())));
    return false;
  }
  if (stat) (void)call.fs().set_times(*to, {stat->accessed, stat->modified});
  if (!r.keep && path && r.output.empty()) (void)call.fs().remove_file(*path);
  if (r.verbose) call.err().write(fmt::format("{}:\t{:.1f}% -- {} {}\n", shown, data.empty() ? 0.0 : 100.0 * (1 - static_cast<double>(result.size()) / static_cast<double>(data.size())), r.keep ? "created" : "replaced with", target));
  return true;
}

int run_compressor(Invocation& call, bool zstd) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  r.zstd = zstd;
  std::string_view name = base_name(call.args()[0]);
  if (zstd) {
    r.suffix = ".zst";
    r.keep = true;
    r.level = 3;
  }
  if (name.starts_with("un") || name.starts_with("gun")) r.decompress = true;
  if (name.ends_with("cat")) r.decompress = r.to_stdout = true;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c': r.to_stdout = true; break;
      case 'd': r.decompress = true; break;
      case 'f': r.force = true; break;
      case 'k': r.keep = true; break;
      case 'l': r.list = true; break;
      case 'q': r.quiet = true; break;
      case 't': r.test = r.decompress = true; break;
      case 'v': r.verbose = true; break;
      case 'S': r.suffix = value.starts_with('.') ? value : "." + value; break;
      case 'o': r.output = value; break;
      case 256: r.keep = false; break;
      default:
        if (id >= '1' && id <= '9') r.level = id - '0';
    }
  }
  auto operands = options.operands();
  if (operands.empty()) operands.push_back("-");
  bool good = true;
  for (const std::string& operand : operands) good &= one_file(call, operand, r);
  return good ? 0 : 1;
}

}  // namespace

int run_gzip(Invocation& call) { return run_compressor(call, false); }
int run_zstd(Invocation& call) { return run_compressor(call, true); }

}  // namespace atl::shell
