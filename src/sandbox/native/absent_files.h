#pragma once

#include "sandbox/files.h"

namespace atl::sandbox::native {

// Until the link serves files: every call says that it cannot.
class AbsentFiles final : public Files {
 public:
#define ATOLL_ABSENT co_return fail(Code::unsupported, "files are not served yet")
  Task<FileInfo> stat(std::string, std::string) override {
    ATOLL_ABSENT;
  }
  Task<std::vector<FileInfo>> list(std::string, std::uint32_t, std::size_t, std::string) override {
    ATOLL_ABSENT;
  }
  Task<FileInfo> make_directory(std::string, std::string) override {
    ATOLL_ABSENT;
  }
  Task<FileInfo> move(std::string, std::string, std::string, Overwrite) override {
    ATOLL_ABSENT;
  }
  Task<FileInfo> copy(std::string, std::string, std::string, Overwrite) override {
    ATOLL_ABSENT;
  }
  Task<void> remove(std::string, Recursive, std::string) override {
    ATOLL_ABSENT;
  }
  Task<void> chmod(std::string, std::uint32_t, std::string) override {
    ATOLL_ABSENT;
  }
  Task<std::unique_ptr<FileReader>> open_read(std::string, std::uint64_t, std::optional<std::uint64_t>,
                                              std::string) override {
    ATOLL_ABSENT;
  }
  Task<std::unique_ptr<FileWriter>> open_write(std::string, WriteOptions) override {
    ATOLL_ABSENT;
  }
  Task<std::unique_ptr<Watch>> watch(std::string, Recursive, std::string) override {
    ATOLL_ABSENT;
  }
#undef ATOLL_ABSENT
};

}  // namespace atl::sandbox::native
