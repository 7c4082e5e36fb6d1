#include "sandbox/native/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "os/file.h"
#include "sandbox/native/process_image_restore.h"

namespace atl::sandbox::native {
namespace {

// What copies that are made at once are made from: beyond this it may go to the disk.
constexpr std::uint64_t kInMemoryMax = 256U << 20;

// A user chooses these paths, and they go into messages: cut them to a bounded length.
std::string shortened(std::string text) {
  constexpr std::size_t longest = 160;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

struct Seen {
  const CheckpointJob::Interpreter& interpreter;
  LiveProcess process, zygote;
  ImageReading reading;
};

Result<Seen> look_at(const CheckpointJob& job, const CheckpointJob::Interpreter& interpreter,
                     std::uint64_t bytes_max) {
  LiveProcess process =
      TRY(LiveProcess::open(job.proc, interpreter.process.pid, interpreter.process.start_time));
  LiveProcess zygote =
      TRY(LiveProcess::open(job.proc, interpreter.zygote.pid, interpreter.zygote.start_time));
  ZygoteAreas once;
  ImageReading seen =
      TRY(read_process_image({process, zygote, interpreter.checkpointed.control, job.extent, bytes_max},
                             job.zygotes != nullptr ? *job.zygotes : once));
  return Seen{interpreter, std::move(process), std::move(zygote), std::move(seen)};
}

std::uint64_t size_of(const ImageReading& reading) {
  std::uint64_t bytes = 0;
  for (const Run& run : reading.image.runs) bytes += run.size;
  return bytes;
}

Result<void> take(Seen seen, CheckpointWriter& writer, CheckpointReport& report) {
  const std::string& id = seen.interpreter.checkpointed.id;
  const std::vector<std::string> left_behind = std::move(seen.reading.left_behind);
  TRY(writer.add(seen.interpreter.checkpointed, std::move(seen.reading), seen.process, seen.zygote));
  report.carried.push_back(id);
  for (const std::string& name : left_behind)
    report.left_behind.push_back(shortened(fmt::format("interpreter {}: {}", id, name)));
  return {};
}

Result<void> refuse_losses(const CheckpointJob& job, const CheckpointReport& report) {
  if (!job.strict || report.left_behind.empty()) return {};
  return fail(Code::conflict, fmt::format("this would be lost: {}", fmt::join(report.left_behind, "; ")));
}

Result<void> take_all(const CheckpointJob& job, int directory, CheckpointReport& report) {
  if (job.interpreters.empty()) return {};
  const auto leave = [&](const CheckpointJob::Interpreter& interpreter, const Error& why) {
    report.left_behind.push_back(
        shortened(fmt::format("interpreter {}: {}", interpreter.checkpointed.id, why.message())));
  };
  std::vector<Seen> all;
  std::uint64_t bytes = 0;
  for (const CheckpointJob::Interpreter& interpreter : job.interpreters) {
    auto seen = look_at(job, interpreter, job.bytes_max - std::min(job.bytes_max, bytes));
    if (seen)
      bytes += size_of(seen->reading), all.push_back(std::move(*seen));
    else
      leave(interpreter, seen.error());
  }
  const bool in_memory = job.extent == Extent::difference && bytes <= kInMemoryMax;
  CheckpointWriter writer =
      TRY(in_memory ? CheckpointWriter::in_memory() : CheckpointWriter::create(directory));
  for (Seen& seen : all) {
    const CheckpointJob::Interpreter& interpreter = seen.interpreter;
    if (auto taken = take(std::move(seen), writer, report); !taken) leave(interpreter, taken.error());
  }
  TRY(writer.finish());
  if (in_memory) report.interpreters = writer.release();
  return {};
}

}  // namespace

Result<CheckpointReport> write_checkpoint(CheckpointJob job) {
  CheckpointReport report;
  for (std::string& name : job.left_behind) report.left_behind.push_back(shortened(std::move(name)));
  TRY(refuse_losses(job, report));
  job.files.beside = [&](int directory) -> Result<void> {
    if (job.on_files) job.on_files();
    TRY(take_all(job, directory, report));
    return refuse_losses(job, report);
  };
  TRY(write_snapshot(job.files));
  return report;
}

Result<void> revive(const ReviveJob& job) {
  const std::vector<CheckpointedInterpreter> interpreters = TRY(read_checkpoint(job.file));
  if (job.index >= interpreters.size())
    return fail(Code::not_found, "there is no such interpreter in the file");
  const CheckpointPages pages = TRY(CheckpointPages::open(job.file, interpreters[job.index]));
  const LiveProcess process = TRY(LiveProcess::open(job.proc, job.process.pid, job.process.start_time));
  const LiveProcess zygote = TRY(LiveProcess::open(job.proc, job.zygote.pid, job.zygote.start_time));
  // Whoever continues from a state that was continued before is a copy, whatever became of the first one; and
  // so is one for which that cannot be known. The count is written only to a file that was found whole above,
  // because the file may come from an untrusted sender.
  const bool resumed =
      interpreters[job.index].extent == Extent::whole && count_revival(job.proc, job.file, job.index) == 0U;
  const Recipient to{process, zygote, job.control, resumed};
  return restore_process_image(pages.image(), pages.bytes(), to);
}

}  // namespace atl::sandbox::native
