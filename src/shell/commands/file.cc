#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"

namespace atl::shell::file_program {

namespace {

std::string describe_text(std::string_view data, std::string& mime) {
  bool ascii = true, utf8 = true, crlf = false, lf = false, long_line = false, controls = false;
  std::size_t column = 0;
  for (std::size_t i = 0; i < data.size();) {
    unsigned char c = static_cast<unsigned char>(data[i]);
    if (c >= 0x80) {
      ascii = false;
      std::size_t length = 1;
      if (utf8::read(data.substr(i), length) == 0xFFFD && length == 1) utf8 = false;
      i += length;
      ++column;
      continue;
    }
    if (c == '\n') {
      (i > 0 && data[i - 1] == '\r' ? crlf : lf) = true;
      long_line |= column > 300;
      column = 0;
    } else {
      ++column;
    }
    // What terminals understand is text: colours (27) and the bell (7) occur in logs.
    if (c < 32 && c != '\n' && c != '\t' && c != '\r' && c != '\f' && c != '\b' && c != 27 && c != 7)
      controls = true;
    ++i;
  }
  if (controls) {
    mime = "application/octet-stream";
    return "data";
  }
  std::string kind = ascii ? "ASCII text" : utf8 ? "Unicode text, UTF-8 text" : "ISO-8859 text";
  mime = "text/plain";
  std::string_view head = data.substr(0, 1024);
  if (data.starts_with("#!")) {
    std::string line(
        data.substr(2, data.find('\n') == std::string_view::npos ? data.size() : data.find('\n') - 2));
    while (line.starts_with(' ')) line.erase(0, 1);
    mime = "text/x-shellscript";
    if (line.find("bash") != std::string::npos)
      kind = "Bourne-Again shell script, " + kind + " executable";
    else if (line.find("python") != std::string::npos)
      kind = "Python script, " + kind + " executable", mime = "text/x-script.python";
    else if (line.find("/sh") != std::string::npos || line.ends_with("dash"))
      kind = "POSIX shell script, " + kind + " executable";
    else if (line.find("perl") != std::string::npos)
      kind = "Perl script text executable";
    else if (line.find("node") != std::string::npos)
      kind = "a " + line + " script, " + kind + " executable", mime = "application/javascript";
    else
      kind = "a " + line + " script, " + kind + " executable";
  } else if (head.find("<html") != std::string_view::npos ||
             head.find("<!DOCTYPE html") != std::string_view::npos ||
             head.find("<!doctype html") != std::string_view::npos) {
    kind = "HTML document, " + kind;
    mime = "text/html";
  } else if (head.starts_with("<?xml")) {
    kind = "XML 1.0 document, " + kind;
    mime = "text/xml";
  } else if (!data.empty() && (data[0] == '{' || data[0] == '[') &&
             (data.find('"') != std::string_view::npos || data.find(':') != std::string_view::npos)) {
    std::string_view trimmed = data;
    while (!trimmed.empty() && isspace(static_cast<unsigned char>(trimmed.back()))) trimmed.remove_suffix(1);
    if (trimmed.ends_with('}') || trimmed.ends_with(']')) {
      mime = "application/json";
      return "JSON text data";
    }
  }
  if (long_line || column > 300) kind += ", with very long lines";
  if (crlf && lf)
    kind += ", with CRLF, LF line terminators";
  else if (crlf)
    kind += ", with CRLF line terminators";
  else if (!lf)
    kind += ", with no line terminators";
  return kind;
}

std::string png(std::string_view d) {
  auto byte = [&](std::size_t i) {
    return i < d.size() ? static_cast<unsigned>(static_cast<unsigned char>(d[i])) : 0U;
  };
  auto number = [&](std::size_t i) {
    return byte(i) << 24 | byte(i + 1) << 16 | byte(i + 2) << 8 | byte(i + 3);
  };
  static constexpr std::string_view kColors[] = {"grayscale",   "", "/color RGB", " colormap",
                                                 " gray+alpha", "", "/color RGBA"};
  std::string color(byte(25) < std::size(kColors) ? kColors[byte(25)] : "");
  std::string_view bits = byte(25) == 0 ? "-bit " : "-bit";
  return fmt::format("PNG image data, {} x {}, {}{}{}, {}interlaced", number(16), number(20), byte(24), bits,
                     color, byte(28) ? "" : "non-");
}

std::string describe(std::string_view d, std::string& mime) {
  auto starts = [&](std::string_view magic) { return d.starts_with(magic); };
  auto byte = [&](std::size_t i) {
    return i < d.size() ? static_cast<unsigned>(static_cast<unsigned char>(d[i])) : 0U;
  };
  mime = "application/octet-stream";
  if (d.empty()) {
    mime = "inode/x-empty";
    return "empty";
  }
  if (d.size() == 1) return "very short file (no magic)";
  if (starts("\x1f\x8b"))
    return mime = "application/gzip",
           fmt::format("gzip compressed data, original size modulo 2^32 {}",
                       d.size() >= 4 ? byte(d.size() - 4) | byte(d.size() - 3) << 8 |
                                           byte(d.size() - 2) << 16 | byte(d.size() - 1) << 24
                                     : 0);
  if (starts("BZh"))
    return mime = "application/x-bzip2",
           fmt::format("bzip2 compressed data, block size = {}00k", byte(3) - '0');
  if (starts("\xFD"
             "7zXZ"))
    return mime = "application/x-xz", "XZ compressed data, checksum CRC64";
  if (starts("\x28\xB5\x2F\xFD"))
    return mime = "application/zstd", "Zstandard compressed data (v0.8+), Dictionary ID: None";
  if (starts("7z\xBC\xAF\x27\x1C"))
    return mime = "application/x-7z-compressed",
           fmt::format("7-zip archive data, version {}.{}", byte(6), byte(7));
  if (starts("PK\x03\x04"))
    return mime = "application/zip",
           fmt::format("Zip archive data, at least v{}.{} to extract, compression method={}", byte(4) / 10,
                       byte(4) % 10, byte(8) == 8 ? "deflate" : "store");
  if (starts("\x89PNG\r\n\x1a\n")) return mime = "image/png", png(d);
  if (starts("\xFF\xD8\xFF")) return mime = "image/jpeg", "JPEG image data";
  if (starts("GIF87a") || starts("GIF89a"))
    return mime = "image/gif", fmt::format("GIF image data, version {}, {} x {}", d.substr(3, 3),
                                           byte(6) | byte(7) << 8, byte(8) | byte(9) << 8);
  if (starts("%PDF-"))
    return mime = "application/pdf", fmt::format("PDF document, version {}", d.substr(5, 3));
  if (starts("\x7f"
             "ELF"))
    return mime = "application/x-executable",
           fmt::format("ELF {}-bit {}", byte(4) == 2 ? 64 : 32, byte(5) == 1 ? "LSB" : "MSB");
  if (starts("SQLite format 3")) return mime = "application/vnd.sqlite3", "SQLite 3.x database";
  if (starts("!<arch>\n")) return mime = "application/x-archive", "current ar archive";
  if (starts("\xCA\xFE\xBA\xBE"))
    return mime = "application/x-java-applet", fmt::format("compiled Java class data, version {}.0", byte(7));
  if (d.size() > 262 && d.substr(257, 5) == "ustar")
    return mime = "application/x-tar", d.substr(257, 8) == std::string_view("ustar  \0", 8)
                                           ? "POSIX tar archive (GNU)"
                                           : "POSIX tar archive";
  // No text has zero bytes; only the beginning is looked at.
  if (d.substr(0, 8192).find('\0') != std::string_view::npos) return "data";
  return describe_text(d.substr(0, 1 << 20), mime);
}

struct Settings {
  bool brief = false, pad = true, follow = false, type = false, encoding = false, extension = false,
       fatal = false;
  int zeros = 0;  // behind a name, and from two on behind the line as well
  std::string separator = ":";
};

// What is known of one operand.
struct Described {
  std::string text, mime;
  std::string data;    // what was looked at
  bool exists = true;  // false: `text` says that it does not
};

enum { kMimeType = 256, kMimeEncoding, kExtension };
constexpr Option kOptions[] = {{'b', 'b', "brief"},
                               {'i', 'i', "mime"},
                               {kMimeType, 0, "mime-type"},
                               {kMimeEncoding, 0, "mime-encoding"},
                               {'L', 'L', "dereference"},
                               {'h', 'h', "no-dereference"},
                               {'s', 's', "special-files"},
                               {'F', 'F', "separator", Arg::required},
                               {'N', 'N', "no-pad"},
                               {'0', '0', "print0"},
                               {'f', 'f', "files-from", Arg::required},
                               {kExtension, 0, "extension"},
                               {'n', 'n', "no-buffer"},
                               {'p', 'p', "preserve-date"},
                               {'r', 'r', "raw"},
                               {'S', 'S', "no-sandbox"},
                               {'E', 'E', ""},
                               {'v', 'v', ""}};

// The status to end with at once, if there is one. Names of -f are added to the operands.
std::optional<int> read_options(Invocation& call, CommandLine& options, Settings& s) {
  for (auto& [id, value] : options.found()) {
    if (id == 'b') s.brief = true;
    if (id == 'L') s.follow = true;
    if (id == 'h') s.follow = false;
    if (id == 'N') s.pad = false;
    if (id == '0') ++s.zeros;
    if (id == 'E') s.fatal = true;
    if (id == kExtension) s.extension = true;
    if (id == 'v') return call.out().write(fmt::format("file (Atoll) {}\n", ATOLL_VERSION)), 0;
    if (id == 'f') {
      auto in = value == "-" ? nullptr : open_or_complain(call, value);
      if (value != "-" && !in) return 1;
      std::string line;
      while ((in ? *in : call.in()).read_line(line)) options.operands().push_back(line);
    }
    if (id == 'i' || id == kMimeType) s.type = true;
    if (id == 'i' || id == kMimeEncoding) s.encoding = true;
    if (id == 'F') s.separator = value;
  }
  return std::nullopt;
}

Described describe_operand(Invocation& call, const std::string& operand, const Settings& s) {
  Described d;
  if (operand == "-") {
    d.data = call.in().read_all(), d.text = describe(d.data, d.mime);
    return d;
  }
  if (operand == "/dev/null") return {"character special (1/3)", "inode/chardevice"};
  if (operand == "/dev/zero") return {"character special (1/5)", "inode/chardevice"};
  const auto path = call.resolve(operand);
  const auto stat =
      path ? call.fs().find(*path, s.follow ? vfs::Follow::yes : vfs::Follow::no) : std::nullopt;
  if (!stat) {
    d.text = d.mime = fmt::format("cannot open `{}' (No such file or directory)", operand);
    d.exists = false;
    return d;
  }
  if (stat->is_directory()) return {"directory", "inode/directory"};
  if (stat->type == vfs::Type::fifo) return {"fifo (named pipe)", "inode/fifo"};
  if (stat->is_symlink()) {
    std::string target = call.fs().read_link(*path).value_or("");
    return {fmt::format("{}symbolic link to {}", call.fs().find(*path) ? "" : "broken ", target),
            "inode/symlink"};
  }
  d.data = call.fs().read_bytes(*path).value_or("");
  call.charge(d.data.size() / 16 + 1);
  d.text = describe(d.data, d.mime);
  return d;
}

// The description, or what the options ask for in its place.
std::string shown(const Described& d, const Settings& s) {
  if (s.extension)
    return d.mime == "image/png"    ? "png"
           : d.mime == "image/jpeg" ? "jpeg/jpg/jpe/jfif"
           : d.mime == "image/gif"  ? "gif"
                                    : "???";
  if (!s.type && !s.encoding) return d.text;
  bool utf8 =
      std::any_of(d.data.begin(), d.data.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  std::string charset =
      d.mime.starts_with("text/") || d.mime == "application/json" ? (utf8 ? "utf-8" : "us-ascii") : "binary";
  return s.type && s.encoding ? d.mime + "; charset=" + charset : s.type ? d.mime : charset;
}

}  // namespace

int run_file(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Settings s;
  if (const auto status = read_options(call, options, s)) return *status;
  const auto& operands = options.operands();
  if (operands.empty()) {
    call.err().write(
        "Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]\n            "
        "[--mime-type] [-e <testname>] [-F <separator>]  [-f <namefile>]\n            [-m <magicfiles>] [-P "
        "<parameter=value>] [--exclude-quiet]\n            <file> ...\n       file -C [-m <magicfiles>]\n    "
        "   file [--help]\n");
    return 1;
  }
  const auto name_of = [](const std::string& operand) { return operand == "-" ? "/dev/stdin" : operand; };
  std::size_t width = 0;
  for (const std::string& operand : operands) width = std::max(width, name_of(operand).size());
  std::string out;
  int status = 0;
  for (const std::string& operand : operands) {
    const Described described = describe_operand(call, operand, s);
    const std::string name = name_of(operand), text = shown(described, s);
    if (!s.brief)
      out += name + (s.zeros ? std::string(1, '\0') : "") + s.separator +
             std::string(s.pad ? width - name.size() + 1 : 1, ' ');
    out += text + (s.zeros > 1 ? std::string(1, '\0') : "\n");
    if (s.fatal && !described.exists && described.mime == text) status = 1;
  }
  call.out().write(out);
  return status;
}

}  // namespace atl::shell::file_program
