#include <fmt/format.h>
#include <openssl/evp.h>

#include "shell/commands/commands.h"
#include "shell/commands/file_names.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

namespace {

enum Long { kTag = 256, kIgnoreMissing, kQuiet, kStatus, kStrict };

constexpr Option kOptions[] = {
    {'b', 'b', "binary"}, {'c', 'c', "check"}, {kTag, 0, "tag"}, {'t', 't', "text"}, {'z', 'z', "zero"}, {kIgnoreMissing, 0, "ignore-missing"},
    {kQuiet, 0, "quiet"}, {kStatus, 0, "status"}, {kStrict, 0, "strict"}, {'w', 'w', "warn"}, {'l', 'l', "length", Arg::required},
};

struct Algorithm {
  std::string_view command, tag;
  const EVP_MD* (*method)();
};

constexpr Algorithm kAlgorithms[] = {
    {"md5sum", "MD5", EVP_md5},          {"sha1sum", "SHA1", EVP_sha1},       {"sha224sum", "SHA224", EVP_sha224},
    {"sha256sum", "SHA256", EVP_sha256}, {"sha384sum", "SHA384", EVP_sha384}, {"sha512sum", "SHA512", EVP_sha512},
    {"b2sum", "BLAKE2b", EVP_blake2b512},
};

std::string digest(Invocation& call, Input& in, const Algorithm& algorithm) {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestInit_ex(context, algorithm.method(), nullptr);
  struct Guard {
    EVP_MD_CTX* context;
    ~Guard() { EVP_MD_CTX_free(context); }
  } guard{context};
  while (true) {
    std::string_view block = in.fill();
    if (block.empty()) break;
    call.charge(block.size() / 16 + 1);
    EVP_DigestUpdate(context, block.data(), block.size());
    in.consume(block.size());
  }
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context, bytes, &size);
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

struct Check {
  bool quiet = false, status_only = false, ignore_missing = false, strict = false, warn = false;
};

int check_file(Invocation& call, Input& in, const std::string& list, const Algorithm& algorithm, const Check& c) {
  std::string line;
  std::string shown_list = list == "-" ? "'standard input'" : list;
  std::uint64_t bad = 0, unreadable = 0, malformed = 0, valid = 0, verified = 0, number = 0;
  while (in.read_line(line)) {
    ++number;
    call.charge(line.size() + 1);
    if (line.empty() || line[0] == '#') continue;
    std::string want, name;
    std::string prefix = fmt::format("{} (", algorithm.tag);
    if (line.starts_with(prefix)) {
      std::size_t close = line.rfind(") = ");
      if (close != std::string::npos) {
        name = line.substr(prefix.size(), close - prefix.size());
        want = line.substr(close + 4);
      }
    } else {
      std::size_t space = line.find(' ');
      if (space != std::string::npos && space + 2 <= line.size()) {
        want = line.substr(0, space);
        name = line.substr(space + (line[space + 1] == ' ' || line[space + 1] == '*' ? 2 : 1));
      }
    }
    std::size_t size = static_cast<std::size_t>(EVP_MD_size(algorithm.method())) * 2;
    if (want.size() != size || want.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos || name.empty()) {
      ++malformed;
      if (c.warn) call.complain(fmt::format("{}: {}: improperly formatted {} checksum line", shown_list, number, algorithm.tag));
      continue;
    }
    ++valid;
    auto file = name == "-" ? Result<std::unique_ptr<Input>>(nullptr) : call.open_input(name);
    if (!file) {
      if (c.ignore_missing && file.error().code() == Code::not_found) continue;
      call.complain(fmt::format("{}: {}", name, reason(file.error())));
      ++unreadable;
      if (!c.status_only) call.out().write(name + ": FAILED open or read\n");
      continue;
    }
    std::string got = digest(call, *file ? **file : call.in(), algorithm);
    ++verified;
    for (char& ch : want) ch = static_cast<char>(tolower(static_cast<unsigned char>(ch)));
    bool same = got == want;
    if (!same) ++bad;
    if (!c.status_only && (!same || !c.quiet)) call.out().write(fmt::format("{}: {}\n", name, same ? "OK" : "FAILED"));
  }
  if (valid == 0) return call.fail(fmt::format("{}: no properly formatted checksum lines found", shown_list));
  if (!c.status_only) {
    if (malformed) call.complain(fmt::format("WARNING: {} line{} improperly formatted", malformed, malformed == 1 ? " is" : "s are"));
    if (unreadable) call.complain(fmt::format("WARNING: {} listed file{} could not be read", unreadable, unreadable == 1 ? "" : "s"));
    if (bad) call.complain(fmt::format("WARNING: {} computed checksum{} did NOT match", bad, bad == 1 ? "" : "s"));
    if (c.ignore_missing && verified == 0) call.complain(fmt::format("{}: no file was verified", shown_list));
  }
  return bad || unreadable || (c.strict && malformed) || (c.ignore_missing && verified == 0) ? 1 : 0;
}

}  // namespace

