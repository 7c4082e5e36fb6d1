#include <fmt/format.h>
#include <zlib.h>

#include <set>

#include "api/e2b/envd.h"
#include "api/e2b/freshness.h"
#include "api/e2b/multipart.h"
#include "api/http/byte_range.h"
#include "api/http/content.h"

namespace atl::api::e2b {
namespace {

constexpr std::uint64_t kUploadMax = 64ULL << 30;
constexpr std::string_view kMetadataPrefix = "x-metadata-";

// Whether an item such as "identity;q=0.0" is of that name and weighs nothing.
bool is_refusal(std::string_view item, std::string_view name, bool& named) {
  const auto semicolon = item.find(';');
  std::string_view word = item.substr(0, semicolon);
  while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
  while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
  if (!net::equal_ignoring_case(word, name)) return false;
  named = true;
  if (semicolon == std::string_view::npos) return false;
  std::string_view weight = item.substr(semicolon + 1);
  while (!weight.empty() && weight.front() == ' ') weight.remove_prefix(1);
  return weight.starts_with("q=0") && weight.find_first_not_of("0. ", 2) == std::string_view::npos;
}

// RFC 9110: identity is acceptable unless it is refused by its name, or by "*" without being named.
bool forbids_identity(std::string_view accept) {
  bool named = false, anything = false, refused = false, all_refused = false;
  while (!accept.empty()) {
    const std::string_view item = accept.substr(0, accept.find(','));
    accept.remove_prefix(std::min(accept.size(), item.size() + 1));
    refused = is_refusal(item, "identity", named) || refused;
    all_refused = is_refusal(item, "*", anything) || all_refused;
  }
  return named ? refused : all_refused;
}

std::string disposition(std::string_view name) {
  std::string quoted;
  for (char c : name) quoted += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32 ? '_' : c;
  return fmt::format("inline; filename=\"{}\"", quoted);
}

// X-Metadata-* headers as attributes. Each upload replaces the whole set.
Result<std::map<std::string, std::string>> metadata_of(const net::Request& request) {
  std::map<std::string, std::string> metadata;
  std::size_t total = 0;
  for (const auto& [name, value] : request.headers) {
    if (name.size() <= kMetadataPrefix.size() ||
        !net::equal_ignoring_case(std::string_view(name).substr(0, kMetadataPrefix.size()),
                                  kMetadataPrefix)) {
      continue;
    }
    std::string key;
    for (char c : name.substr(kMetadataPrefix.size()))
      key += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    bool printable = std::all_of(value.begin(), value.end(), [](char c) { return c >= 32 && c < 127; });
    total += key.size() + value.size();
    if (!printable || key.size() > 246 || total > 4096) {
      return fail(Code::invalid_argument, fmt::format("invalid metadata '{}'", key));
    }
    metadata[key] = value;
  }
  return metadata;
}

// Gzip to plain, piece by piece.
class Inflater {
 public:
  Inflater() { good_ = ::inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK; }
  ~Inflater() {
    if (good_) ::inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Result<std::vector<std::string>> feed(std::string_view bytes) {
    std::vector<std::string> pieces;
    stream_.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // JUSTIFICATION: zlib only reads it
    stream_.avail_in = static_cast<uInt>(bytes.size());
    while (good_ && stream_.avail_in > 0) {
      std::string piece(65536, '\0');
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());  // JUSTIFICATION: zlib's byte type
      stream_.avail_out = static_cast<uInt>(piece.size());
      int status = ::inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        return fail(Code::invalid_argument, "the body is not valid gzip");
      }
      piece.resize(piece.size() - stream_.avail_out);
      if (!piece.empty()) pieces.push_back(std::move(piece));
      ended_ = status == Z_STREAM_END;
      if (ended_ && stream_.avail_in > 0) ::inflateReset(&stream_);
      if (status == Z_BUF_ERROR) break;
    }
    return pieces;
  }
  bool is_complete() const { return ended_; }

 private:
  z_stream stream_{};
  bool good_ = false;
  bool ended_ = false;
};

Error write_error(Error error, const std::string& path) {
  if (error.code() == Code::is_a_directory) {
    return Error(Code::invalid_argument, fmt::format("path is a directory: {}", path));
  }
  return error;
}

// Where the parts of one upload go.
class Upload {
 public:
  Upload(sandbox::Files& files, std::string user, std::map<std::string, std::string> metadata)
      : files_(files), user_(std::move(user)), metadata_(std::move(metadata)) {}

