#include "session/audited/files.h"

#include <fmt/format.h>

#include "base/json.h"

namespace atl::session::audited {
namespace {

using audit::Kind;
using sandbox::FileInfo;

// A file that is being written: its entry is written when it is finished, or when that is given up.
class AuditedWriter final : public sandbox::FileWriter {
 public:
  AuditedWriter(std::unique_ptr<sandbox::FileWriter> inner, audit::Ticket ticket,
                std::shared_ptr<audit::Log> log)
      : inner_(std::move(inner)), ticket_(std::move(ticket)), log_(std::move(log)) {}

  Task<void> write(std::string bytes) override { return inner_->write(std::move(bytes)); }
  Task<FileInfo> finish() override {
    Result<FileInfo> result = co_await inner_->finish();
    if (result) ticket_.entry().details = fmt::format(R"({{"bytes":{}}})", result->size);
    const Error* error = result ? nullptr : &result.error();
    auto written = Trail::finish(ticket_, error);
    if (written) written = co_await log_->settle();
    if (!written && result) co_return fail(std::move(written).error());
    co_return result;
  }

 private:
  std::unique_ptr<sandbox::FileWriter> inner_;
  audit::Ticket ticket_;
  std::shared_ptr<audit::Log> log_;
};

class AuditedFiles final : public sandbox::Files {
 public:
  AuditedFiles(std::shared_ptr<sandbox::Files> inner, Trail trail, std::string session_id)
      : inner_(std::move(inner)), trail_(std::move(trail)), session_id_(std::move(session_id)) {}

  Task<FileInfo> stat(std::string path, std::string user) override {
    auto what = entry("file.stat", path);
    return trail_.look<FileInfo>(std::move(what), inner_->stat(std::move(path), std::move(user)));
  }
  Task<std::vector<FileInfo>> list(std::string path, std::uint32_t depth, sandbox::ListBounds bounds,
                                   std::string user) override {
    auto what = entry("file.list", path);
    return trail_.change<std::vector<FileInfo>>(
        Kind::reveal, std::move(what),
        inner_->list(std::move(path), depth, std::move(bounds), std::move(user)));
  }
  Task<FileInfo> make_directory(std::string path, std::string user, sandbox::Ownership ownership) override {
    auto what = entry("file.mkdir", path);
    return trail_.change<FileInfo>(Kind::change, std::move(what),
                                   inner_->make_directory(std::move(path), std::move(user), ownership));
  }
  Task<FileInfo> move(std::string from, std::string to, std::string user,
                      sandbox::Overwrite overwrite) override {
    auto what = entry("file.move", from);
    what.details = target(to);
    return trail_.change<FileInfo>(Kind::change, std::move(what),
                                   inner_->move(std::move(from), std::move(to), std::move(user), overwrite));
  }
  Task<FileInfo> copy(std::string from, std::string to, std::string user,
                      sandbox::Overwrite overwrite) override {
    auto what = entry("file.copy", from);
    what.details = target(to);
    return trail_.change<FileInfo>(Kind::change, std::move(what),
                                   inner_->copy(std::move(from), std::move(to), std::move(user), overwrite));
  }
  Task<void> remove(std::string path, sandbox::Recursive recursive, std::string user) override {
    auto what = entry("file.delete", path);
    return trail_.change<void>(Kind::ending, std::move(what),
                               inner_->remove(std::move(path), recursive, std::move(user)));
  }
  Task<void> chmod(std::string path, std::uint32_t mode, std::string user) override {
    auto what = entry("file.chmod", path);
    what.details = fmt::format(R"({{"mode":"{:o}"}})", mode);
    return trail_.change<void>(Kind::change, std::move(what),
                               inner_->chmod(std::move(path), mode, std::move(user)));
  }
  Task<std::unique_ptr<sandbox::FileReader>> open_read(std::string path, std::uint64_t offset,
                                                       std::optional<std::uint64_t> length,
                                                       std::string user) override {
    auto what = entry("file.read", path);
    return trail_.change<std::unique_ptr<sandbox::FileReader>>(
        Kind::reveal, std::move(what), inner_->open_read(std::move(path), offset, length, std::move(user)));
  }
  Task<std::unique_ptr<sandbox::FileWriter>> open_write(std::string path,
                                                        sandbox::WriteOptions options) override {
    CO_TRY(audit::Ticket ticket, trail_.log().begin(Kind::change, entry("file.write", path)));
    auto opened = co_await inner_->open_write(std::move(path), std::move(options));
    if (!opened) {
      (void)Trail::finish(ticket, &opened.error());
      co_return fail(std::move(opened).error());
    }
    co_return std::make_unique<AuditedWriter>(std::move(*opened), std::move(ticket), trail_.shared_log());
  }
  Task<std::unique_ptr<sandbox::Watch>> watch(std::string path, sandbox::Recursive recursive,
                                              std::string user) override {
    auto what = entry("file.watch", path);
    return trail_.change<std::unique_ptr<sandbox::Watch>>(
        Kind::reveal, std::move(what), inner_->watch(std::move(path), recursive, std::move(user)));
  }

 private:
  audit::Entry entry(std::string_view action, const std::string& path) const {
    return trail_.entry(action, session_id_ + ":" + path);
  }
  static std::string target(const std::string& path) {
    constexpr std::size_t kPathBytesMax = 1200;
    return fmt::format(R"({{"to":{}}})", json::quoted(audit::clipped(path, kPathBytesMax)));
  }

  std::shared_ptr<sandbox::Files> inner_;
  Trail trail_;
  std::string session_id_;
};

}  // namespace

std::shared_ptr<sandbox::Files> with_entries(std::shared_ptr<sandbox::Files> files, Trail trail,
                                             std::string session_id) {
  return std::make_shared<AuditedFiles>(std::move(files), std::move(trail), std::move(session_id));
}

}  // namespace atl::session::audited
