#include "sandbox/native/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "os/file.h"

namespace atl::sandbox::native {
namespace {

// What copies that are made at once are made from: beyond this it may go to the disk.
constexpr std::uint64_t kInMemoryMax = 256U << 20;

// Paths of a user's choice go into messages: not without end.
std::string shortened(std::string text) {
  constexpr std::size_t longest = 160;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

struct Seen {
  const CaptureJob::Kernel& kernel;
  Subject process, zygote;
  Survey survey;
};

Result<Seen> look_at(const CaptureJob& job, const CaptureJob::Kernel& kernel, std::uint64_t bytes_max) {
  Subject process = TRY(Subject::open(job.proc, kernel.process.pid, kernel.process.born_at));
  Subject zygote = TRY(Subject::open(job.proc, kernel.zygote.pid, kernel.zygote.born_at));
  ZygoteAreas once;
  Survey seen = TRY(survey({process, zygote, kernel.parked.control, job.extent, bytes_max},
                           job.zygotes != nullptr ? *job.zygotes : once));
  return Seen{kernel, std::move(process), std::move(zygote), std::move(seen)};
}

std::uint64_t size_of(const Survey& survey) {
  std::uint64_t bytes = 0;
  for (const Run& run : survey.memory.runs) bytes += run.size;
  return bytes;
}

Result<void> take(Seen seen, ParkedWriter& writer, CaptureReport& report) {
  const std::string& id = seen.kernel.parked.id;
  const std::vector<std::string> left_behind = std::move(seen.survey.left_behind);
  TRY(writer.add(seen.kernel.parked, std::move(seen.survey), seen.process, seen.zygote));
  report.carried.push_back(id);
  for (const std::string& name : left_behind)
    report.left_behind.push_back(shortened(fmt::format("kernel {}: {}", id, name)));
  return {};
}

Result<void> refuse_losses(const CaptureJob& job, const CaptureReport& report) {
  if (!job.strict || report.left_behind.empty()) return {};
  return fail(Code::conflict, fmt::format("this would be lost: {}", fmt::join(report.left_behind, "; ")));
}

Result<void> take_all(const CaptureJob& job, int directory, CaptureReport& report) {
  if (job.kernels.empty()) return {};
  const auto leave = [&](const CaptureJob::Kernel& kernel, const Error& why) {
    report.left_behind.push_back(shortened(fmt::format("kernel {}: {}", kernel.parked.id, why.message())));
  };
  std::vector<Seen> all;
  std::uint64_t bytes = 0;
  for (const CaptureJob::Kernel& kernel : job.kernels) {
    auto seen = look_at(job, kernel, job.bytes_max - std::min(job.bytes_max, bytes));
    if (seen)
      bytes += size_of(seen->survey), all.push_back(std::move(*seen));
    else
      leave(kernel, seen.error());
  }
  const bool in_memory = job.extent == Extent::difference && bytes <= kInMemoryMax;
  ParkedWriter writer = TRY(in_memory ? ParkedWriter::in_memory() : ParkedWriter::create(directory));
  for (Seen& seen : all) {
    const CaptureJob::Kernel& kernel = seen.kernel;
    if (auto taken = take(std::move(seen), writer, report); !taken) leave(kernel, taken.error());
  }
  TRY(writer.finish());
  if (in_memory) report.kernels = writer.release();
  return {};
}

}  // namespace

Result<CaptureReport> write_capture(CaptureJob job) {
  CaptureReport report;
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
  const std::vector<ParkedKernel> kernels = TRY(read_parked(job.file));
  if (job.index >= kernels.size()) return fail(Code::not_found, "there is no such kernel in the file");
  const ParkedPages pages = TRY(ParkedPages::open(job.file, kernels[job.index]));
  const Subject process = TRY(Subject::open(job.proc, job.process.pid, job.process.born_at));
  const Subject zygote = TRY(Subject::open(job.proc, job.zygote.pid, job.zygote.born_at));
  // A state that was gone on from before is copied, whatever became of the first one. Where that cannot be
  // known, too. The mark goes into nothing but a file that was found whole above: whoever sent it may be
  // anybody.
  const bool resumed =
      kernels[job.index].extent == Extent::whole && count_revival(job.proc, job.file, job.index) == 0U;
  const Recipient to{process, zygote, job.control, resumed};
  return transplant(pages.memory(), pages.bytes(), to);
}

}  // namespace atl::sandbox::native