  Task<void> open(std::string path) {
    if (!paths_.insert(path).second) {
      co_return fail(Code::invalid_argument,
                     fmt::format("you cannot upload multiple files to the same path '{}'", path));
    }
    path_ = path;
    sandbox::WriteOptions options;
    options.user = user_;
    options.attributes = metadata_;
    options.attribute_prefix = "e2b.";
    options.ownership = sandbox::Ownership::hand_over;
    auto writer = co_await files_.open_write(path, options);
    if (!writer && writer.error().code() == Code::unsupported && metadata_.empty()) {
      // A filesystem without attributes has none to clear.
      options.attributes.reset();
      writer = co_await files_.open_write(path, options);
    }
    if (!writer) co_return fail(write_error(std::move(writer).error(), path));
    writer_ = std::move(*writer);
    co_return Result<void>();
  }
  Task<void> write(std::string bytes) {
    auto written = co_await writer_->write(std::move(bytes));
    if (!written) co_return fail(write_error(std::move(written).error(), path_));
    co_return Result<void>();
  }
  Task<void> close() {
    auto done = co_await writer_->finish();
    writer_.reset();
    if (!done) co_return fail(write_error(std::move(done).error(), path_));
    Object entry{{"name", path_.substr(path_.rfind('/') + 1)}, {"type", "file"}, {"path", path_}};
    if (!metadata_.empty()) {
      Object shown;
      for (const auto& [key, value] : metadata_) shown[key] = value;
      entry["metadata"] = std::move(shown);
    }
    entries_.push_back(std::move(entry));
    co_return Result<void>();
  }
  bool is_open() const { return writer_ != nullptr; }
  Array& entries() { return entries_; }

 private:
  sandbox::Files& files_;
  std::string user_;
  std::map<std::string, std::string> metadata_;
  std::set<std::string> paths_;
  std::string path_;
  std::unique_ptr<sandbox::FileWriter> writer_;
  Array entries_;
};

constexpr std::size_t kInflateBytes = 1024;

Task<void> take_octets(net::Exchange& exchange, Upload& upload, std::string path, bool gzip) {
  CO_CHECK(co_await upload.open(path));
  Inflater inflater;
  http::Sink take = [&](std::string piece) -> Task<void> {
    if (!gzip) co_return co_await upload.write(std::move(piece));
    // One byte may stand for a thousand, so little is inflated at once.
    for (std::size_t at = 0; at < piece.size(); at += kInflateBytes) {
      CO_TRY(auto plain, inflater.feed(std::string_view(piece).substr(at, kInflateBytes)));
      for (std::string& part : plain) CO_CHECK(co_await upload.write(std::move(part)));
    }
    co_return Result<void>();
  };
  CO_CHECK(co_await http::receive_content(exchange, std::move(take)));
  if (gzip && !inflater.is_complete()) co_return fail(Code::invalid_argument, "the gzip body is cut off");
  co_return co_await upload.close();
}

Task<void> take_parts(net::Exchange& exchange, Upload& upload, std::string boundary,
                      std::optional<std::string> path, std::string user) {
  MultipartParser parser(boundary);
  while (true) {
    CO_TRY(std::string piece, co_await exchange.read());
    if (piece.empty()) break;
    CO_TRY(auto events, parser.feed(piece));
    for (PartEvent& event : events) {
      if (event.kind == PartEvent::Kind::head && event.head.name == "file") {
        if (!path && event.head.filename.empty())
          co_return fail(Code::invalid_argument, "a part has neither path nor filename");
        CO_TRY(std::string where,
               path ? Result<std::string>(*path) : resolve_path(event.head.filename, user));
        CO_CHECK(co_await upload.open(std::move(where)));
      } else if (event.kind == PartEvent::Kind::data && upload.is_open()) {
        CO_CHECK(co_await upload.write(std::move(event.data)));
      } else if (event.kind == PartEvent::Kind::end && upload.is_open()) {
        CO_CHECK(co_await upload.close());
      }
    }
  }
  if (!parser.is_complete()) co_return fail(Code::invalid_argument, "the multipart body is cut off");
  co_return Result<void>();
}

Task<std::string> file_user(const Context& context, const Target& target, const net::Request& request) {
  std::string user = request.query("username").value_or("");
  if (user.empty()) co_return target.attribute(attribute::kUser);
  CO_TRY(bool known, co_await user_exists(context, target.owner, target.id(), user));
  if (!known) {
    co_return fail(Code::unauthenticated,
                   fmt::format("error looking up user '{}': user: unknown user {}", user, user));
  }
  co_return user;
}

}  // namespace

void Envd::mount_transfer(net::Router& router) {
  router.add_stream(net::Method::get, "/files", rule({Credential::file, Permission::files_read}),
                    [this](net::Exchange& exchange) { return download(exchange); });
  router.add_stream(net::Method::post, "/files", rule({Credential::file, Permission::files_write}),
                    [this](net::Exchange& exchange) { return upload(exchange); },
                    {.body_bytes_max = kUploadMax});
  router.add(net::Method::post, "/files/compose", rule(with_secret(Permission::files_write)),
             [this](net::Request& request) { return compose(request); });
}

