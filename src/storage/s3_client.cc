#include "storage/s3_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "base/bytes.h"

namespace atl::storage {
namespace {

constexpr long kConnectMax = 5;   // seconds
constexpr long kCallMax = 120;    // seconds
constexpr long kStalledMax = 15;  // seconds at less than 1 KiB/s
constexpr int kTries = 4;
constexpr std::size_t kAnswerMax = std::size_t{2} << 30;
constexpr std::size_t kPagesMax = 10'000;

std::size_t collect(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& text = *static_cast<std::string*>(to);
  if (text.size() + size * count > kAnswerMax) return 0;
  text.append(bytes, size * count);
  return size * count;
}

// For the query of a request, as its signature wants it: everything but unreserved characters.
std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("-_.~").find(c) != std::string_view::npos;
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// The text of the first element of this name at or after `from`, which is moved behind it. Names of ours and
// tokens need no more of XML than this.
std::optional<std::string> element(std::string_view xml, std::string_view name, std::size_t& from) {
  const std::string opening = fmt::format("<{}>", name), closing = fmt::format("</{}>", name);
  const std::size_t begin = xml.find(opening, from);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = xml.find(closing, begin);
  if (end == std::string_view::npos) return std::nullopt;
  from = end + closing.size();
  std::string text(xml.substr(begin + opening.size(), end - begin - opening.size()));
  for (std::size_t at = text.find("&amp;"); at != std::string::npos; at = text.find("&amp;", at + 1))
    text.replace(at, 5, "&");
  return text;
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

}  // namespace

struct S3Client::Request {
  const char* method = "GET";
  std::string path;   // "/bucket/name"
  std::string query;  // as it is signed: sorted and encoded
  const std::string* body = nullptr;
  bool only_new = false;
};

struct S3Client::Answer {
  long status = 0;
  std::string body;
};

class S3Client::Handle {
 public:
  Handle() : curl_(curl_easy_init()) {}
  ~Handle() { curl_easy_cleanup(curl_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  CURL* get() const { return curl_; }

 private:
  CURL* curl_;
};

S3Client::S3Client(S3Address address) : address_(std::move(address)), handle_(std::make_unique<Handle>()) {}
S3Client::~S3Client() = default;

Result<std::unique_ptr<S3Client>> S3Client::make(S3Address address) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) return fail(Code::internal, "libcurl does not start");
  const auto& at = address.endpoint;
  const std::size_t scheme = at.starts_with("https://") ? 8 : at.starts_with("http://") ? 7 : 0;
  if (scheme == 0 || at.size() == scheme || at.find_first_of("/?#@", scheme) != std::string::npos)
    return fail(Code::invalid_argument, "'endpoint' is https://HOST[:PORT], without a path");
  if (address.bucket.empty() || encoded(address.bucket) != address.bucket)
    return fail(Code::invalid_argument, "'bucket' is the name of a bucket");
  std::unique_ptr<S3Client> client(new S3Client(std::move(address)));
  if (client->handle_->get() == nullptr) return fail(Code::internal, "libcurl does not start");
  return client;
}

Result<S3Client::Answer> S3Client::ask_once(const Request& request) const {
  CURL* curl = handle_->get();
  curl_easy_reset(curl);
  Answer answer;
  std::string url = address_.endpoint + request.path;
  if (!request.query.empty()) url += "?" + request.query;
  const std::string signature = fmt::format("aws:amz:{}:s3", address_.region);
  const std::string keys = address_.access_key + ":" + address_.secret_key;
  // No "Expect:" without a value among them: libcurl would sign it and not send it.
  std::unique_ptr<curl_slist, FreeList> headers(
      curl_slist_append(nullptr, "Content-Type: application/octet-stream"));
  // Part of what is signed; libcurl of Debian 12 does not add it itself.
  const std::string digest =
      "x-amz-content-sha256: " + sha256_hex(request.body == nullptr ? std::string_view() : *request.body);
  headers.reset(curl_slist_append(headers.release(), digest.c_str()));
  if (request.only_new) headers.reset(curl_slist_append(headers.release(), "If-None-Match: *"));
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, signature.c_str());
  curl_easy_setopt(curl, CURLOPT_USERPWD, keys.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectMax);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, kCallMax);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1024L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kStalledMax);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
  if (request.body != nullptr) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body->data());
  }
  const CURLcode done = curl_easy_perform(curl);
  if (done != CURLE_OK)
    return fail(
        Error(Code::unavailable, "the storage cannot be reached").with_detail(curl_easy_strerror(done)));
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  return answer;
}

