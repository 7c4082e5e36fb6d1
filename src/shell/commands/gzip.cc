#include <fmt/format.h>

#include <algorithm>

#include "shell/archives/compression.h"
#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"

namespace atl::shell::gzip_program {

namespace {

constexpr Option kOptions[] = {
    {'c', 'c', "stdout"},
    {'c', 0, "to-stdout"},
    {'d', 'd', "decompress"},
    {'d', 0, "uncompress"},
    {'z', 'z', "compress"},
    {'f', 'f', "force"},
    {'k', 'k', "keep"},
    {'l', 'l', "list"},
    {'n', 'n', "no-name"},
    {'N', 'N', "name"},
    {'q', 'q', "quiet"},
    {'r', 'r', "recursive"},
    {'S', 'S', "suffix", Arg::required},
    {'t', 't', "test"},
    {'v', 'v', "verbose"},
    {'1', '1', "fast"},
    {'2', '2', ""},
    {'3', '3', ""},
    {'4', '4', ""},
    {'5', '5', ""},
    {'6', '6', ""},
    {'7', '7', ""},
    {'8', '8', ""},
    {'9', '9', "best"},
    {'o', 'o', "", Arg::required},
    {'T', 'T', "threads", Arg::required},
    {256, 0, "rm"},
    {257, 0, "rsyncable"},
    {'0', '0', ""},
    {'e', 'e', "extreme"},
    {'s', 's', "small"},
};

// What tells one compressor from another. The messages take the file's name, or both names.
struct Codec {
  std::string_view name;
  std::string_view suffix;
  std::string_view letters;  // the options of kOptions that it has
  int level;
  bool keeps;  // the input stays unless told otherwise
  std::string (*deflate)(Invocation&, std::string_view, int);
  Result<std::string> (*inflate)(Invocation&, std::string_view);
  std::string_view missing, exists, has_suffix, no_suffix;
  int bad_data_status;
};

constexpr Codec kGzip{"gzip",
                      ".gz",
                      "cdfklnqrStv123456789",
                      6,
                      false,
                      deflate_gzip,
                      inflate_gzip,
                      "{}: {}",
                      "{} already exists;\tnot overwritten",
                      "{} already has .gz suffix -- unchanged",
                      "{}: unknown suffix -- ignored",
                      1};
constexpr Codec kZstd{"zstd",
                      ".zst",
                      "cdzfklnqrtvoT123456789",
                      3,
                      true,
                      deflate_zstd,
                      inflate_zstd,
                      "can't stat {} : {} -- ignored ",
                      "{} already exists; not overwritten",
                      "",
                      "{}: unknown suffix (.zst expected). Can't derive the output file name. Specify it "
                      "with -o dstFileName. Ignoring.",
                      1};
constexpr Codec kBzip2{"bzip2",
                       ".bz2",
                       "cdzfkqstv123456789",
                       9,
                       false,
                       deflate_bzip2,
                       inflate_bzip2,
                       "Can't open input file {}: {}.",
                       "Output file {} already exists.",
                       "Input file {} already has .bz2 suffix.",
                       "Can't guess original name for {} -- using {}.out",
                       2};
constexpr Codec kXz{"xz",
                    ".xz",
                    "cdzfklqtvST0123456789e",
                    6,
                    false,
                    deflate_xz,
                    inflate_xz,
                    "{}: {}",
                    "{}: File exists",
                    "{}: File already has `.xz' suffix, skipping",
                    "{}: Filename has an unknown suffix, skipping",
                    1};

struct Request {
  const Codec* codec;
  bool to_stdout = false, decompress = false, force = false, keep = false, test = false, verbose = false,
       quiet = false, list = false, recursive = false;
  int level = 6;
  std::string suffix, output;
};

// One file on its way through the codec.
struct Work {
  std::string shown;
  std::optional<vfs::Path> path;
  std::optional<vfs::Stat> stat;
  std::string data, result, target;
};

class Compressor {
 public:
  Compressor(Invocation& call, const Request& r) : call_(call), r_(r) {}

  int status = 0;
  void file(const std::string& operand);

 private:
  void complain(std::string_view format, const std::string& a, std::string_view b = "", int code = 1) {
    say(fmt::format(fmt::runtime(format), a, b));
    status = std::max(status, code);
  }
  // gzip speaks of itself under any name that it is called by.
  void say(std::string_view message) {
    if (r_.codec == &kGzip)
      call_.err().write(fmt::format("gzip: {}\n", message));
    else
      call_.complain(message);
  }
  bool load(const std::string& operand, Work& work);
  bool expand(const std::string& operand, Work& work);
  bool compress(const std::string& operand, Work& work);
  void bad_data(const std::string& operand, const Work& work, const Error& error);
  void list(const Work& work);
  void store(Work& work);
  void walk(const Work& work);

