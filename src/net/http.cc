#include "net/http.h"

#include <charconv>

#include "base/json.h"

namespace atl::net {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string form_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
               hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

const std::string kEmpty;

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::string_view to_string(Method method) {
  switch (method) {
    case Method::get: return "GET";
    case Method::head: return "HEAD";
    case Method::post: return "POST";
    case Method::put: return "PUT";
    case Method::patch: return "PATCH";
    case Method::del: return "DELETE";
    case Method::options: return "OPTIONS";
    case Method::other: return "other";
  }
  std::unreachable();
}

Method parse_method(std::string_view word) {
  for (Method method :
       {Method::get, Method::head, Method::post, Method::put, Method::patch, Method::del, Method::options}) {
    if (word == to_string(method)) return method;
  }
  return Method::other;
}

const std::string* Headers::find(std::string_view name) const {
  for (const Field& field : fields_) {
    if (equal_ignoring_case(field.first, name)) return &field.second;
  }
  return nullptr;
}

std::string_view Headers::get(std::string_view name) const {
  const std::string* value = find(name);
  return value == nullptr ? std::string_view() : *value;
}

void Headers::remove(std::string_view name) {
  std::erase_if(fields_, [&](const Field& field) { return equal_ignoring_case(field.first, name); });
}

void Headers::set(std::string name, std::string value) {
  remove(name);
  add(std::move(name), std::move(value));
}

bool Headers::lists(std::string_view name, std::string_view token) const {
  for (const Field& field : fields_) {
    if (!equal_ignoring_case(field.first, name)) continue;
    std::string_view rest = field.second;
    while (!rest.empty()) {
      auto comma = rest.find(',');
      std::string_view item = rest.substr(0, comma);
      while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) item.remove_prefix(1);
      while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
      if (equal_ignoring_case(item, token)) return true;
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
  }
  return false;
}

Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return fail(Code::invalid_argument, "broken percent escape in the path");
    char c = static_cast<char>(high * 16 + low);
    if (c == '\0') return fail(Code::invalid_argument, "escaped NUL in the path");
    out += c;
    i += 2;
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                 c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

Fields parse_form(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    auto end = text.find('&');
    std::string_view pair = text.substr(0, end);
    auto equals = pair.find('=');
    if (!pair.empty()) {
      fields.emplace_back(form_decode(pair.substr(0, equals)), equals == std::string_view::npos
                                                                   ? std::string()
                                                                   : form_decode(pair.substr(equals + 1)));
    }
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return fields;
}

const std::string& Request::param(std::string_view name) const {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  return kEmpty;
}

std::optional<std::string> Request::query(std::string_view name) const {
  for (auto& [key, value] : parse_form(raw_query)) {
    if (key == name) return std::move(value);
  }
  return std::nullopt;
}

Response Response::text(int status, std::string body) {
  return Response{status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(body)};
}

Response Response::json(int status, std::string body) {
  return Response{status, {{"Content-Type", "application/json"}}, std::move(body)};
}

Response Response::empty(int status) {
  return Response{status, {}, {}};
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 422: return "Unprocessable Content";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return "Unknown";
  }
}

Response render_error(const Error& error, const Request& request) {
  const CodeRow& facts = row(error.code());
  std::string body = R"({"error":{"code":)";
  json::append_quoted(body, facts.name);
  body += R"(,"message":)";
  json::append_quoted(body, error.message());
  body += R"(,"category":)";
  json::append_quoted(body, to_string(facts.category));
  body += facts.retryable ? R"(,"retryable":true)" : R"(,"retryable":false)";
  if (!error.field().empty()) {
    body += R"(,"field":)";
    json::append_quoted(body, error.field());
  }
  body += R"(,"request_id":)";
  json::append_quoted(body, request.id);
  body += "}}";
  return Response::json(facts.http_status, std::move(body));
}

}  // namespace atl::net
