#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::dd_program {

namespace {

struct Request {
  std::optional<std::string> in_name, out_name;
  std::uint64_t ibs = 512, obs = 512, cbs = 0, count = UINT64_MAX, skip = 0, seek = 0;
  std::vector<std::string> conversions, in_flags, out_flags;
  std::string status;

  bool has(const std::vector<std::string>& list, std::string_view name) const {
    return std::find(list.begin(), list.end(), name) != list.end();
  }
  bool converts(std::string_view name) const { return has(conversions, name); }
};

constexpr std::string_view kConversions[] = {"block",   "excl",    "fdatasync", "fsync",  "lcase",
                                             "nocreat", "noerror", "notrunc",   "sparse", "swab",
                                             "sync",    "ucase",   "unblock"};
constexpr std::string_view kInFlags[] = {"binary",   "count_bytes", "fullblock",
                                         "nonblock", "skip_bytes",  "text"};
constexpr std::string_view kOutFlags[] = {"append",     "binary", "dsync", "nonblock",
                                          "seek_bytes", "sync",   "text"};
constexpr std::string_view kStatuses[] = {"none", "noxfer", "progress"};

// 2x1k multiplies.
bool parse_product(std::string_view text, std::uint64_t& out) {
  out = 1;
  while (true) {
    std::size_t x = text.find('x');
    std::uint64_t factor = 0;
    if (!parse_size(text.substr(0, x), factor) || __builtin_mul_overflow(out, factor, &out)) return false;
    if (x == std::string_view::npos) return true;
    text.remove_prefix(x + 1);
  }
}

// A list of words, all of them known; else the one that is not.
std::optional<std::string> add_words(std::string_view value, std::span<const std::string_view> known,
                                     std::vector<std::string>& into) {
  while (true) {
    std::size_t comma = value.find(',');
    std::string word(value.substr(0, comma));
    if (std::find(known.begin(), known.end(), word) == known.end()) return word;
    into.push_back(std::move(word));
    if (comma == std::string_view::npos) return std::nullopt;
    value.remove_prefix(comma + 1);
  }
}

// Zero, or the status to end with.
int parse_operand(Invocation& call, const std::string& arg, Request& r) {
  std::size_t equals = arg.find('=');
  std::string key = arg.substr(0, equals);
  std::string value = equals == std::string::npos ? "" : arg.substr(equals + 1);
  auto number = [&](std::uint64_t& out) {
    return parse_product(value, out) ? 0 : call.fail(fmt::format("invalid number: {}", quote_operand(value)));
  };
  auto words = [&](std::string_view what, std::span<const std::string_view> known,
                   std::vector<std::string>& into) {
    auto bad = add_words(value, known, into);
    return bad ? usage_error(call, fmt::format("invalid {}: {}", what, quote_operand(*bad))) : 0;
  };
  if (equals == std::string::npos)
    return usage_error(call, fmt::format("unrecognized operand {}", quote_operand(arg)));
  if (key == "if")
    r.in_name = value;
  else if (key == "of")
    r.out_name = value;
  else if (key == "bs") {
    int bad = number(r.ibs);
    r.obs = r.ibs;
    return bad;
  } else if (key == "ibs")
    return number(r.ibs);
  else if (key == "obs")
    return number(r.obs);
  else if (key == "cbs")
    return number(r.cbs);
  else if (key == "skip" || key == "iseek")
    return number(r.skip);
  else if (key == "seek" || key == "oseek")
    return number(r.seek);
  else if (key == "count") {
    // count=5B counts bytes, not blocks.
    if (value.ends_with('B')) r.in_flags.emplace_back("count_bytes");
    return number(r.count);
  } else if (key == "conv")
    return words("conversion", kConversions, r.conversions);
  else if (key == "iflag")
    return words("input flag", kInFlags, r.in_flags);
  else if (key == "oflag")
    return words("output flag", kOutFlags, r.out_flags);
  else if (key == "status") {
    if (std::find(std::begin(kStatuses), std::end(kStatuses), value) == std::end(kStatuses))
      return usage_error(call, fmt::format("invalid status level: {}", quote_operand(value)));
    r.status = value;
  } else
    return usage_error(call, fmt::format("unrecognized operand {}", quote_operand(arg)));
  return 0;
}

class Copy {
 public:
  Copy(Invocation& call, const Request& r) : call_(call), r_(r) {}
  int run();