// A request whose answer was lost is said again only if that cannot change its meaning.
Result<S3Client::Answer> S3Client::ask(const Request& request) const {
  const std::lock_guard hold(lock_);
  for (int attempt = 1;; ++attempt) {
    auto answer = ask_once(request);
    const bool is_busy = answer && (answer->status == 429 || answer->status >= 500);
    const bool is_lost = !answer && !request.only_new;
    if (attempt < kTries && (is_busy || is_lost)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50) * (1 << attempt));
      continue;
    }
    if (!answer) return answer;
    if (answer->status / 100 == 2) return answer;
    const std::string detail = fmt::format("{} {}: {} {}", request.method, request.path, answer->status,
                                           answer->body.substr(0, 500));
    switch (answer->status) {
      case 404:
        return fail(Error(Code::not_found, "the storage has no such object or bucket").with_detail(detail));
      case 401:
      case 403: return fail(Error(Code::unauthenticated, "the storage refuses its keys").with_detail(detail));
      case 409:
      case 412: return fail(Error(Code::already_exists, "the object is there already").with_detail(detail));
      case 507: return fail(Error(Code::no_space, "the storage is full").with_detail(detail));
      default: return fail(Error(Code::unavailable, "the storage does not work").with_detail(detail));
    }
  }
}

Result<std::string> S3Client::get(const std::string& name) const {
  return std::move(TRY(ask({.path = fmt::format("/{}/{}", address_.bucket, name)})).body);
}

Result<void> S3Client::put(const std::string& name, const std::string& bytes) const {
  TRY(ask({.method = "PUT", .path = fmt::format("/{}/{}", address_.bucket, name), .body = &bytes}));
  return {};
}

Result<void> S3Client::put_new(const std::string& name, const std::string& bytes) const {
  TRY(ask({.method = "PUT",
           .path = fmt::format("/{}/{}", address_.bucket, name),
           .body = &bytes,
           .only_new = true}));
  return {};
}

Result<void> S3Client::remove(const std::string& name) const {
  auto gone = ask({.method = "DELETE", .path = fmt::format("/{}/{}", address_.bucket, name)});
  if (!gone && gone.error().code() != Code::not_found) return fail(std::move(gone).error());
  return {};
}

Result<std::vector<S3Client::Object>> S3Client::list(const std::string& prefix) const {
  std::vector<Object> objects;
  std::string token;
  for (std::size_t page = 0; page < kPagesMax; ++page) {
    Request request{.path = fmt::format("/{}", address_.bucket)};
    if (!token.empty()) request.query = fmt::format("continuation-token={}&", encoded(token));
    request.query += fmt::format("list-type=2&prefix={}", encoded(prefix));
    const Answer answer = TRY(ask(request));
    std::size_t at = 0;
    while (auto name = element(answer.body, "Key", at)) {
      const auto size = element(answer.body, "Size", at);
      objects.push_back({std::move(*name), size ? std::strtoull(size->c_str(), nullptr, 10) : 0});
    }
    std::size_t from = 0;
    const auto next = element(answer.body, "NextContinuationToken", from);
    if (!next || next->empty()) break;
    token = *next;
  }
  std::ranges::sort(objects, {}, &Object::name);
  return objects;
}

}  // namespace atl::storage
