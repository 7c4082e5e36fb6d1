#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "shell/archives/compression.h"
#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/commands/curl/grant.h"
#include "shell/commands/curl/transfer.h"
#include "shell/files/file_names.h"
#include "shell/runner.h"
#include "shell/text/numbers.h"

namespace atl::shell::curl_program {

namespace {

// Exit statuses, as curl numbers them.
enum Exit {
  kBadUsage = 2,
  kBadUrl = 3,
  kUnsupported = 1,
  kCannotConnect = 7,
  kHttpError = 22,
  kCannotWrite = 23,
  kCannotRead = 26,
  kTimeout = 28,
  kTooManyRedirects = 47,
  kBadCertificate = 60,
  kTooLarge = 63
};

enum Long {
  kDataRaw = 256,
  kDataBinary,
  kDataUrlencode,
  kJson,
  kConnectTimeout,
  kMaxRedirects,
  kCompressed,
  kUrl,
  kFailWithBody,
  kOutputDirectory
};

constexpr Option kOptions[] = {
    {'s', 's', "silent"},
    {'S', 'S', "show-error"},
    {'f', 'f', "fail"},
    {kFailWithBody, 0, "fail-with-body"},
    {'L', 'L', "location"},
    {'o', 'o', "output", Arg::required},
    {'O', 'O', "remote-name"},
    {'X', 'X', "request", Arg::required},
    {'H', 'H', "header", Arg::required},
    {'d', 'd', "data", Arg::required},
    {'d', 0, "data-ascii", Arg::required},
    {kDataRaw, 0, "data-raw", Arg::required},
    {kDataBinary, 0, "data-binary", Arg::required},
    {kDataUrlencode, 0, "data-urlencode", Arg::required},
    {kJson, 0, "json", Arg::required},
    {'G', 'G', "get"},
    {'I', 'I', "head"},
    {'i', 'i', "include"},
    {'u', 'u', "user", Arg::required},
    {'k', 'k', "insecure"},
    {'w', 'w', "write-out", Arg::required},
    {'m', 'm', "max-time", Arg::required},
    {kConnectTimeout, 0, "connect-timeout", Arg::required},
    {'A', 'A', "user-agent", Arg::required},
    {'e', 'e', "referer", Arg::required},
    {'b', 'b', "cookie", Arg::required},
    {'D', 'D', "dump-header", Arg::required},
    {'v', 'v', "verbose"},
    {kMaxRedirects, 0, "max-redirs", Arg::required},
    {kCompressed, 0, "compressed"},
    {kUrl, 0, "url", Arg::required},
    {'N', 'N', "no-buffer"},
    {'#', '#', "progress-bar"},
    {'q', 'q', "disable"},
    {'T', 'T', "upload-file", Arg::required},
};

struct Job {
  bool silent = false, show_error = false, fail = false, keep_body = false, follow = false,
       remote_name = false, get = false, head = false, include = false, compressed = false, verbose = false;
  std::string method, data, user, write_out, dump_header, upload;
  bool has_data = false, json = false, has_upload = false;
  std::vector<std::string> headers, outputs, urls;
  std::chrono::milliseconds max_time{300'000}, connect_time{60'000};
  std::int64_t redirects_max = 50;
};

// What is known at the end of one URL, for -w.
struct Summary {
  curl::Target target;
  curl::Answer answer;
  std::string method, redirect_url;
  int redirects = 0;
  double seconds = 0;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool plain =
        isalnum(static_cast<unsigned char>(c)) || std::string_view("-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return tolower(static_cast<unsigned char>(x)) == tolower(static_cast<unsigned char>(y));
  });
}

std::string_view header(const curl::Answer& answer, std::string_view name) {
  for (const auto& [key, value] : answer.headers)
    if (same_name(key, name)) return value;
  return {};
}

// A line end in a header or a method would begin a header of its own.
bool is_clean(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
}

class Curl {
 public:
  explicit Curl(Invocation& call) : call_(call) {}

  // -1: go on.
  int read_arguments();
  int run();

 private:
  int trouble(int status, std::string_view message) {
    if (!job_.silent || job_.show_error) call_.err().write(fmt::format("curl: ({}) {}\n", status, message));
    return status;
  }
  std::optional<std::string> file_text(const std::string& name);
  int add_data(int id, const std::string& value);
  bool parse_seconds(std::string_view option, const std::string& value, std::chrono::milliseconds& out);
  int one_url(const std::string& text, const std::string& output);
  std::vector<std::pair<std::string, std::string>> request_headers(const curl::Target& target,
                                                                   bool with_user) const;
  int exchange(Summary& summary, std::string& heads);
  int failed(const Error& error, const curl::Target& target);
  int deliver(const Summary& summary, const std::string& heads, std::string output);
  std::string written_out(const Summary& summary) const;