 private:
  bool open_in();
  bool open_out();
  void skip();
  std::string next_block(std::uint64_t most);
  void convert(std::string& block);
  void put_records(std::string_view bytes);
  bool put(std::string_view bytes);
  bool flush(std::size_t least);
  void report() const;
  std::uint64_t seek_bytes() const { return r_.has(r_.out_flags, "seek_bytes") ? r_.seek : r_.seek * r_.obs; }

  Invocation& call_;
  const Request& r_;
  std::unique_ptr<Input> owned_;
  Input* in_ = nullptr;
  std::unique_ptr<vfs::File> file_;
  std::unique_ptr<Output> device_;
  std::string pending_, record_;
  std::uint64_t total_ = 0, full_ = 0, partial_ = 0, out_full_ = 0, out_partial_ = 0;
};

bool Copy::open_in() {
  in_ = &call_.in();
  if (!r_.in_name) return true;
  auto opened = call_.open_input(*r_.in_name);
  if (!opened) {
    call_.complain(fmt::format("failed to open {}: {}", quote_operand(*r_.in_name), reason(opened.error())));
    return false;
  }
  owned_ = std::move(*opened);
  in_ = owned_.get();
  return true;
}

bool Copy::open_out() {
  if (!r_.out_name) return true;
  const std::string& name = *r_.out_name;
  auto refuse = [&](std::string_view what, const Error& why) {
    call_.complain(fmt::format("failed to {} {}: {}", what, quote_operand(name), reason(why)));
    return false;
  };
  if (name.starts_with("/dev/")) {
    auto opened = call_.open_output(name, false);
    if (!opened) return refuse("open", opened.error());
    device_ = std::move(*opened);
    return true;
  }
  auto path = call_.resolve(name);
  vfs::OpenOptions open;
  open.write = true;
  open.create = !r_.converts("nocreat");
  open.exclusive = r_.converts("excl");
  open.append = r_.has(r_.out_flags, "append");
  open.mode = 0666 & ~call_.umask();
  auto opened = path ? call_.fs().open(*path, open) : Result<std::unique_ptr<vfs::File>>(fail(path.error()));
  if (!opened) return refuse("open", opened.error());
  file_ = std::move(*opened);
  // What is before the place to write to is kept, what is behind it is cut off.
  if (!r_.converts("notrunc") && !open.append)
    if (auto cut = file_->truncate(seek_bytes()); !cut) return refuse("truncate", cut.error());
  if (seek_bytes()) (void)file_->seek(static_cast<std::int64_t>(seek_bytes()), vfs::Whence::start);
  return true;
}

void Copy::skip() {
  std::uint64_t left = r_.has(r_.in_flags, "skip_bytes") ? r_.skip : r_.skip * r_.ibs;
  while (left > 0) {
    std::string_view block = in_->fill();
    if (block.empty()) {
      call_.complain(
          fmt::format("{}: cannot skip to specified offset", r_.in_name ? *r_.in_name : "'standard input'"));
      return;
    }
    std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(left, block.size()));
    in_->consume(take);
    left -= take;
    call_.charge(1);
  }
}

std::string Copy::next_block(std::uint64_t most) {
  std::string block;
  std::uint64_t want = std::min(r_.ibs, most);
  while (block.size() < want) {
    std::string_view piece = in_->fill();
    if (piece.empty()) break;
    std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(want - block.size(), piece.size()));
    block.append(piece.substr(0, take));
    in_->consume(take);
    // A pipe gives less than a block at a time; like iflag=fullblock, blocks are filled, so that counts do
    // not depend on how the writer was scheduled.
    in_->held(block.size());
  }
  return block;
}

