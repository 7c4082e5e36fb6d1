#pragma once

#include <string>
#include <string_view>

#include "base/trace.h"

// Spans in the protocol buffers of OpenTelemetry (opentelemetry/proto/trace/v1/trace.proto), written by hand:
// six messages of few fields, which do not change any more. Plain functions, for any thread.
namespace atl::telemetry {

// Appends one span. Texts that come from outside are cut; what is not UTF-8 in them is replaced.
void append_span(std::string& out, const trace::EndedSpan& span);
// The body of one request to a collector (ExportTraceServiceRequest). `spans`: what append_span() appended,
// any number of them. `instance`: which service this is.
std::string export_request(std::string_view spans, const std::string& instance);

}  // namespace atl::telemetry