  Invocation& call_;
  Job job_;
};

std::optional<std::string> Curl::file_text(const std::string& name) {
  auto in = call_.open_input(name);
  if (!in) {
    trouble(kCannotRead, fmt::format("Failed to open {}", name));
    return std::nullopt;
  }
  return (*in)->read_all();
}

int Curl::add_data(int id, const std::string& value) {
  std::string text = value;
  if (value.starts_with('@') && id != kDataRaw && id != kDataUrlencode) {
    auto content = file_text(value.substr(1));
    if (!content) return kCannotRead;
    text = *content;
    // -d drops line ends of a file, --data-binary keeps them.
    if (id == 'd') std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\0'; });
  } else if (id == kDataUrlencode) {
    std::size_t equals = value.find('=');
    text = equals == std::string::npos
               ? escaped(value)
               : value.substr(0, equals) + (equals ? "=" : "") + escaped(value.substr(equals + 1));
  }
  if (job_.has_data && id != kJson) job_.data += '&';
  job_.data += text;
  job_.has_data = true;
  job_.json |= id == kJson;
  return -1;
}

bool Curl::parse_seconds(std::string_view option, const std::string& value, std::chrono::milliseconds& out) {
  char* end = nullptr;
  double seconds = strtod(value.c_str(), &end);
  if (end == value.c_str() || *end || !(seconds >= 0) || seconds > 1e6) {
    call_.err().write(fmt::format("curl: option {}: expected a proper numerical parameter\n", option));
    return false;
  }
  if (seconds > 0) out = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  return true;
}

int Curl::read_arguments() {
  CommandLine options(call_, kOptions, {.status = kBadUsage});
  if (options.stopped()) return options.status();
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 's': job_.silent = true; break;
      case 'S': job_.show_error = true; break;
      case 'f': job_.fail = true; break;
      case kFailWithBody: job_.fail = job_.keep_body = true; break;
      case 'L': job_.follow = true; break;
      case 'o': job_.outputs.push_back(value); break;
      case 'O': job_.remote_name = true; break;
      case 'X': job_.method = value; break;
      case 'H': job_.headers.push_back(value); break;
      case 'd':
      case kDataRaw:
      case kDataBinary:
      case kDataUrlencode:
      case kJson:
        if (int status = add_data(id, value); status >= 0) return status;
        break;
      case 'G': job_.get = true; break;
      case 'I': job_.head = true; break;
      case 'i': job_.include = true; break;
      case 'u': job_.user = value; break;
      case 'k':
        call_.err().write("curl: option -k: certificates are always verified here\n");
        return kBadUsage;
      case 'w': job_.write_out = value; break;
      case 'm':
        if (!parse_seconds("-m", value, job_.max_time)) return kBadUsage;
        break;
      case kConnectTimeout:
        if (!parse_seconds("--connect-timeout", value, job_.connect_time)) return kBadUsage;
        break;
      case 'A': job_.headers.push_back("User-Agent: " + value); break;
      case 'e': job_.headers.push_back("Referer: " + value); break;
      case 'b':
        if (value.find('=') == std::string::npos) {
          call_.err().write("curl: option -b: cookie files are not supported, give NAME=VALUE\n");
          return kBadUsage;
        }
        job_.headers.push_back("Cookie: " + value);
        break;
      case 'D': job_.dump_header = value; break;
      case 'v': job_.verbose = true; break;
      case 'T':
        job_.upload = value;
        job_.has_upload = true;
        break;
      case kMaxRedirects:
        if (!parse_integer(value, job_.redirects_max)) {
          call_.err().write("curl: option --max-redirs: expected a proper numerical parameter\n");
          return kBadUsage;
        }
        break;
      case kCompressed: job_.compressed = true; break;
      case kUrl: job_.urls.push_back(value); break;
      default: break;
    }
  }
  for (const std::string& url : options.operands()) job_.urls.push_back(url);
  bool token = std::all_of(job_.method.begin(), job_.method.end(), [](char c) {
    return isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  });
  if (!token || !std::all_of(job_.headers.begin(), job_.headers.end(), is_clean)) {
    call_.err().write("curl: a method or header with characters that HTTP does not allow\n");
    return kBadUsage;
  }
  if (!job_.urls.empty()) return -1;
  call_.err().write("curl: try 'curl --help' or 'curl --manual' for more information\n");
  return kBadUsage;
}

