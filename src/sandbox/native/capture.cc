#include "sandbox/native/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "os/file.h"

namespace atl::sandbox::native {
namespace {

// Paths of a user's choice go into messages: not without end.
std::string shortened(std::string text) {
  constexpr std::size_t longest = 160;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

Result<void> take(const CaptureJob& job, const CaptureJob::Kernel& kernel, ParkedWriter& writer,
                  CaptureReport& report) {
  const Subject process = TRY(Subject::open(job.proc, kernel.process.pid, kernel.process.born_at));
  const Subject zygote = TRY(Subject::open(job.proc, kernel.zygote.pid, kernel.zygote.born_at));
  const std::uint64_t left = job.bytes_max - std::min(job.bytes_max, writer.size());
  Survey seen = TRY(survey(process, zygote, kernel.parked.control, job.extent, left));
  const os::Fd memory = TRY(process.open_file("mem", O_RDONLY));
  TRY(writer.add(kernel.parked, std::move(seen.memory), memory.get()));
  report.carried.push_back(kernel.parked.id);
  for (std::string& name : seen.left_behind)
    report.left_behind.push_back(shortened(fmt::format("kernel {}: {}", kernel.parked.id, name)));
  return {};
}

Result<void> refuse_losses(const CaptureJob& job, const CaptureReport& report) {
  if (!job.strict || report.left_behind.empty()) return {};
  return fail(Code::conflict, fmt::format("this would be lost: {}", fmt::join(report.left_behind, "; ")));
}

Result<void> take_all(const CaptureJob& job, int directory, CaptureReport& report) {
  if (job.kernels.empty()) return {};
  ParkedWriter writer = TRY(ParkedWriter::create(directory));
  for (const CaptureJob::Kernel& kernel : job.kernels)
    if (auto taken = take(job, kernel, writer, report); !taken)
      report.left_behind.push_back(
          shortened(fmt::format("kernel {}: {}", kernel.parked.id, taken.error().message())));
  return writer.finish();
}

}  // namespace

Result<CaptureReport> write_capture(CaptureJob job) {
  CaptureReport report;
  for (std::string& name : job.left_behind) report.left_behind.push_back(shortened(std::move(name)));
  TRY(refuse_losses(job, report));
  job.files.beside = [&](int directory) -> Result<void> {
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
  const Recipient to{process, zygote, job.control, kernels[job.index].extent == Extent::whole};
  return transplant(pages.memory(), pages.bytes(), to);
}

}  // namespace atl::sandbox::native