void Copy::convert(std::string& block) {
  // A short block is filled up before the bytes are swapped or changed.
  if (r_.converts("sync")) block.resize(static_cast<std::size_t>(r_.ibs), r_.converts("block") ? ' ' : '\0');
  if (r_.converts("ucase"))
    for (char& c : block) c = static_cast<char>(toupper(static_cast<unsigned char>(c)));
  if (r_.converts("lcase"))
    for (char& c : block) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  if (r_.converts("swab"))
    for (std::size_t i = 0; i + 1 < block.size(); i += 2) std::swap(block[i], block[i + 1]);
}

// Lines to records of cbs bytes, or back.
void Copy::put_records(std::string_view bytes) {
  std::size_t size = static_cast<std::size_t>(r_.cbs);
  bool blocks = r_.converts("block");
  for (char c : bytes) {
    bool full = !blocks && record_.size() == size;
    if (full || (blocks && c == '\n')) {
      if (blocks)
        record_.resize(size, ' ');
      else
        record_.erase(record_.find_last_not_of(' ') + 1);
      pending_ += record_;
      if (!blocks) pending_ += '\n';
      record_.clear();
    }
    if (!(blocks && c == '\n')) record_ += c;
  }
}

bool Copy::put(std::string_view bytes) {
  std::string problem;
  if (file_) {
    auto done = file_->write(bytes);
    if (done) return true;
    problem = reason(done.error());
  } else {
    Output& out = device_ ? *device_ : call_.out();
    if (out.write(bytes)) return true;
    problem = out.error();
  }
  call_.complain(
      fmt::format("error writing {}: {}", quote_operand(r_.out_name.value_or("standard output")), problem));
  return false;
}

bool Copy::flush(std::size_t least) {
  std::size_t at = 0;
  while (pending_.size() - at >= least && pending_.size() > at) {
    std::string_view piece = std::string_view(pending_).substr(at, static_cast<std::size_t>(r_.obs));
    if (!put(piece)) return false;
    ++(piece.size() == r_.obs ? out_full_ : out_partial_);
    at += piece.size();
  }
  pending_.erase(0, at);
  return true;
}

void Copy::report() const {
  if (r_.status == "none") return;
  std::string text =
      fmt::format("{}+{} records in\n{}+{} records out\n", full_, partial_, out_full_, out_partial_);
  if (r_.status != "noxfer")
    // The time is fixed, so that the same script always prints the same.
    text += fmt::format("{} byte{} copied, 0.000001 s, 1.0 GB/s\n", total_, total_ == 1 ? "" : "s");
  call_.err().write(text);
}

int Copy::run() {
  if (!open_in() || !open_out()) return 1;
  skip();
  std::uint64_t left = r_.count;
  if (left != UINT64_MAX && !r_.has(r_.in_flags, "count_bytes"))
    left = r_.count > UINT64_MAX / r_.ibs ? UINT64_MAX : r_.count * r_.ibs;
  bool records = (r_.converts("block") || r_.converts("unblock")) && r_.cbs > 0;
  while (left > 0) {
    std::string block = next_block(left);
    if (block.empty()) break;
    call_.charge(block.size() / 32 + 1);
    ++(block.size() == r_.ibs ? full_ : partial_);
    left -= block.size();
    convert(block);
    total_ += block.size();
    if (records)
      put_records(block);
    else
      pending_ += block;
    if (!flush(static_cast<std::size_t>(r_.obs))) return 1;
  }
  if (!record_.empty()) {
    if (r_.converts("block"))
      record_.resize(static_cast<std::size_t>(r_.cbs), ' ');
    else
      record_.erase(record_.find_last_not_of(' ') + 1);
    pending_ += record_ + (r_.converts("unblock") ? "\n" : "");
  }
  if (!flush(0)) return 1;
  if (file_) (void)file_->close();
  report();
  return 0;
}

}  // namespace

int run_dd(Invocation& call) {
  Request r;
  for (const std::string& arg : call.args().subspan(1)) {
    if (arg == "--") continue;
    if (arg.size() > 1 && arg[0] == '-') return call.bad_option(arg);
    if (int bad = parse_operand(call, arg, r)) return bad;
  }
  if (r.ibs == 0 || r.obs == 0) return call.fail("invalid number: '0'");
  return Copy(call, r).run();
}

}  // namespace atl::shell::dd_program