int run_digest(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::string_view name = base_name(call.args()[0]);
  const Algorithm* algorithm = &kAlgorithms[0];
  for (const Algorithm& row : kAlgorithms)
    if (row.command == name) algorithm = &row;
  bool checking = false, tag = false, binary = false;
  const char* only_checking = nullptr;
  char end = '\n';
  Check c;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'b': binary = true; break;
      case 'c': checking = true; break;
      case kTag: tag = true; break;
      case 'z': end = '\0'; break;
      case kIgnoreMissing: c.ignore_missing = true; break;
      case kQuiet: c.quiet = true; break;
      case kStatus: c.status_only = true; break;
      case kStrict: c.strict = true; break;
      case 'w': c.warn = true; break;
      case 'l':
        if (algorithm->command != "b2sum") return call.bad_option("-l");
        if (value != "512" && value != "0") return call.fail(fmt::format("a length of {} bits is not supported, only 512", value));
        break;
      default: break;
    }
    for (auto [option, long_name] : {std::pair<int, const char*>{kIgnoreMissing, "ignore-missing"}, {kQuiet, "quiet"}, {kStatus, "status"}, {kStrict, "strict"}, {'w', "warn"}})
      if (id == option) only_checking = long_name;
  }
  if (only_checking && !checking) return usage_error(call, fmt::format("the --{} option is meaningful only when verifying checksums", only_checking));
  int status = 0;
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string& shown) {
    if (checking) {
      status |= check_file(call, in, shown, *algorithm, c);
      return;
    }
    std::string hex = digest(call, in, *algorithm);
    std::string escaped = shown;
    bool escape = end == '\n' && shown.find_first_of("\\\n\r") != std::string::npos;
    if (escape) {
      escaped.clear();
      for (char ch : shown) escaped += ch == '\\' ? "\\\\" : ch == '\n' ? "\\n" : ch == '\r' ? "\\r" : std::string(1, ch);
    }
    call.out().write(tag ? fmt::format("{}{} ({}) = {}{}", escape ? "\\" : "", algorithm->tag, escaped, hex, end)
                         : fmt::format("{}{} {}{}{}", escape ? "\\" : "", hex, binary ? '*' : ' ', escaped, end));
  });
  return good ? status : 1;
}

int run_cksum(Invocation& call) {
  static constexpr Option kCksumOptions[] = {{'a', 'a', "algorithm", Arg::required}, {kTag, 0, "tag"}, {256 + 20, 0, "untagged"}};
  CommandLine options(call, kCksumOptions);
  if (options.stopped()) return options.status();
  static const auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i << 24;
      for (int k = 0; k < 8; ++k) c = c & 0x80000000U ? (c << 1) ^ 0x04C11DB7U : c << 1;
      table[i] = c;
    }
    return table;
  }();
  const Algorithm* algorithm = nullptr;
  bool tagged = true;
  for (auto& [id, value] : options.found()) {
    if (id != 'a') tagged = id == kTag;
    if (id != 'a') continue;
    for (const Algorithm& row : kAlgorithms)
      if (std::string(row.command) == value + "sum" || (value == "blake2b" && row.command == "b2sum")) algorithm = &row;
    if (!algorithm && value != "crc") return usage_error(call, fmt::format("invalid argument {} for '--algorithm'", quoted(value)));
  }
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string& shown) {
    if (algorithm) {
      std::string hex = digest(call, in, *algorithm);
      call.out().write(tagged ? fmt::format("{} ({}) = {}\n", algorithm->tag, shown, hex) : fmt::format("{}  {}\n", hex, shown));
      return;
    }
    std::uint32_t crc = 0;
    std::uint64_t size = 0;
    while (true) {
      std::string_view block = in.fill();
      if (block.empty()) break;
      call.charge(block.size() / 8 + 1);
      for (char ch : block) crc = (crc << 8) ^ kTable[((crc >> 24) ^ static_cast<unsigned char>(ch)) & 0xFF];
      size += block.size();
      in.consume(block.size());
    }
    for (std::uint64_t n = size; n; n >>= 8) crc = (crc << 8) ^ kTable[((crc >> 24) ^ (n & 0xFF)) & 0xFF];
    call.out().write(options.operands().empty() ? fmt::format("{} {}\n", ~crc, size) : fmt::format("{} {} {}\n", ~crc, size, shown));
  });
  return good ? 0 : 1;
}

}  // namespace atl::shell
