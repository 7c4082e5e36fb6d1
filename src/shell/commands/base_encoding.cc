#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/file_names.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

namespace {

constexpr std::string_view k64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view k64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view k32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view k32Hex = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
constexpr std::string_view k16 = "0123456789ABCDEF";

constexpr Option kOptions[] = {
    {'d', 'd', "decode"}, {'i', 'i', "ignore-garbage"}, {'w', 'w', "wrap", Arg::required}, {256, 0, "base64"}, {257, 0, "base64url"},
    {258, 0, "base32"}, {259, 0, "base32hex"}, {260, 0, "base16"},
};

struct Coding {
  std::string_view alphabet;
  unsigned bits;
  std::size_t group;
};

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
      bits = (bits << 8 | static_cast<unsigned char>(ch)) & 0xFFFFF;
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
  for (std::size_t i = 0; i < c.alphabet.size(); ++i) table[static_cast<unsigned char>(c.alphabet[i])] = static_cast<int>(i);
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
      if (count >= 8) *to++ = static_cast<char>((bits >> (count -= 8)) & 0xFF);
    }
    out.append({decoded.data(), static_cast<std::size_t>(to - decoded.data())});
    if (!valid) return false;
    in.consume(block.size());
  }
  return digits % c.group == 0 && pads == 0;
}

}  // namespace

int run_base_encoding(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::string_view name = base_name(call.args()[0]);
  Coding coding = name == "base32" ? Coding{k32, 5, 8} : Coding{k64, 6, 4};
  bool decoding = false, ignore = false;
  std::uint64_t wrap = 76;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'd': decoding = true; break;
      case 'i': ignore = true; break;
      case 'w':
        if (!parse_size(value, wrap)) return call.fail(fmt::format("invalid wrap size: {}", quoted(value)));
        break;
      case 257: coding = {k64Url, 6, 4}; break;
      case 258: coding = {k32, 5, 8}; break;
      case 259: coding = {k32Hex, 5, 8}; break;
      case 260: coding = {k16, 4, 2}; break;
      default: break;
    }
  }
  if (options.operands().size() > 1) return usage_error(call, fmt::format("extra operand {}", quoted(options.operands()[1])));
  Sink out(call.out());
  bool valid = true;
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    if (decoding) valid = decode(call, in, coding, ignore, out);
    else encode(call, in, coding, wrap, out);
  });
  int status = out.finish(call, good ? 0 : 1);
  if (!valid) return call.fail("invalid input");
  return status;
}

}  // namespace atl::shell