  Invocation& call_;
  const Request& r_;
};

bool Compressor::load(const std::string& operand, Work& work) {
  work.shown = operand;
  if (operand == "-") {
    work.data = call_.in().read_all();
    return true;
  }
  auto resolved = call_.resolve(work.shown);
  if (r_.decompress && resolved && !call_.fs().find(*resolved) && !work.shown.ends_with(r_.suffix) &&
      r_.codec == &kGzip) {
    work.shown += r_.suffix;
    resolved = call_.resolve(work.shown);
  }
  auto found = resolved ? call_.fs().stat(*resolved) : Result<vfs::Stat>(fail(resolved.error()));
  if (!found) {
    complain(r_.codec->missing, work.shown, reason(found.error()));
    return false;
  }
  work.stat = *found;
  work.path = *resolved;
  if (found->is_directory()) {
    if (r_.recursive)
      walk(work);
    else if (r_.codec == &kXz)
      complain("{}: Is a directory, skipping", work.shown, "", 2);
    else
      complain(r_.codec == &kBzip2 ? "Input file {} is a directory." : "{} is a directory -- ignored",
               work.shown, "", r_.codec == &kGzip ? 2 : 1);
    return false;
  }
  auto bytes = call_.fs().read_bytes(*work.path);
  if (!bytes) {
    complain(r_.codec->missing, work.shown, reason(bytes.error()));
    return false;
  }
  work.data = std::move(*bytes);
  return true;
}

void Compressor::walk(const Work& work) {
  auto listing = call_.fs().list(*work.path);
  if (!listing) return;
  std::vector<std::string> names;
  for (auto entry : *listing) names.emplace_back(entry.name);
  for (const std::string& name : names) file(work.shown + "/" + name);
}

void Compressor::bad_data(const std::string& operand, const Work& work, const Error& error) {
  std::string name = operand == "-" ? (r_.codec == &kGzip   ? "stdin"
                                       : r_.codec == &kZstd ? "/*stdin*\\"
                                                            : "(stdin)")
                                    : work.shown;
  status = std::max(status, r_.codec->bad_data_status);
  if (r_.codec == &kBzip2 && error.code() == Code::unsupported)
    return call_.complain(fmt::format("{} is not a bzip2 file.", name));
  // gzip begins a new line before it reports damage.
  if (r_.codec == &kGzip) call_.err().write("\n");
  say(fmt::format("{}: {}", name,
                  r_.codec == &kGzip && work.data.size() < 2 ? "unexpected end of file" : error.message()));
}

void Compressor::list(const Work& work) {
  std::string name = work.shown.ends_with(r_.suffix)
                         ? work.shown.substr(0, work.shown.size() - r_.suffix.size())
                         : work.shown;
  double ratio = work.result.empty() ? 0
                                     : 100.0 * (1.0 - static_cast<double>(work.data.size() - 18) /
                                                          static_cast<double>(work.result.size()));
  call_.out().write(fmt::format(
      "         compressed        uncompressed  ratio uncompressed_name\n{:>19} {:>19} {:>5.1f}% {}\n",
      work.data.size(), work.result.size(), ratio, name));
}

// False when nothing is left to store.
bool Compressor::expand(const std::string& operand, Work& work) {
  bool wants_name = operand != "-" && !r_.to_stdout && !r_.test && !r_.list && r_.output.empty();
  bool guessed = false;
  if (wants_name) {
    const std::string& s = work.shown;
    static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
        {".tgz", ".tar"}, {".tbz2", ".tar"}, {".tbz", ".tar"},
        {".txz", ".tar"}, {".tzst", ".tar"}, {".lzma", ""}};
    if (s.ends_with(r_.suffix)) work.target = s.substr(0, s.size() - r_.suffix.size());
    for (auto [from, to] : kShort)
      if (work.target.empty() && s.ends_with(from))
        work.target = s.substr(0, s.size() - from.size()) + std::string(to);
    guessed = work.target.empty();
    if (guessed && r_.codec != &kBzip2) {
      // xz looks at the content first.
      auto readable = r_.codec == &kXz ? r_.codec->inflate(call_, work.data) : Result<std::string>("");
      if (!readable)
        bad_data(operand, work, readable.error());
      else if (!r_.quiet)
        complain(r_.codec->no_suffix, work.shown, "", r_.codec == &kGzip ? 2 : 1);
      else if (r_.codec == &kZstd)
        status = 1;
      return false;
    }
    if (guessed) {
      call_.complain(fmt::format(fmt::runtime(r_.codec->no_suffix), work.shown, work.shown));
      work.target = s + ".out";
    }
  }
  auto inflated = r_.codec->inflate(call_, work.data);
  if (!inflated) {
    if (r_.force && r_.to_stdout && inflated.error().code() == Code::unsupported)
      call_.out().write(work.data);
    else
      bad_data(operand, work, inflated.error());
    return false;
  }
  work.result = std::move(*inflated);
  if (r_.list) list(work);
  return !r_.test && !r_.list;
}

bool Compressor::compress(const std::string& operand, Work& work) {
  if (operand != "-" && !r_.to_stdout && !r_.codec->has_suffix.empty() && work.shown.ends_with(r_.suffix) &&
      !r_.force) {
    if (!r_.quiet)
      complain(r_.codec->has_suffix, work.shown, "", r_.codec == &kBzip2 ? 1 : r_.codec == &kGzip ? 0 : 2);
    return false;
  }
  work.target = work.shown + r_.suffix;
  work.result = r_.codec->deflate(call_, work.data, r_.level);
  return true;
}

void Compressor::store(Work& work) {
  auto to = call_.resolve(work.target);
  if (!to) return complain("{}: {}", work.target, reason(to.error()));
  if (call_.fs().find(*to) && !r_.force)
    return complain(r_.codec->exists, work.target, "", r_.codec == &kGzip ? 2 : 1);
  vfs::WriteOptions write;
  write.mode = work.stat ? work.stat->mode : 0644;
  write.parents = vfs::Parents::must_exist;
  auto written = call_.fs().write(*to, vfs::Content(work.result), write);
  if (!written) return complain("{}: {}", work.target, reason(written.error()));
  if (work.stat) (void)call_.fs().set_times(*to, {work.stat->accessed, work.stat->modified});
  if (!r_.keep && work.path && r_.output.empty()) (void)call_.fs().remove_file(*work.path);
  if (r_.verbose) {
    constexpr std::size_t frame = 18;  // gzip's header and trailer do not count
    const std::string& packed = r_.decompress ? work.data : work.result;
    const std::string& plain = r_.decompress ? work.result : work.data;
    double rest = static_cast<double>(packed.size() - std::min(frame, packed.size()));
    double saved = plain.empty() ? 0.0 : 100.0 * (1 - rest / static_cast<double>(plain.size()));
    call_.err().write(fmt::format("{}:\t{:5.1f}% -- {} {}\n", work.shown, saved,
                                  r_.keep ? "created" : "replaced with", work.target));
  }
}

void Compressor::file(const std::string& operand) {
  call_.charge(16);
  Work work;
  if (!load(operand, work)) return;
  bool expands = r_.decompress || r_.test || r_.list;
  if (!(expands ? expand(operand, work) : compress(operand, work))) return;
  if (!r_.output.empty())
    work.target = r_.output;
  else if (r_.to_stdout || operand == "-") {
    call_.out().write(work.result);
    return;
  }
  store(work);
}

// The rows of kOptions that the codec has; the rest it must refuse.
std::vector<Option> options_of(const Codec& codec) {
  std::vector<Option> out;
  for (const Option& row : kOptions) {
    if (row.id >= 256 ? (row.id == 256 ? &codec == &kZstd : &codec == &kGzip || &codec == &kZstd)
                      : codec.letters.find(static_cast<char>(row.id)) != std::string_view::npos)
      out.push_back(row);
  }
  return out;
}

int run_compressor(Invocation& call, const Codec& codec) {
  std::vector<Option> table = options_of(codec);
  CommandLine options(call, table);
  if (options.stopped()) return options.status();
  Request r;
  r.codec = &codec;
  r.suffix = codec.suffix;
  r.keep = codec.keeps;
  r.level = codec.level;
  std::string_view name = base_name(call.args()[0]);
  if (name.starts_with("un") || name == "gunzip" || name == "bunzip2") r.decompress = true;
  if (name.ends_with("cat")) r.decompress = r.to_stdout = true;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c': r.to_stdout = true; break;
      case 'd': r.decompress = true; break;
      case 'z': r.decompress = false; break;
      case 'f': r.force = true; break;
      case 'k': r.keep = true; break;
      case 'l': r.list = true; break;
      case 'q': r.quiet = true; break;
      case 'r': r.recursive = true; break;
      case 't': r.test = r.decompress = true; break;
      case 'v': r.verbose = true; break;
      case 'S': r.suffix = value.starts_with('.') ? value : "." + value; break;
      case 'o': r.output = value; break;
      case 256: r.keep = false; break;
      default:
        if (id >= '0' && id <= '9') r.level = id - '0';
    }
  }
  auto operands = options.operands();
  if (operands.empty()) operands.push_back("-");
  Compressor compressor(call, r);
  for (const std::string& operand : operands) compressor.file(operand);
  return compressor.status;
}

}  // namespace

int run_gzip(Invocation& call) {
  return run_compressor(call, kGzip);
}
int run_zstd(Invocation& call) {
  return run_compressor(call, kZstd);
}
int run_bzip2(Invocation& call) {
  return run_compressor(call, kBzip2);
}
int run_xz(Invocation& call) {
  return run_compressor(call, kXz);
}

}  // namespace atl::shell::gzip_program
