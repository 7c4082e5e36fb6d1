#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::base_encoding_program {

namespace {

constexpr std::string_view k64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view k64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view k32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view k32Hex = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
constexpr std::string_view k16 = "0123456789ABCDEF";

constexpr std::string_view k2 = "01";

enum Long { kBase64 = 256, kBase64Url, kBase32, kBase32Hex, kBase16, kBase2Msbf, kBase2Lsbf, kZ85 };

constexpr Option kOptions[] = {
    {'d', 'd', "decode"},
    {'i', 'i', "ignore-garbage"},
    {'w', 'w', "wrap", Arg::required},
    {kBase64, 0, "base64"},
    {kBase64Url, 0, "base64url"},
    {kBase32, 0, "base32"},
    {kBase32Hex, 0, "base32hex"},
    {kBase16, 0, "base16"},
    {kBase2Msbf, 0, "base2msbf"},
    {kBase2Lsbf, 0, "base2lsbf"},
    {kZ85, 0, "z85"},
};

struct Coding {
  std::string_view alphabet;
  unsigned bits;
  std::size_t group;
  bool low_first = false;  // the bits of a byte from the lowest on
};

unsigned char mirrored(unsigned char c) {
  unsigned char out = 0;
  for (int bit = 0; bit < 8; ++bit) out = static_cast<unsigned char>(out << 1 | (c >> bit & 1));
  return out;
}

// Lines of `wrap` characters (0: one line without an end).
class Wrapped {
 public:
  Wrapped(Sink& out, std::uint64_t wrap) : out_(out), wrap_(wrap) {}

  void append(std::string_view text) {
    while (wrap_ && text.size() >= wrap_ - column_) {
      out_.append(text.substr(0, static_cast<std::size_t>(wrap_ - column_)));
      out_.put('\n');
      text.remove_prefix(static_cast<std::size_t>(wrap_ - column_));
      column_ = 0;
    }
    out_.append(text);
    column_ += text.size();
  }
  void finish() {
    if (wrap_ && column_ > 0) out_.put('\n');
  }

