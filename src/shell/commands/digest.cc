#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::digest_program {

namespace {

enum Long { kTag = 256, kIgnoreMissing, kQuiet, kStatus, kStrict, kUntagged };

constexpr Option kOptions[] = {
    {'b', 'b', "binary"},
    {'c', 'c', "check"},
    {kTag, 0, "tag"},
    {'t', 't', "text"},
    {'z', 'z', "zero"},
    {kIgnoreMissing, 0, "ignore-missing"},
    {kQuiet, 0, "quiet"},
    {kStatus, 0, "status"},
    {kStrict, 0, "strict"},
    {'w', 'w', "warn"},
    {'l', 'l', "length", Arg::required},
};

constexpr Option kCksumOptions[] = {
    {'a', 'a', "algorithm", Arg::required},
    {'c', 'c', "check"},
    {'l', 'l', "length", Arg::required},
    {kTag, 0, "tag"},
    {kUntagged, 0, "untagged"},
    {'z', 'z', "zero"},
    {kIgnoreMissing, 0, "ignore-missing"},
    {kQuiet, 0, "quiet"},
    {kStatus, 0, "status"},
    {kStrict, 0, "strict"},
    {'w', 'w', "warn"},
};

struct Algorithm {
  std::string_view command, tag;
  const EVP_MD* (*method)();
};

constexpr Algorithm kAlgorithms[] = {
    {"md5sum", "MD5", EVP_md5},           {"sha1sum", "SHA1", EVP_sha1},
    {"sha224sum", "SHA224", EVP_sha224},  {"sha256sum", "SHA256", EVP_sha256},
    {"sha384sum", "SHA384", EVP_sha384},  {"sha512sum", "SHA512", EVP_sha512},
    {"b2sum", "BLAKE2b", EVP_blake2b512}, {"sm3sum", "SM3", EVP_sm3},
};
constexpr const Algorithm& kBlake = kAlgorithms[6];
constexpr std::uint64_t kBlakeBits = 512;

// BLAKE2b of a chosen length (RFC 7693, without a key): the library has the full length only.
class Blake {
 public:
  // The first word carries the parameters: length of the digest, no key, fan-out and depth 1.
  explicit Blake(std::size_t length) : length_(length) { h_[0] ^= 0x01010000 ^ length; }

  void update(std::string_view bytes) {
    for (char c : bytes) {
      // Not when the block is full but when more comes: the last block is compressed with another flag.
      if (used_ == sizeof block_) compress(false);
      block_[used_++] = static_cast<unsigned char>(c);
    }
  }
  std::string finish() {
    compress(true);
    std::string out;
    for (std::size_t i = 0; i < length_; ++i) out += fmt::format("{:02x}", h_[i / 8] >> (8 * (i % 8)) & 0xFF);
    return out;
  }

