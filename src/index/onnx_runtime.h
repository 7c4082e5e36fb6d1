#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "index/embedder.h"

namespace atl::index {

// A sentence model in ONNX, run by the library onnxruntime, which is loaded at run time. It runs foreign code
// in this process, so only the process that serve_embeddings() serves makes one. Belongs to one thread.
class OnnxRuntime {
 public:
  // Code::unsupported with what is wrong for a library or a model that cannot be used.
  static Result<std::unique_ptr<OnnxRuntime>> load(const std::string& library, const std::string& model);
  ~OnnxRuntime();

  // The mean of the model's vectors for these tokens, of length 1.
  Result<Vector> run(std::span<const std::int64_t> tokens);

  // Where the functions that we use stand in onnxruntime's table. The table only grows (its header promises
  // that), so that one number holds for every version from 1.8 on; tests/index/run-long compares them with
  // the library's own header.
  struct Slots {
    static constexpr std::size_t GetErrorMessage = 2, CreateEnv = 3, CreateSession = 7, Run = 9,
                                 CreateSessionOptions = 10, SetIntraOpNumThreads = 24,
                                 SetInterOpNumThreads = 25, SessionGetInputCount = 30,
                                 CreateTensorWithDataAsOrtValue = 49, GetTensorMutableData = 51,
                                 GetDimensionsCount = 61, GetDimensions = 62, GetTensorTypeAndShape = 65,
                                 CreateCpuMemoryInfo = 69, ReleaseEnv = 92, ReleaseStatus = 93,
                                 ReleaseMemoryInfo = 94, ReleaseSession = 95, ReleaseValue = 96,
                                 ReleaseTensorTypeAndShapeInfo = 99, ReleaseSessionOptions = 100;
  };

 private:
  struct State;
  explicit OnnxRuntime(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace atl::index