std::vector<std::pair<std::string, std::string>> Curl::request_headers(const curl::Target& target,
                                                                       bool with_user) const {
  std::vector<std::pair<std::string, std::string>> out;
  auto given = [&](std::string_view name) {
    return std::any_of(job_.headers.begin(), job_.headers.end(), [&](const std::string& line) {
      return same_name(std::string_view(line).substr(0, line.find_first_of(":;")), name);
    });
  };
  auto add = [&](std::string name, std::string value) {
    if (!given(name)) out.emplace_back(std::move(name), std::move(value));
  };
  add("User-Agent", "curl/7.88.1");
  add("Accept", job_.json ? "application/json" : "*/*");
  if (job_.compressed) add("Accept-Encoding", "gzip");
  if (job_.has_data && !job_.get)
    add("Content-Type", job_.json ? "application/json" : "application/x-www-form-urlencoded");
  std::string user = job_.user.empty() ? target.user : job_.user;
  if (!user.empty() && with_user) {
    add("Authorization", "Basic " + to_base64(user));
  }
  for (const std::string& line : job_.headers) {
    std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (line.ends_with(';')) out.emplace_back(line.substr(0, line.size() - 1), "");
      continue;
    }
    std::string value = line.substr(colon + 1);
    value.erase(0, std::min(value.find_first_not_of(" \t"), value.size()));
    std::string name = line.substr(0, colon);
    bool secret =
        same_name(name, "Authorization") || same_name(name, "Cookie");  // these stay with their host
    if (!value.empty() && (with_user || !secret)) out.emplace_back(std::move(name), std::move(value));
  }
  return out;
}

int Curl::failed(const Error& error, const curl::Target& target) {
  if (error.code() == Code::deadline_exceeded)
    return trouble(kTimeout, fmt::format("Operation timed out after {} milliseconds", job_.max_time.count()));
  if (error.code() == Code::too_large)
    return trouble(kTooLarge,
                   fmt::format("Exceeded the maximum allowed file size ({} bytes)", curl::kBodyBytesMax));
  std::string message(error.message());
  if (message.find("TLS") != std::string::npos) return trouble(kBadCertificate, message);
  return trouble(kCannotConnect,
                 fmt::format("Failed to connect to {} port {}: {}", target.host, target.port, message));
}

// Goes from answer to answer while they redirect. Every place on the way must be granted.
int Curl::exchange(Summary& summary, std::string& heads) {
  curl::Request request;
  request.method = summary.method;
  request.body = job_.has_data && !job_.get ? job_.data : "";
  if (job_.has_upload) {
    auto text = file_text(job_.upload);
    if (!text) return kCannotRead;
    request.body = *text;
  }
  std::string first_host = summary.target.host;
  auto started = std::chrono::steady_clock::now();
  while (true) {
    const auto& grants = call_.runner().machine().network;
    if (!curl::granted(grants, request.method, summary.target))
      return trouble(
          kCannotConnect,
          grants.empty()
              ? fmt::format("{}: network access is not granted to this shell", summary.target.text())
              : fmt::format("{} {}: not among the URLs and methods granted to this shell", request.method,
                            summary.target.text()));
    auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started);
    request.target = summary.target;
    // Credentials are not sent to another host that an answer redirects to.
    request.headers = request_headers(summary.target, summary.target.host == first_host);
    request.connect_time = job_.connect_time;
    request.total_time = std::max(job_.max_time - passed, std::chrono::milliseconds(1));
    if (job_.verbose)
      call_.err().write(
          fmt::format("> {} {}{} HTTP/1.1\n", request.method, summary.target.path, summary.target.query));
    auto answer = curl::transfer(call_, request);
    if (!answer) return failed(answer.error(), summary.target);
    summary.answer = std::move(*answer);
    summary.method = request.method;
    summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    std::string head = fmt::format("HTTP/1.1 {}\r\n", summary.answer.status);
    for (const auto& [name, value] : summary.answer.headers) head += fmt::format("{}: {}\r\n", name, value);
    heads += head + "\r\n";
    if (job_.verbose) call_.err().write("< " + head);
    std::string_view location = header(summary.answer, "Location");
    int status = summary.answer.status;
    bool redirects = (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
                     !location.empty();
    if (!redirects) return 0;
    auto next = curl::follow(summary.target, location);
    if (next) summary.redirect_url = next->text();
    if (!job_.follow) return 0;
    if (!next)
      return trouble(next.error().code() == Code::unsupported ? kUnsupported : kBadUrl,
                     next.error().message());
    if (job_.redirects_max >= 0 && summary.redirects >= job_.redirects_max)
      return trouble(kTooManyRedirects, fmt::format("Maximum ({}) redirects followed", job_.redirects_max));
    ++summary.redirects;
    // As browsers do: 303 always, 301 and 302 for POST. An explicit -X stays.
    bool becomes_get = status == 303 ? request.method != "HEAD"
                                     : (status == 301 || status == 302) && request.method == "POST";
    if (becomes_get && job_.method.empty()) request.method = "GET", request.body.clear();
    summary.target = *next;
    summary.redirect_url.clear();
  }
}

