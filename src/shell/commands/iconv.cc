#include <fmt/format.h>
#include <iconv.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/sink.h"

namespace atl::shell::iconv_program {

namespace {

// The character sets that may be asked for. The C library would look for any other name among its modules on
// the host; the ones here are simple tables.
constexpr std::string_view kSets[] = {
    "ANSI_X3.4-1968", "ASCII",        "BIG5",         "CP1250",       "CP1251",       "CP1252",
    "CP1253",         "CP1254",       "CP1255",       "CP1256",       "CP1257",       "CP1258",
    "CP437",          "CP850",        "CP852",        "CP866",        "EUC-JP",       "EUC-KR",
    "GB18030",        "GB2312",       "GBK",          "ISO-8859-1",   "ISO-8859-10",  "ISO-8859-13",
    "ISO-8859-14",    "ISO-8859-15",  "ISO-8859-16",  "ISO-8859-2",   "ISO-8859-3",   "ISO-8859-4",
    "ISO-8859-5",     "ISO-8859-6",   "ISO-8859-7",   "ISO-8859-8",   "ISO-8859-9",   "ISO8859-1",
    "ISO8859-15",     "ISO8859-2",    "ISO_8859-1",   "KOI8-R",       "KOI8-U",       "L1",
    "LATIN1",         "LATIN2",       "LATIN9",       "MACINTOSH",    "SHIFT-JIS",    "SHIFT_JIS",
    "SJIS",           "TIS-620",      "UCS-2",        "UCS-2BE",      "UCS-2LE",      "UCS-4",
    "UCS-4BE",        "UCS-4LE",      "US-ASCII",     "UTF-16",       "UTF-16BE",     "UTF-16LE",
    "UTF-32",         "UTF-32BE",     "UTF-32LE",     "UTF-7",        "UTF-8",        "UTF16",
    "UTF32",          "UTF8",         "WINDOWS-1250", "WINDOWS-1251", "WINDOWS-1252", "WINDOWS-1253",
    "WINDOWS-1254",   "WINDOWS-1255", "WINDOWS-1256", "WINDOWS-1257", "WINDOWS-1258",
};

struct Charset {
  std::string name;
  bool known = false, translit = false, ignore = false;
};

Charset charset(std::string_view text) {
  Charset out;
  std::size_t slash = text.find("//");
  for (char c : text.substr(0, slash)) out.name += static_cast<char>(toupper(static_cast<unsigned char>(c)));
  std::string flags;
  if (slash != std::string_view::npos)
    for (char c : text.substr(slash)) flags += static_cast<char>(toupper(static_cast<unsigned char>(c)));
  out.translit = flags.find("TRANSLIT") != std::string::npos;
  out.ignore = flags.find("IGNORE") != std::string::npos;
  if (out.name.empty()) out.name = "UTF-8";
  out.known = std::find(std::begin(kSets), std::end(kSets), out.name) != std::end(kSets);
  return out;
}

// The locale decides how a letter is written in a character set that lacks it. While this lives it is ours,
// whatever the program's is; it lives for one call of the library.
class OurLocale {
 public:
  OurLocale() : before_(uselocale(locale())) {}
  ~OurLocale() { uselocale(before_); }
  OurLocale(const OurLocale&) = delete;
  OurLocale& operator=(const OurLocale&) = delete;

 private:
  static locale_t locale() {
    static locale_t held = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return held;  // null if there is none: then nothing changes
  }
  locale_t before_;
};

class Converter {
 public:
  Converter(const Charset& from, const Charset& to)
      : handle_(iconv_open((to.name + (to.translit ? "//TRANSLIT" : "")).c_str(), from.name.c_str())),
        drop_(to.ignore) {}
  ~Converter() {
    if (good()) iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  // JUSTIFICATION: iconv's failure is a pointer of -1, and it takes its input as char* and only reads it.
  bool good() const { return handle_ != reinterpret_cast<iconv_t>(-1); }
  // Converts the whole text; the offset of the first bytes that do not fit, or npos.
  std::size_t run(Invocation& call, std::string_view text, Sink& out, bool drop) {
    char* in = const_cast<char*>(text.data());
    std::size_t left = text.size();
    while (true) {
      std::array<char, 16384> block;
      char* to = block.data();
      std::size_t room = block.size();
      int error = 0;
      {
        OurLocale ours;
        if (iconv(handle_, left ? &in : nullptr, &left, &to, &room) == static_cast<std::size_t>(-1))
          error = errno;
      }
      out.append(std::string_view(block.data(), block.size() - room));
      call.charge(4096);
      if (error == E2BIG) continue;
      if (error == 0 && left == 0) {
        if (!flushed_) {
          flushed_ = true;
          continue;
        }
        return std::string_view::npos;
      }
      if (error == 0) continue;
      incomplete = error == EINVAL;
      if (incomplete || !(drop || drop_)) return text.size() - left;
      dropped = true;
      ++in;
      --left;
    }
  }
  bool incomplete = false;
  bool dropped = false;

 private:
  iconv_t handle_;
  bool drop_;
  bool flushed_ = false;
};

int list(Invocation& call) {
  Sink out(call.out());
  for (std::string_view name : kSets) out.line(fmt::format("{}//", name));
  return out.finish(call);
}

}  // namespace

int run_iconv(Invocation& call) {
  static constexpr Option kOptions[] = {{'f', 'f', "from-code", Arg::required},
                                        {'t', 't', "to-code", Arg::required},
                                        {'l', 'l', "list"},
                                        {'c', 'c', ""},
                                        {'o', 'o', "output", Arg::required},
                                        {'s', 's', "silent"},
                                        {256, 0, "verbose"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::string from = "UTF-8", to = "UTF-8", output;
  bool drop = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'f') from = value;
    if (id == 't') to = value;
    if (id == 'l') return list(call);
    if (id == 'c') drop = true;
    if (id == 'o') output = value;
  }
  Charset source = charset(from), target = charset(to);
  if (!source.known || !target.known) {
    if (source.known)
      call.complain(fmt::format("conversion to encoding `{}' is not supported", to));
    else if (target.known)
      call.complain(fmt::format("conversion from encoding `{}' is not supported", from));
    else
      call.complain(fmt::format("conversions from `{}' and to `{}' are not supported", from, to));
    call.err().write("Try `iconv --help' or `iconv --usage' for more information.\n");
    return 1;
  }
  std::unique_ptr<Output> file;
  if (!output.empty()) {
    auto opened = call.open_output(output, false);
    if (!opened) return call.fail(fmt::format("unable to open output file: {}", reason(opened.error())));
    file = std::move(*opened);
  }
  Sink out(file ? *file : call.out());
  auto operands = options.operands();
  if (operands.empty()) operands.push_back("-");
  int status = 0;
  for (const std::string& operand : operands) {
    auto in = call.open_input(operand);
    if (!in) {
      call.complain(fmt::format("cannot open input file `{}': {}", operand, reason(in.error())));
      status = 1;
      continue;
    }
    Converter converter(source, target);
    if (!converter.good())
      return call.fail(fmt::format("conversion from `{}' to `{}' is not supported", from, to));
    std::string text = (*in)->read_all();
    std::size_t bad = converter.run(call, text, out, drop);
    if (bad != std::string::npos) {
      out.flush();
      return call.fail(converter.incomplete ? "incomplete character or shift sequence at end of buffer"
                                            : fmt::format("illegal input sequence at position {}", bad));
    }
    if (converter.dropped && target.ignore) {
      call.complain(fmt::format("illegal input sequence at position {}", text.size()));
      status = 1;
    }
  }
  return out.finish(call, status);
}

}  // namespace atl::shell::iconv_program
