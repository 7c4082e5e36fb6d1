#include "base/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

namespace atl::trace {
namespace {

constexpr std::string_view kGiven = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class Gathering final : public Sink {
 public:
  explicit Gathering(bool samples) : samples_(samples) { set_sink(this); }
  ~Gathering() override { set_sink(nullptr); }
  bool samples(const TraceId&) const override { return samples_; }
  void take(EndedSpan span) override {
    const std::lock_guard lock(mutex_);
    spans.push_back(std::move(span));
  }
  std::vector<EndedSpan> spans;

 private:
  bool samples_;
  std::mutex mutex_;
};

TEST(TraceparentTest, RefusesWhatIsNone) {
  for (const std::string_view text : {
           "",
           "00",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
           "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
           "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
       })
    EXPECT_FALSE(parse_traceparent(text)) << text;
}

TEST(TraceparentTest, ReadsAndWrites) {
  const auto context = parse_traceparent(kGiven);
  ASSERT_TRUE(context);
  EXPECT_TRUE(context->is_sampled);
  EXPECT_EQ(to_hex(context->trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(to_hex(context->span_id), "00f067aa0ba902b7");
  EXPECT_EQ(to_traceparent(*context), kGiven);
  EXPECT_EQ(to_traceparent(Context{}), "");
  const auto later = parse_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-what.else");
  ASSERT_TRUE(later);
  EXPECT_FALSE(later->is_sampled);
}

TEST(SpanTest, WithoutASinkHandsOnWhatCame) {
  const Span span = Span::of_request(kGiven);
  EXPECT_FALSE(span.is_recorded());
  EXPECT_EQ(to_traceparent(span.context()), kGiven);
  EXPECT_FALSE(Span::of_request("").context().is_valid());
  EXPECT_FALSE(Span(span.context(), "part").is_recorded());
}

TEST(SpanTest, ACallersDecisionStands) {
  Gathering sink(true);
  EXPECT_FALSE(Span::of_request("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00").is_recorded());
  EXPECT_TRUE(sink.spans.empty());
  { const Span span = Span::of_request(kGiven); }
  ASSERT_EQ(sink.spans.size(), 1U);
  EXPECT_EQ(to_hex(sink.spans[0].context.trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(to_hex(sink.spans[0].parent), "00f067aa0ba902b7");
  EXPECT_EQ(sink.spans[0].kind, Kind::server);
}

TEST(SpanTest, TheSinkDecidesAboutNewTraces) {
  {
    Gathering sink(false);
    const Span span = Span::of_request("");
    EXPECT_FALSE(span.is_recorded());
    EXPECT_FALSE(span.context().is_valid());
  }
  Gathering sink(true);
  Span span = Span::of_request("");
  EXPECT_TRUE(span.is_recorded());
  EXPECT_TRUE(span.context().is_valid());
  span.end();
  EXPECT_EQ(sink.spans.size(), 1U);
  EXPECT_EQ(sink.spans[0].parent, SpanId{});
}

TEST(SpanTest, PartsNameTheirParent) {
  Gathering sink(true);
  {
    Span whole = Span::of_request("");
    whole.rename("GET /x");
    Span part(whole.context(), "policy");
    part.set("allowed", 1);
    part.set("policy", "strict");
    part.fail("denied");
    EXPECT_NE(part.context().span_id, whole.context().span_id);
  }
  ASSERT_EQ(sink.spans.size(), 2U);  // the part ends first
  EXPECT_EQ(sink.spans[0].name, "policy");
  EXPECT_EQ(sink.spans[0].parent, sink.spans[1].context.span_id);
  EXPECT_EQ(sink.spans[0].context.trace_id, sink.spans[1].context.trace_id);
  EXPECT_EQ(sink.spans[0].attributes.size(), 2U);
  EXPECT_EQ(sink.spans[0].failure, "denied");
  EXPECT_EQ(sink.spans[1].name, "GET /x");
  EXPECT_GE(sink.spans[1].took, sink.spans[0].took);
}

TEST(SpanTest, EndsOnceAlsoWhenMoved) {
  Gathering sink(true);
  Span one = Span::of_request("");
  Span two = std::move(one);
  two = Span(two.context(), "next");  // ends what it held
  EXPECT_EQ(sink.spans.size(), 1U);
  two.end();
  two.end();
  EXPECT_EQ(sink.spans.size(), 2U);
}

TEST(SpanTest, IdsDiffer) {
  Gathering sink(true);
  const Span root = Span::of_request("");
  for (int i = 0; i < 1000; ++i) Span(root.context(), "x").end();
  std::vector<SpanId> ids;
  for (const EndedSpan& span : sink.spans) ids.push_back(span.context.span_id);
  for (int i = 0; i < 1000; ++i) {
    const TraceId id = Span::of_request("").context().trace_id;
    for (const bool first : {true, false}) {
      SpanId half{};
      std::copy_n(id.begin() + (first ? 0 : 8), 8, half.begin());
      ids.push_back(half);
    }
  }
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

}  // namespace
}  // namespace atl::trace