Task<void> Envd::download(net::Exchange& exchange) {
  net::Request& request = exchange.request();
  const Target target = target_of(request);
  if (forbids_identity(request.headers.get("Accept-Encoding"))) {
    net::Response refused = control_error(406, "only the identity encoding is available");
    co_return co_await exchange.send(std::move(refused));
  }
  CO_TRY(std::string user, co_await file_user(context_, target, request));
  CO_TRY(std::string path, resolve_path(request.query("path").value_or(""), user, target));
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  auto info = co_await files->stat(path, user);
  if (!info && info.error().code() == Code::not_found) {
    co_return fail(Code::not_found, fmt::format("path '{}' does not exist", path));
  }
  if (!info) co_return fail(std::move(info).error());
  if (info->type == sandbox::FileType::directory || info->target_type == sandbox::FileType::directory) {
    co_return fail(Code::invalid_argument, fmt::format("path '{}' is a directory", path));
  }
  // The size is that of the open file: a link's own says nothing, and procfs says zero for what has content.
  auto reader = co_await files->open_read(path, 0, std::nullopt, user);
  if (!reader) co_return fail(std::move(reader).error());
  std::uint64_t size = (*reader)->info().size;
  const WallTime modified = (*reader)->info().modified_at;
  if (const Freshness freshness = freshness_of(request, modified); freshness != Freshness::send) {
    net::Response short_answer = net::Response::empty(freshness == Freshness::unchanged ? 304 : 412);
    short_answer.headers.add("Last-Modified", to_http_date(modified));
    co_return co_await exchange.send(std::move(short_answer));
  }
  http::RequestedRange wanted;
  if (is_range_valid(request, modified)) wanted = http::parse_range(request.headers.get("Range"), size);
  if (std::holds_alternative<http::Unsatisfiable>(wanted) && size > 0) {
    net::Response refused = control_error(416, "range not satisfiable");
    refused.headers.add("Content-Range", http::unsatisfied_range(size));
    co_return co_await exchange.send(std::move(refused));
  }
  net::Headers headers{{"Content-Type", "application/octet-stream"},
                       {"Content-Disposition", disposition(info->name)},
                       {"Last-Modified", to_http_date(modified)},
                       {"Accept-Ranges", "bytes"}};
  std::optional<std::uint64_t> length = size;
  const auto* range = std::get_if<http::ByteRange>(&wanted);
  if (range != nullptr) {
    reader = co_await files->open_read(path, range->first, range->length, user);
    if (!reader) co_return fail(std::move(reader).error());
    headers.add("Content-Range", http::content_range(*range, size));
    length = range->length;
  }
  // The first piece tells whether a file that says it is empty is.
  CO_TRY(std::string first, co_await (*reader)->next());
  if (size == 0 && !first.empty()) length.reset();
  CO_CHECK(co_await exchange.start(range != nullptr ? 206 : 200, std::move(headers), length));
  http::Source next = [&first, &reader]() -> Task<std::string> {
    if (!first.empty()) co_return std::exchange(first, std::string());
    co_return co_await (*reader)->next();
  };
  co_return co_await http::send_content(exchange, std::move(next), length);
}

Task<void> Envd::upload(net::Exchange& exchange) {
  net::Request& request = exchange.request();
  const Target target = target_of(request);
  CO_TRY(std::string user, co_await file_user(context_, target, request));
  CO_TRY(auto metadata, metadata_of(request));
  std::optional<std::string> path;
  if (const std::string given = request.query("path").value_or(""); !given.empty()) {
    CO_TRY(path, resolve_path(given, user));
  }
  CO_TRY(auto files, co_await context_.service.files(target.owner, target.id()));
  Upload uploading(*files, user, std::move(metadata));
  std::string type(request.headers.get("Content-Type"));
  std::string_view encoding = request.headers.get("Content-Encoding");
  bool gzip = encoding == "gzip";
  if (!encoding.empty() && !gzip && encoding != "identity") {
    co_return fail(Code::invalid_argument, fmt::format("unsupported Content-Encoding '{}'", encoding));
  }
  if (type.starts_with("application/octet-stream")) {
    if (!path) co_return fail(Code::invalid_argument, "path is required");
    CO_CHECK(co_await take_octets(exchange, uploading, *path, gzip));
  } else if (type.starts_with("multipart/form-data") && !gzip) {
    CO_TRY(std::string boundary, multipart_boundary(type));
    CO_CHECK(co_await take_parts(exchange, uploading, boundary, path, user));
  } else {
    co_return fail(Code::invalid_argument, fmt::format("unsupported Content-Type '{}'", type));
  }
  if (uploading.entries().empty()) co_return fail(Code::invalid_argument, "the body holds no file");
  net::Response response = json_response(200, uploading.entries());
  co_return co_await exchange.send(std::move(response));
}

}  // namespace atl::api::e2b
