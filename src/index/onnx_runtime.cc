#include "index/onnx_runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <vector>

namespace atl::index {
namespace {

using Slots = OnnxRuntime::Slots;

// Version of the table that is asked for: of onnxruntime 1.8. Newer libraries give it too.
constexpr std::uint32_t kTableVersion = 8;
constexpr int kInt64 = 7;  // ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64
constexpr int kWarning = 2, kArena = 1, kDefaultMemory = 0;

struct Base {
  const void* const* (*get_table)(std::uint32_t version);
  const char* (*version)();
};

// Everything of the library's is an address; null is no failure.
using Handle = void*;

class Table {
 public:
  explicit Table(const void* const* functions) : functions_(functions) {}

  // A function that gives a status.
  template <std::size_t slot, class... Args>
  Result<void> call(Args... args) const {
    // JUSTIFICATION: the table is a struct of function pointers; its header says which stands where.
    const auto function = reinterpret_cast<Handle (*)(Args...)>(const_cast<void*>(functions_[slot]));
    const Handle status = function(args...);
    if (status == nullptr) return {};
    const auto message =
        // JUSTIFICATION: the same table.
        reinterpret_cast<const char* (*)(Handle)>(const_cast<void*>(functions_[Slots::GetErrorMessage]));
    std::string why = message(status);
    release<Slots::ReleaseStatus>(status);
    return fail(Code::unsupported, "the model's runtime refused: " + why);
  }
  template <std::size_t slot>
  void release(Handle handle) const {
    if (handle == nullptr) return;
    // JUSTIFICATION: the same table.
    reinterpret_cast<void (*)(Handle)>(const_cast<void*>(functions_[slot]))(handle);
  }

 private:
  const void* const* functions_;
};

// Released at the end of its scope.
template <std::size_t slot>
class Owned {
 public:
  explicit Owned(const Table& table) : table_(table) {}
  ~Owned() { table_.release<slot>(handle_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Handle* out() { return &handle_; }
  Handle get() const { return handle_; }

 private:
  const Table& table_;
  Handle handle_ = nullptr;
};

}  // namespace

struct OnnxRuntime::State {
  explicit State(const void* const* functions)
      : table(functions), environment(table), options(table), memory(table), session(table) {}
  Table table;
  Owned<Slots::ReleaseEnv> environment;
  Owned<Slots::ReleaseSessionOptions> options;
  Owned<Slots::ReleaseMemoryInfo> memory;
  Owned<Slots::ReleaseSession> session;
  std::size_t inputs = 0;
};

OnnxRuntime::OnnxRuntime(std::unique_ptr<State> state) : state_(std::move(state)) {}
OnnxRuntime::~OnnxRuntime() = default;

Result<std::unique_ptr<OnnxRuntime>> OnnxRuntime::load(const std::string& library, const std::string& model) {
  void* loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr)
    return fail(Code::unsupported, fmt::format("the model's runtime cannot be loaded: {}", ::dlerror()));
  // JUSTIFICATION: dlsym gives every symbol as void*.
  const auto entry = reinterpret_cast<const Base* (*)()>(::dlsym(loaded, "OrtGetApiBase"));
  const Base* base = entry != nullptr ? entry() : nullptr;
  const void* const* functions = base != nullptr ? base->get_table(kTableVersion) : nullptr;
  if (functions == nullptr)
    return fail(Code::unsupported, "the model's runtime is none, or older than onnxruntime 1.8");
  auto state = std::make_unique<State>(functions);
  const Table& table = state->table;
  TRY(table.call<Slots::CreateEnv>(kWarning, "atoll", state->environment.out()));
  TRY(table.call<Slots::CreateSessionOptions>(state->options.out()));
  TRY(table.call<Slots::SetIntraOpNumThreads>(state->options.get(), 1));
  TRY(table.call<Slots::SetInterOpNumThreads>(state->options.get(), 1));
  TRY(table.call<Slots::CreateCpuMemoryInfo>(kArena, kDefaultMemory, state->memory.out()));
  TRY(table.call<Slots::CreateSession>(state->environment.get(), model.c_str(), state->options.get(),
                                       state->session.out()));
  TRY(table.call<Slots::SessionGetInputCount>(state->session.get(), &state->inputs));
  if (state->inputs != 2 && state->inputs != 3)
    return fail(Code::unsupported, fmt::format("a model with {} inputs is no sentence model", state->inputs));
  return std::unique_ptr<OnnxRuntime>(new OnnxRuntime(std::move(state)));
}

Result<Vector> OnnxRuntime::run(std::span<const std::int64_t> tokens) {
  const Table& table = state_->table;
  const auto count = static_cast<std::int64_t>(tokens.size());
  std::vector<std::int64_t> ids(tokens.begin(), tokens.end()), ones(ids.size(), 1), zeroes(ids.size(), 0);
  const std::array<std::int64_t, 2> shape = {1, count};
  const std::array<std::vector<std::int64_t>*, 3> data = {&ids, &ones, &zeroes};
  const std::array<const char*, 3> names = {"input_ids", "attention_mask", "token_type_ids"};
  std::array<Owned<Slots::ReleaseValue>, 3> inputs = {Owned<Slots::ReleaseValue>(table),
                                                      Owned<Slots::ReleaseValue>(table),
                                                      Owned<Slots::ReleaseValue>(table)};
  std::array<Handle, 3> handles{};
  for (std::size_t i = 0; i < state_->inputs; ++i) {
    TRY(table.call<Slots::CreateTensorWithDataAsOrtValue>(
        state_->memory.get(), static_cast<void*>(data[i]->data()), data[i]->size() * sizeof(std::int64_t),
        shape.data(), shape.size(), kInt64, inputs[i].out()));
    handles[i] = inputs[i].get();
  }
  Owned<Slots::ReleaseValue> output(table);
  const char* wanted = "last_hidden_state";
  TRY(table.call<Slots::Run>(state_->session.get(), Handle(nullptr), names.data(), handles.data(),
                             state_->inputs, &wanted, std::size_t(1), output.out()));
  Owned<Slots::ReleaseTensorTypeAndShapeInfo> info(table);
  TRY(table.call<Slots::GetTensorTypeAndShape>(output.get(), info.out()));
  std::size_t rank = 0;
  TRY(table.call<Slots::GetDimensionsCount>(info.get(), &rank));
  std::array<std::int64_t, 3> dimensions{};
  if (rank != 3) return fail(Code::unsupported, "the model gives no vectors of tokens");
  TRY(table.call<Slots::GetDimensions>(info.get(), dimensions.data(), rank));
  if (dimensions[0] != 1 || dimensions[1] != count || dimensions[2] < 1 || dimensions[2] > 4096)
    return fail(Code::unsupported, "the model gives vectors of another shape");
  float* values = nullptr;
  // JUSTIFICATION: the library gives addresses as void*; the shape says that there are floats.
  TRY(table.call<Slots::GetTensorMutableData>(output.get(), reinterpret_cast<void**>(&values)));
  Vector mean(static_cast<std::size_t>(dimensions[2]), 0.0F);
  for (std::size_t token = 0; token < tokens.size(); ++token)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += values[token * mean.size() + i];
  normalize(mean);
  return mean;
}

}  // namespace atl::index