std::string Curl::written_out(const Summary& s) const {
  std::string out;
  const std::string& f = job_.write_out;
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (f[i] == '\\' && i + 1 < f.size()) {
      char c = f[++i];
      out += c == 'n' ? "\n" : c == 't' ? "\t" : c == 'r' ? "\r" : std::string("\\") + c;
      continue;
    }
    std::size_t end = f.compare(i, 2, "%{") == 0 ? f.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      if (f[i] == '%' && i + 1 < f.size() && f[i + 1] == '%') ++i;
      out += f[i];
      continue;
    }
    std::string name = f.substr(i + 2, end - i - 2);
    if (name == "http_code" || name == "response_code")
      out += fmt::format("{:03}", s.answer.status);
    else if (name == "size_download")
      out += fmt::format("{}", s.answer.body.size());
    else if (name == "content_type")
      out += header(s.answer, "Content-Type");
    else if (name == "url_effective" || name == "url")
      out += s.target.text();
    else if (name == "num_redirects")
      out += fmt::format("{}", s.redirects);
    else if (name == "redirect_url")
      out += s.redirect_url;
    else if (name == "method")
      out += s.method;
    else if (name == "scheme")
      out += s.target.scheme == "https" ? "HTTPS" : "HTTP";
    else if (name == "exitcode")
      out += "0";
    else if (name == "time_total")
      out += fmt::format("{:.6f}", s.seconds);
    else
      call_.err().write(fmt::format("curl: unknown --write-out variable: '{}'\n", name));
    i = end;
  }
  return out;
}

int Curl::deliver(const Summary& summary, const std::string& heads, std::string output) {
  if (!job_.dump_header.empty()) {
    auto file = call_.open_output(job_.dump_header, false);
    if (!file || !(*file)->write(heads))
      return trouble(kCannotWrite, fmt::format("Failed to open {}", job_.dump_header));
  }
  std::string text = job_.include || job_.head ? heads : "";
  if (job_.fail && summary.answer.status >= 400 && !job_.keep_body) {
    return trouble(kHttpError, fmt::format("The requested URL returned error: {}", summary.answer.status));
  }
  if (!job_.head) {
    std::string_view coding = header(summary.answer, "Content-Encoding");
    auto expanded = job_.compressed && coding == "gzip" ? inflate_gzip(call_, summary.answer.body)
                                                        : Result<std::string>(summary.answer.body);
    if (!expanded) return trouble(61, "Error while processing content unencoding");
    text += *expanded;
  }
  if (output.empty() && job_.remote_name) {
    output = base_name(summary.target.path);
    if (output.empty() || output == "/") return trouble(kCannotWrite, "Remote file name has no length");
  }
  if (output.empty() || output == "-") {
    if (!call_.out().write(text)) return trouble(kCannotWrite, "Failure writing output to destination");
  } else {
    auto file = call_.open_output(output, false);
    if (!file || !(*file)->write(text))
      return trouble(kCannotWrite, fmt::format("Failed to open the file {}", output));
  }
  if (job_.fail && summary.answer.status >= 400)
    return trouble(kHttpError, fmt::format("The requested URL returned error: {}", summary.answer.status));
  return 0;
}

int Curl::one_url(const std::string& text, const std::string& output) {
  std::string whole = text;
  if (job_.get && job_.has_data) whole += (whole.find('?') == std::string::npos ? "?" : "&") + job_.data;
  auto target = curl::parse_url(whole);
  if (!target)
    return trouble(target.error().code() == Code::unsupported ? kUnsupported : kBadUrl,
                   target.error().message());
  Summary summary;
  summary.target = *target;
  summary.method = !job_.method.empty()         ? job_.method
                   : job_.head                  ? "HEAD"
                   : job_.has_upload            ? "PUT"
                   : job_.has_data && !job_.get ? "POST"
                                                : "GET";
  std::string heads;
  int status = exchange(summary, heads);
  if (status == 0) status = deliver(summary, heads, output);
  if (!job_.write_out.empty()) call_.out().write(written_out(summary));
  return status;
}

int Curl::run() {
  int status = 0;
  for (std::size_t i = 0; i < job_.urls.size(); ++i)
    status = one_url(job_.urls[i], i < job_.outputs.size() ? job_.outputs[i] : "");
  return status;
}

}  // namespace

int run_curl(Invocation& call) {
  Curl curl(call);
  if (int status = curl.read_arguments(); status >= 0) return status;
  return curl.run();
}

}  // namespace atl::shell::curl_program