 private:
  Sink& out_;
  std::uint64_t wrap_;
  std::uint64_t column_ = 0;
};

void encode(Invocation& call, Input& in, const Coding& c, std::uint64_t wrap, Sink& out) {
  std::uint32_t bits = 0;
  unsigned count = 0;
  std::size_t digits = 0;
  Wrapped lines(out, wrap);
  std::string encoded;
  while (true) {
    std::string_view block = in.fill();
    if (block.empty()) break;
    call.charge(block.size() / 8 + 1);
    encoded.resize(block.size() * 8 / c.bits + 1);
    char* to = encoded.data();
    for (char ch : block) {
      auto byte = static_cast<unsigned char>(ch);
      bits = (bits << 8 | (c.low_first ? mirrored(byte) : byte)) & 0xFFFFF;
      count += 8;
      while (count >= c.bits) *to++ = c.alphabet[(bits >> (count -= c.bits)) & ((1U << c.bits) - 1)];
    }
    auto made = static_cast<std::size_t>(to - encoded.data());
    digits += made;
    lines.append({encoded.data(), made});
    in.consume(block.size());
  }
  encoded.clear();
  if (count > 0) encoded += c.alphabet[(bits << (c.bits - count)) & ((1U << c.bits) - 1)];
  while ((digits + encoded.size()) % c.group) encoded += '=';
  lines.append(encoded);
  lines.finish();
}

bool decode(Invocation& call, Input& in, const Coding& c, bool ignore, Sink& out) {
  std::array<int, 256> table;
  table.fill(-1);
  for (std::size_t i = 0; i < c.alphabet.size(); ++i)
    table[static_cast<unsigned char>(c.alphabet[i])] = static_cast<int>(i);
  std::uint32_t bits = 0;
  unsigned count = 0;
  std::size_t digits = 0, pads = 0;
  std::string decoded;
  while (true) {
    std::string_view block = in.fill();
    if (block.empty()) break;
    call.charge(block.size() / 8 + 1);
    decoded.resize(block.size());
    char* to = decoded.data();
    bool valid = true;
    for (char ch : block) {
      int value = table[static_cast<unsigned char>(ch)];
      if (value < 0 || pads) [[unlikely]] {
        if (ch == '\n') continue;
        if (ch == '=' && digits % c.group) {
          ++pads;
          if ((digits + pads) % c.group == 0) digits = pads = 0, count = 0, bits = 0;
          continue;
        }
        if (ignore && value < 0) continue;
        valid = false;
        break;
      }
      ++digits;
      bits = (bits << c.bits | static_cast<std::uint32_t>(value)) & 0xFFFFF;
      count += c.bits;
      if (count < 8) continue;
      auto byte = static_cast<unsigned char>((bits >> (count -= 8)) & 0xFF);
      *to++ = static_cast<char>(c.low_first ? mirrored(byte) : byte);
    }
    out.append({decoded.data(), static_cast<std::size_t>(to - decoded.data())});
    if (!valid) return false;
    in.consume(block.size());
  }
  return digits % c.group == 0 && pads == 0;
}

constexpr std::string_view k85 =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

// ZeroMQ's: four bytes are five digits, and nothing else can be written. Empty: good.
std::string encode85(Invocation& call, std::string_view data, std::uint64_t wrap, Sink& out) {
  if (data.size() % 4) return "invalid input (length must be multiple of 4 characters)";
  Wrapped lines(out, wrap);
  call.charge(data.size() / 4 + 1);
  for (; data.size() >= 4; data.remove_prefix(4)) {
    std::uint32_t value = 0;
    for (char c : data.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
    char digits[5];
    for (std::size_t i = 5; i-- > 0; value /= 85) digits[i] = k85[value % 85];
    lines.append({digits, 5});
  }
  lines.finish();
  return {};
}

bool decode85(Invocation& call, std::string_view text, bool ignore, Sink& out) {
  call.charge(text.size() / 4 + 1);
  std::uint64_t value = 0;
  int count = 0;
  for (char c : text) {
    std::size_t digit = k85.find(c);
    if (digit == std::string_view::npos || c == '\0') {
      if (c == '\n' || ignore) continue;
      return false;
    }
    value = value * 85 + digit;
    if (++count < 5) continue;
    if (value > UINT32_MAX) return false;
    for (int shift = 24; shift >= 0; shift -= 8) out.put(static_cast<char>(value >> shift & 0xFF));
    value = 0;
    count = 0;
  }
  return count == 0;
}

}  // namespace

int run_base_encoding(Invocation& call) {
  std::string_view name = base_name(call.args()[0]);
  // The encodings are basenc's to choose from; base64 and base32 have one each.
  bool any = name == "basenc";
  std::span<const Option> table =
      any ? std::span<const Option>(kOptions) : std::span<const Option>(kOptions).first(3);
  CommandLine options(call, table);
  if (options.stopped()) return options.status();
  Coding coding = name == "base32" ? Coding{k32, 5, 8} : Coding{k64, 6, 4};
  bool decoding = false, ignore = false, chosen = false, z85 = false;
  std::uint64_t wrap = 76;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'd': decoding = true; break;
      case 'i': ignore = true; break;
      case 'w':
        if (!parse_size(value, wrap))
          return call.fail(fmt::format("invalid wrap size: {}", quote_operand(value)));
        break;
      case kBase64:
        coding = {k64, 6, 4};
        chosen = true;
        break;
      case kBase64Url:
        coding = {k64Url, 6, 4};
        chosen = true;
        break;
      case kBase32:
        coding = {k32, 5, 8};
        chosen = true;
        break;
      case kBase32Hex:
        coding = {k32Hex, 5, 8};
        chosen = true;
        break;
      case kBase16:
        coding = {k16, 4, 2};
        chosen = true;
        break;
      case kBase2Msbf:
        coding = {k2, 1, 8};
        chosen = true;
        break;
      case kBase2Lsbf:
        coding = {k2, 1, 8, true};
        chosen = true;
        break;
      case kZ85: chosen = true; break;
      default: break;
    }
    if (id >= kBase64) z85 = id == kZ85;
  }
  if (any && !chosen) return usage_error(call, "missing encoding type");
  if (options.operands().size() > 1)
    return usage_error(call, fmt::format("extra operand {}", quote_operand(options.operands()[1])));
  Sink out(call.out());
  bool valid = true;
  std::string problem;
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    if (z85 && decoding)
      valid = decode85(call, in.read_all(), ignore, out);
    else if (z85)
      problem = encode85(call, in.read_all(), wrap, out);
    else if (decoding)
      valid = decode(call, in, coding, ignore, out);
    else
      encode(call, in, coding, wrap, out);
  });
  int status = out.finish(call, good ? 0 : 1);
  if (!problem.empty()) return call.fail(problem);
  if (!valid) return call.fail("invalid input");
  return status;
}

}  // namespace atl::shell::base_encoding_program