 private:
  static constexpr std::uint64_t kStart[8] = {0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B,
                                              0xA54FF53A5F1D36F1, 0x510E527FADE682D1, 0x9B05688C2B3E6C1F,
                                              0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179};
  static constexpr unsigned char kOrder[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                                   {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                                   {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                                   {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                                   {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                                   {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                                   {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                                   {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                                   {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                                   {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

  void compress(bool last) {
    total_ += used_;
    std::fill(block_ + used_, block_ + sizeof block_, 0);
    std::uint64_t m[16], v[16];
    memcpy(m, block_, sizeof m);
    for (std::size_t i = 0; i < 8; ++i) v[i] = h_[i], v[i + 8] = kStart[i];
    v[12] ^= total_;
    if (last) v[14] = ~v[14];
    auto mix = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::uint64_t x,
                   std::uint64_t y) {
      v[a] += v[b] + x;
      v[d] = std::rotr(v[d] ^ v[a], 32);
      v[c] += v[d];
      v[b] = std::rotr(v[b] ^ v[c], 24);
      v[a] += v[b] + y;
      v[d] = std::rotr(v[d] ^ v[a], 16);
      v[c] += v[d];
      v[b] = std::rotr(v[b] ^ v[c], 63);
    };
    for (std::size_t round = 0; round < 12; ++round) {
      const unsigned char* s = kOrder[round % 10];
      for (std::size_t i = 0; i < 4; ++i) mix(i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
      for (std::size_t i = 0; i < 4; ++i)
        mix(i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, m[s[2 * i + 8]], m[s[2 * i + 9]]);
    }
    for (std::size_t i = 0; i < 8; ++i) h_[i] ^= v[i] ^ v[i + 8];
    used_ = 0;
  }

  std::size_t length_, used_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t h_[8] = {kStart[0], kStart[1], kStart[2], kStart[3],
                         kStart[4], kStart[5], kStart[6], kStart[7]};
  unsigned char block_[128] = {};
};

struct Context {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(context); }
};

// `bits` is 0 for all that the algorithm has.
std::string digest(Invocation& call, Input& in, const Algorithm& algorithm, std::uint64_t bits) {
  if (bits > 0 && bits < kBlakeBits) {
    Blake blake(static_cast<std::size_t>(bits / 8));
    for (std::string_view block = in.fill(); !block.empty(); block = in.fill()) {
      call.charge(block.size() / 8 + 1);
      blake.update(block);
      in.consume(block.size());
    }
    return blake.finish();
  }
  Context context;
  EVP_DigestInit_ex(context.context, algorithm.method(), nullptr);
  while (true) {
    std::string_view block = in.fill();
    if (block.empty()) break;
    call.charge(block.size() / 16 + 1);
    EVP_DigestUpdate(context.context, block.data(), block.size());
    in.consume(block.size());
  }
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context.context, bytes, &size);
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

struct Request {
  const Algorithm* algorithm = nullptr;
  std::uint64_t bits = 0;
  bool checking = false, tag = false, binary = false, text = false;
  bool quiet = false, status_only = false, ignore_missing = false, strict = false, warn = false;
  char end = '\n';
  std::string_view only_checking;  // an option that means nothing else
};

std::string tag_of(const Request& r) {
  bool shorter = r.bits > 0 && r.bits < kBlakeBits;
  return std::string(r.algorithm->tag) + (shorter ? fmt::format("-{}", r.bits) : "");
}

// One line of a list of digests: what is wanted of which file, and by which algorithm.
struct Listed {
  std::string want, name;
  const Algorithm* algorithm = nullptr;
  std::uint64_t bits = 0;
};

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// "SHA256 (name) = hex", of this algorithm or, where none was chosen, of any.
bool parse_tagged(const std::string& line, const Request& r, Listed& out) {
  std::size_t open = line.find(" ("), close = line.rfind(") = ");
  if (open == std::string::npos || close == std::string::npos || close < open + 2) return false;
  std::string tag = line.substr(0, open);
  for (const Algorithm& row : kAlgorithms) {
    bool named = tag == row.tag, sized = &row == &kBlake && tag.starts_with("BLAKE2b-");
    if ((!named && !sized) || (r.algorithm && r.algorithm != &row)) continue;
    out.algorithm = &row;
    if (sized && !parse_size(std::string_view(tag).substr(8), out.bits)) return false;
    out.name = line.substr(open + 2, close - open - 2);
    out.want = line.substr(close + 4);
    return true;
  }
  return false;
}

bool parse_listed(std::string line, const Request& r, Listed& out) {
  bool escaped = line.starts_with('\\');
  if (escaped) line.erase(0, 1);
  if (!parse_tagged(line, r, out)) {
    // "digest name" for text and "digest *name" for binary, which are the same here.
    std::size_t space = line.find(' ');
    if (!r.algorithm || space == std::string::npos || space + 2 > line.size()) return false;
    out.algorithm = r.algorithm;
    out.want = line.substr(0, space);
    out.name = line.substr(space + (line[space + 1] == ' ' || line[space + 1] == '*' ? 2 : 1));
    if (r.algorithm == &kBlake) out.bits = out.want.size() * 4;
  }
  std::size_t size = out.bits ? static_cast<std::size_t>(out.bits / 4)
                              : static_cast<std::size_t>(EVP_MD_size(out.algorithm->method())) * 2;
  if (out.want.size() != size || !is_hex(out.want) || out.name.empty() || out.bits > kBlakeBits ||
      out.bits % 8)
    return false;
  // A backslash before the line says that the name in it is escaped.
  if (!escaped) return true;
  std::string name;
  for (std::size_t i = 0; i < out.name.size(); ++i) {
    bool code = out.name[i] == '\\' && i + 1 < out.name.size();
    char c = code ? out.name[++i] : out.name[i];
    name += code && c == 'n' ? '\n' : code && c == 'r' ? '\r' : c;
  }
  out.name = name;
  return true;
}

int check_file(Invocation& call, Input& in, const std::string& list, const Request& r) {
  std::string line;
  std::string shown_list = list == "-" ? "'standard input'" : list;
  std::uint64_t bad = 0, unreadable = 0, malformed = 0, valid = 0, verified = 0, number = 0;
  while (in.read_line(line)) {
    ++number;
    call.charge(line.size() + 1);
    if (line.empty() || line[0] == '#') continue;
    Listed row;
    if (!parse_listed(line, r, row)) {
      ++malformed;
      if (r.warn)
        call.complain(fmt::format("{}: {}: improperly formatted {} checksum line", shown_list, number,
                                  r.algorithm ? r.algorithm->tag : "CRC"));
      continue;
    }
    ++valid;
    auto file = row.name == "-" ? Result<std::unique_ptr<Input>>(nullptr) : call.open_input(row.name);
    if (!file) {
      if (r.ignore_missing && file.error().code() == Code::not_found) continue;
      call.complain(fmt::format("{}: {}", row.name, reason(file.error())));
      ++unreadable;
      if (!r.status_only) call.out().write(row.name + ": FAILED open or read\n");
      continue;
    }
    std::string got = digest(call, *file ? **file : call.in(), *row.algorithm, row.bits);
    ++verified;
    for (char& ch : row.want) ch = static_cast<char>(tolower(static_cast<unsigned char>(ch)));
    bool same = got == row.want;
    if (!same) ++bad;
    if (!r.status_only && (!same || !r.quiet))
      call.out().write(fmt::format("{}: {}\n", row.name, same ? "OK" : "FAILED"));
  }
  if (valid == 0) return call.fail(fmt::format("{}: no properly formatted checksum lines found", shown_list));
  if (!r.status_only) {
    if (malformed)
      call.complain(fmt::format("WARNING: {} line{} improperly formatted", malformed,
                                malformed == 1 ? " is" : "s are"));
    if (unreadable)
      call.complain(
          fmt::format("WARNING: {} listed file{} could not be read", unreadable, unreadable == 1 ? "" : "s"));
    if (bad)
      call.complain(fmt::format("WARNING: {} computed checksum{} did NOT match", bad, bad == 1 ? "" : "s"));
    if (r.ignore_missing && verified == 0) call.complain(fmt::format("{}: no file was verified", shown_list));
  }
  return bad || unreadable || (r.strict && malformed) || (r.ignore_missing && verified == 0) ? 1 : 0;
}

// -1: go on.
int read_options(Invocation& call, const CommandLine& options, Request& r) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'b':
        r.binary = true;
        r.text = false;
        break;
      case 't':
        r.text = true;
        r.binary = false;
        break;
      case 'c': r.checking = true; break;
      case kTag: r.tag = true; break;
      case kUntagged: r.tag = false; break;
      case 'z': r.end = '\0'; break;
      case kIgnoreMissing:
        r.ignore_missing = true;
        r.only_checking = "ignore-missing";
        break;
      case kQuiet:
        r.quiet = true;
        r.only_checking = "quiet";
        break;
      case kStatus:
        r.status_only = true;
        r.only_checking = "status";
        break;
      case kStrict:
        r.strict = true;
        r.only_checking = "strict";
        break;
      case 'w':
        r.warn = true;
        r.only_checking = "warn";
        break;
      case 'l':
        if (!parse_size(value, r.bits) || r.bits % 8) {
          call.complain(fmt::format("invalid length: {}", quote_operand(value)));
          return r.bits % 8 ? call.fail("length is not a multiple of 8") : 1;
        }
        if (r.bits > kBlakeBits) {
          call.complain(fmt::format("invalid length: {}", quote_operand(value)));
          return call.fail("maximum digest length for 'BLAKE2b' is 512 bits");
        }
        break;
      default: break;
    }
  }
  return -1;
}

int refuse_combinations(Invocation& call, const Request& r, bool tag_given) {
  if (tag_given && r.text) return usage_error(call, "--tag does not support --text mode");
  if (r.end == '\0' && r.checking)
    return usage_error(call, "the --zero option is not supported when verifying checksums");
  if (tag_given && r.checking)
    return usage_error(call, "the --tag option is meaningless when verifying checksums");
  if ((r.binary || r.text) && r.checking)
    return usage_error(call, "the --binary and --text options are meaningless when verifying checksums");
  if (!r.only_checking.empty() && !r.checking)
    return usage_error(
        call, fmt::format("the --{} option is meaningful only when verifying checksums", r.only_checking));
  return -1;
}

void print_digest(Invocation& call, Input& in, const std::string& shown, const Request& r) {
  std::string hex = digest(call, in, *r.algorithm, r.bits);
  std::string escaped = shown;
  bool escape = r.end == '\n' && shown.find_first_of("\\\n\r") != std::string::npos;
  if (escape) {
    escaped.clear();
    for (char ch : shown)
      escaped += ch == '\\' ? "\\\\" : ch == '\n' ? "\\n" : ch == '\r' ? "\\r" : std::string(1, ch);
  }
  call.out().write(
      r.tag ? fmt::format("{}{} ({}) = {}{}", escape ? "\\" : "", tag_of(r), escaped, hex, r.end)
            : fmt::format("{}{} {}{}{}", escape ? "\\" : "", hex, r.binary ? '*' : ' ', escaped, r.end));
}

int run_requests(Invocation& call, const std::vector<std::string>& operands, const Request& r) {
  int status = 0;
  bool good = each_input(call, operands, [&](Input& in, const std::string& shown) {
    if (r.checking)
      status |= check_file(call, in, shown, r);
    else
      print_digest(call, in, shown, r);
  });
  return good ? status : 1;
}

}  // namespace

int run_digest(Invocation& call) {
  std::string_view name = base_name(call.args()[0]);
  Request r;
  r.algorithm = &kAlgorithms[0];
  for (const Algorithm& row : kAlgorithms)
    if (row.command == name) r.algorithm = &row;
  std::span<const Option> table = kOptions;
  CommandLine options(call, r.algorithm == &kBlake ? table : table.first(table.size() - 1));
  if (options.stopped()) return options.status();
  if (int status = read_options(call, options, r); status >= 0) return status;
  if (int status = refuse_combinations(call, r, r.tag); status >= 0) return status;
  return run_requests(call, options.operands(), r);
}

namespace {

enum class Sum : unsigned char { crc, bsd, sysv, digest };

struct Total {
  std::uint32_t value = 0;
  std::uint64_t size = 0;
};

Total add_up(Invocation& call, Input& in, Sum kind) {
  static const auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i << 24;
      for (int k = 0; k < 8; ++k) c = c & 0x80000000U ? (c << 1) ^ 0x04C11DB7U : c << 1;
      table[i] = c;
    }
    return table;
  }();
  Total t;
  std::uint32_t& sum = t.value;
  while (true) {
    std::string_view block = in.fill();
    if (block.empty()) break;
    call.charge(block.size() / 8 + 1);
    for (char ch : block) {
      auto byte = static_cast<unsigned char>(ch);
      if (kind == Sum::crc)
        sum = (sum << 8) ^ kTable[((sum >> 24) ^ byte) & 0xFF];
      else if (kind == Sum::sysv)
        sum += byte;
      else
        // BSD rotates the sum to the right by one bit before each byte.
        sum = ((sum >> 1) + ((sum & 1) << 15) + byte) & 0xFFFF;
    }
    t.size += block.size();
    in.consume(block.size());
  }
  // POSIX appends the length to what is summed, lowest byte first.
  if (kind == Sum::crc) {
    for (std::uint64_t n = t.size; n; n >>= 8) sum = (sum << 8) ^ kTable[((sum >> 24) ^ (n & 0xFF)) & 0xFF];
    sum = ~sum;
  } else if (kind == Sum::sysv) {
    std::uint32_t folded = (sum & 0xFFFF) + (sum >> 16);
    sum = (folded & 0xFFFF) + (folded >> 16);
  }
  return t;
}

int print_sums(Invocation& call, const std::vector<std::string>& operands, Sum kind, bool names, char end) {
  return each_input(call, operands,
                    [&](Input& in, const std::string& shown) {
                      Total t = add_up(call, in, kind);
                      std::string line = kind == Sum::crc ? fmt::format("{} {}", t.value, t.size)
                                         : kind == Sum::sysv
                                             ? fmt::format("{} {}", t.value, (t.size + 511) / 512)
                                             : fmt::format("{:05} {:>5}", t.value, (t.size + 1023) / 1024);
                      call.out().write(names ? fmt::format("{} {}{}", line, shown, end) : line + end);
                    })
             ? 0
             : 1;
}

// sum: the checksums of BSD and System V.
int run_sum(Invocation& call) {
  static constexpr Option kSumOptions[] = {{'r', 'r', ""}, {'s', 's', "sysv"}};
  CommandLine options(call, kSumOptions);
  if (options.stopped()) return options.status();
  Sum kind = Sum::bsd;
  for (auto& [id, value] : options.found()) kind = id == 's' ? Sum::sysv : Sum::bsd;
  return print_sums(call, options.operands(), kind, !options.operands().empty(), '\n');
}

}  // namespace

int run_cksum(Invocation& call) {
  if (base_name(call.args()[0]) == "sum") return run_sum(call);
  CommandLine options(call, kCksumOptions);
  if (options.stopped()) return options.status();
  Request r;
  r.tag = true;
  if (int status = read_options(call, options, r); status >= 0) return status;
  static constexpr Choice kWords[] = {{"bsd", 0},    {"sysv", 1},    {"crc", 2},    {"md5", 3},
                                      {"sha1", 4},   {"sha224", 5},  {"sha256", 6}, {"sha384", 7},
                                      {"sha512", 8}, {"blake2b", 9}, {"sm3", 10}};
  Sum kind = Sum::crc;
  bool chosen = false, tag_given = false;
  for (auto& [id, value] : options.found()) {
    tag_given |= id == kTag;
    if (id != 'a') continue;
    auto word = choose(call, "--algorithm", value, kWords);
    if (!word) return 1;
    chosen = true;
    kind = *word == 0 ? Sum::bsd : *word == 1 ? Sum::sysv : *word == 2 ? Sum::crc : Sum::digest;
    r.algorithm = kind == Sum::digest ? &kAlgorithms[*word - 3] : nullptr;
  }
  if (r.bits && r.algorithm != &kBlake)
    return call.fail("--length is only supported with --algorithm=blake2b");
  if (chosen && r.checking && kind != Sum::digest)
    return call.fail("--check is not supported with --algorithm={bsd,sysv,crc}");
  if (int status = refuse_combinations(call, r, tag_given); status >= 0) return status;
  if (r.checking || kind == Sum::digest) return run_requests(call, options.operands(), r);
  return print_sums(call, options.operands(), kind, !options.operands().empty(), r.end);
}

}  // namespace atl::shell::digest_program
