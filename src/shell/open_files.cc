#include <functional>
#include <random>

#include "shell/machine.h"
#include "shell/pipe.h"

namespace atl::shell {

namespace {

class PipeEnd final : public OpenFile {
 public:
  PipeEnd(std::shared_ptr<Pipe> pipe, bool read, bool write)
      : pipe_(std::move(pipe)), read_(read), write_(write) {
    if (read_) pipe_->add(false);
    if (write_) pipe_->add(true);
  }
  ~PipeEnd() override {
    if (read_) pipe_->drop(false);
    if (write_) pipe_->drop(true);
  }
  std::string_view fill() override { return read_ ? pipe_->fill() : std::string_view(); }
  void consume(std::size_t count) override { pipe_->consume(count); }
  std::string_view take(Claim& claim) override { return read_ ? pipe_->take(claim) : std::string_view(); }
  void give_back(Claim& claim, std::string_view rest) override { pipe_->give_back(claim, rest); }
  void held(std::size_t bytes) override { pipe_->machine().check_held(bytes); }
  bool write(std::string_view bytes) override {
    if (!write_) return OpenFile::write(bytes);
    return pipe_->write(bytes, error_);
  }
  bool readable() const override { return read_; }
  bool writable() const override { return write_; }
  bool is_pipe() const override { return true; }
  bool ready() override { return pipe_->ready(); }
  Pipe& pipe() { return *pipe_; }

 private:
  std::shared_ptr<Pipe> pipe_;
  bool read_, write_;
};

class StringSource final : public OpenFile {
 public:
  explicit StringSource(std::string text) : text_(std::move(text)) {}
  std::string_view fill() override { return std::string_view(text_).substr(at_); }
  void consume(std::size_t count) override { at_ += count; }
  std::string_view take(Claim&) override {
    return std::string_view(text_).substr(std::exchange(at_, text_.size()));  // never changes
  }
  void give_back(Claim&, std::string_view rest) override { at_ = text_.size() - rest.size(); }
  bool readable() const override { return true; }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

class Null final : public OpenFile {
 public:
  bool write(std::string_view) override { return true; }
  bool readable() const override { return true; }
  bool writable() const override { return true; }
};

class Full final : public OpenFile {
 public:
  bool write(std::string_view) override {
    error_ = "No space left on device";
    return false;
  }
  bool readable() const override { return true; }
  bool writable() const override { return true; }
};

class Directory final : public OpenFile {
 public:
  bool readable() const override { return false; }
};

class Zero final : public OpenFile {
 public:
  explicit Zero(Machine& machine) : machine_(machine) {}
  std::string_view fill() override {
    static const std::string zeros(65536, '\0');
    machine_.charge(zeros.size() / 64);
    return zeros;
  }
  std::string_view take(Claim&) override { return fill(); }
  void held(std::size_t bytes) override { machine_.check_held(bytes); }
  bool write(std::string_view) override { return true; }
  bool readable() const override { return true; }
  bool writable() const override { return true; }

 private:
  Machine& machine_;
};

// /dev/urandom.
class Noise final : public OpenFile {
 public:
  explicit Noise(Machine& machine) : machine_(machine) {}
  std::string_view fill() override {
    if (at_ == bytes_.size()) {
      std::random_device device;
      bytes_.resize(4096);
      for (char& byte : bytes_) byte = static_cast<char>(device());
      at_ = 0;
      machine_.charge(bytes_.size());
    }
    return std::string_view(bytes_).substr(at_);
  }
  void consume(std::size_t count) override { at_ += count; }
  void held(std::size_t bytes) override { machine_.check_held(bytes); }
  bool write(std::string_view) override { return true; }
  bool readable() const override { return true; }
  bool writable() const override { return true; }

 private:
  Machine& machine_;
  std::string bytes_;
  std::size_t at_ = 0;
};

class Capture final : public OpenFile {
 public:
  Capture(Machine& machine, std::string& into, std::uint64_t limit)
      : machine_(machine), into_(into), limit_(limit) {}
  bool write(std::string_view bytes) override {
    machine_.charge(bytes.size() / 8 + 1);
    if (into_.size() + bytes.size() > limit_) machine_.stop_limit(Limit::expansion_bytes);
    into_.append(bytes);
    return true;
  }
  bool writable() const override { return true; }

