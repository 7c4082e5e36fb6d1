#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"

namespace atl::storage {

struct S3Address {
  std::string endpoint;  // "https://s3.example.org" or with a port; without a path
  std::string bucket;
  std::string region = "us-east-1";
  std::string access_key, secret_key;
};

// Objects of one bucket of a server that speaks Amazon's S3 protocol, by libcurl, which also signs the
// requests (AWS Signature Version 4). Names have letters, digits and "-_.~/" only. Calls block until the
// server has answered, at most `kCallMax`; one at a time, from any thread.
//
// Errors: unavailable (no answer, or the server is busy; the call was repeated three times where that is
// harmless), unauthenticated (the keys are refused), not_found (no such object or bucket).
class S3Client {
 public:
  static Result<std::unique_ptr<S3Client>> make(S3Address address);
  ~S3Client();
  S3Client(const S3Client&) = delete;
  S3Client& operator=(const S3Client&) = delete;

  Result<std::string> get(const std::string& name) const;
  Result<void> put(const std::string& name, const std::string& bytes) const;
  // Only if nothing has that name: Code::already_exists otherwise, with servers that know the condition.
  Result<void> put_new(const std::string& name, const std::string& bytes) const;
  // One that is not there is success.
  Result<void> remove(const std::string& name) const;
  struct Object {
    std::string name;
    std::uint64_t size = 0;
  };
  // In byte order.
  Result<std::vector<Object>> list(const std::string& prefix) const;

 private:
  struct Request;
  struct Answer;
  class Handle;
  explicit S3Client(S3Address address);
  Result<Answer> ask(const Request& request) const;
  Result<Answer> ask_once(const Request& request) const;

  S3Address address_;
  mutable std::mutex lock_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace atl::storage
