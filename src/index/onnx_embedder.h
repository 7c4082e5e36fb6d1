#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "index/embedder.h"

namespace atl::index {

// What `atoll model install` leaves in a directory: the library, the model, its tokenizer, and a file with
// these facts about them.
struct Model {
  static constexpr const char *kLibrary = "libonnxruntime.so", *kModel = "model.onnx",
                              *kTokenizer = "tokenizer.json", *kFacts = "model.json";
  std::string name;
  std::size_t dimension = 0;
  std::size_t tokens_max = 0;                  // of a text; the rest is not looked at
  std::map<std::string, std::string> digests;  // of the other files

  // Code::not_found where there is none, Code::data_loss if a file is not the one that was installed.
  static Result<Model> read(const std::string& directory);
  Result<void> write(const std::string& directory) const;
};

std::string model_directory(const std::string& data);

struct OnnxOptions {
  std::string directory;
  std::string program = "/proc/self/exe";  // has the command `embed-worker DIRECTORY`
  std::chrono::milliseconds wait{60'000};  // for a batch
  std::size_t batch = 32;
};

// A sentence model in a process of its own, which is started when it is first needed and again when it dies
// or does not answer within `wait`: the library is foreign code, and a crash of it must not end the daemon.
// The files are compared with their digests first. A batch that the process did not answer is
// Code::unavailable.
Result<std::unique_ptr<Embedder>> onnx_embedder(OnnxOptions options);

// The other side, for the command `embed-worker`: answers questions from `input` on `output` until `input`
// ends. The caller keeps both descriptors.
Result<void> serve_embeddings(const std::string& directory, int input, int output);

}  // namespace atl::index