 private:
  Machine& machine_;
  std::string& into_;
  std::uint64_t limit_;
};

class VfsFile final : public OpenFile {
 public:
  VfsFile(Machine& machine, std::unique_ptr<vfs::File> file, bool read, bool write)
      : machine_(machine), file_(std::move(file)), read_(read), write_(write) {}
  std::string_view fill() override {
    if (!read_) return {};
    auto content = file_->content();
    if (!content) return {};
    std::uint64_t at = file_->position();
    std::string_view run = content->run(at);
    if (run.empty()) return {};
    machine_.charge(run.size() / 64 + 1);
    // The bytes may be replaced by a write while the reader looks at them: hold the content, not a pointer
    // into it.
    content_ = std::move(*content);
    return content_.run(at);
  }
  void consume(std::size_t count) override {
    (void)file_->seek(static_cast<std::int64_t>(count), vfs::Whence::current);
  }
  std::string_view take(Claim& claim) override {
    std::size_t count = fill().size();
    if (count == 0) return {};
    claim.content = std::move(content_);
    std::string_view run = claim.content.run(file_->position());
    consume(count);
    return run;
  }
  void give_back(Claim&, std::string_view rest) override {
    (void)file_->seek(-static_cast<std::int64_t>(rest.size()), vfs::Whence::current);
  }
  void held(std::size_t bytes) override { machine_.check_held(bytes); }
  bool write(std::string_view bytes) override {
    if (!write_) return OpenFile::write(bytes);
    machine_.charge(bytes.size() / 16 + 1);
    content_ = vfs::Content();
    auto done = file_->write(bytes);
    if (!done) error_ = vfs::strerror(done.error().code());
    return done.has_value();
  }
  bool readable() const override { return read_; }
  bool writable() const override { return write_; }
  vfs::File* file() override { return file_.get(); }
  std::uint64_t inode() const override {
    auto stat = file_->stat();
    return stat ? stat->inode : 0;
  }

 private:
  Machine& machine_;
  std::unique_ptr<vfs::File> file_;
  vfs::Content content_;
  bool read_, write_;
};

class CallbackSink final : public OpenFile {
 public:
  CallbackSink(Machine& machine, std::function<void(std::string_view)> sink)
      : machine_(machine), sink_(std::move(sink)) {}
  bool write(std::string_view bytes) override {
    machine_.charge_output(bytes.size());
    sink_(bytes);
    return true;
  }
  bool writable() const override { return true; }

 private:
  Machine& machine_;
  std::function<void(std::string_view)> sink_;
};

class CallbackSource final : public OpenFile {
 public:
  CallbackSource(Machine& machine, std::function<std::string()> source)
      : machine_(machine), source_(std::move(source)) {}
  std::string_view fill() override {
    if (at_ == held_.size()) {
      held_ = source_();
      at_ = 0;
      machine_.charge(held_.size() / 8 + 1);
    }
    return std::string_view(held_).substr(at_);
  }
  void consume(std::size_t count) override { at_ += count; }
  std::string_view take(Claim& claim) override {
    std::size_t from = fill().empty() ? 0 : at_;
    claim.bytes = std::exchange(held_, {});
    at_ = 0;
    return std::string_view(claim.bytes).substr(from);
  }
  void give_back(Claim&, std::string_view rest) override {
    held_.replace(0, at_, rest);
    at_ = 0;
  }
  void held(std::size_t bytes) override { machine_.check_held(bytes); }
  bool readable() const override { return true; }

 private:
  Machine& machine_;
  std::function<std::string()> source_;
  std::string held_;
  std::size_t at_ = 0;
};

}  // namespace

std::string_view OpenFile::take(Claim& claim) {
  claim.bytes = fill();
  consume(claim.bytes.size());
  return claim.bytes;
}

void OpenFile::give_back(Claim&, std::string_view) {}

std::pair<OpenFilePtr, OpenFilePtr> make_pipe(Machine& machine) {
  auto pipe = std::make_shared<Pipe>(machine);
  return {std::make_shared<PipeEnd>(pipe, true, false), std::make_shared<PipeEnd>(pipe, false, true)};
}

OpenFilePtr open_fifo(Machine& machine, std::uint64_t inode, bool read, bool write) {
  auto pipe = machine.fifos[inode].lock();
  if (!pipe) {
    pipe = std::make_shared<Pipe>(machine);
    machine.fifos[inode] = pipe;
  }
  auto out = std::make_shared<PipeEnd>(pipe, read, write);
  // As open(2) of a FIFO: one side waits for the other; opened for both it waits for nobody.
  if (!(read && write)) pipe->wait_for_peer(write);
  return out;
}

OpenFilePtr open_string(std::string text) {
  return std::make_shared<StringSource>(std::move(text));
}
OpenFilePtr open_null() {
  static const OpenFilePtr null = std::make_shared<Null>();
  return null;
}
OpenFilePtr open_directory() {
  return std::make_shared<Directory>();
}
OpenFilePtr open_full() {
  return std::make_shared<Full>();
}
OpenFilePtr open_zero(Machine& machine) {
  return std::make_shared<Zero>(machine);
}
OpenFilePtr open_random(Machine& machine) {
  return std::make_shared<Noise>(machine);
}
OpenFilePtr open_capture(Machine& machine, std::string& into, std::uint64_t limit) {
  return std::make_shared<Capture>(machine, into, limit);
}
OpenFilePtr open_vfs(Machine& machine, std::unique_ptr<vfs::File> file, bool read, bool write) {
  return std::make_shared<VfsFile>(machine, std::move(file), read, write);
}
OpenFilePtr open_callback(Machine& machine, std::function<void(std::string_view)> sink) {
  return std::make_shared<CallbackSink>(machine, std::move(sink));
}
OpenFilePtr open_source(Machine& machine, std::function<std::string()> source) {
  return std::make_shared<CallbackSource>(machine, std::move(source));
}

}  // namespace atl::shell
