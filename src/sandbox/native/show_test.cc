// What interpreters show of the libraries that are there: they are installed by scripts/setup, and where they
// are not these tests fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>

#include "sandbox/native/native.h"
#include "sandbox/native/native_harness.h"

namespace atl::sandbox::native {
namespace {

namespace bj = boost::json;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class ShowTest : public NativeHarness {
 protected:
  void SetUp() override {
    begin(NativeOptions{});
    sandbox_ = sandbox();
    ASSERT_TRUE(sandbox_);
    auto interpreter = run(sandbox_->create_interpreter(Language::python, ""));
    ASSERT_TRUE(interpreter) << interpreter.error().message();
    interpreter_ = *interpreter;
  }
  void TearDown() override {
    interpreter_.reset();
    sandbox_.reset();
    NativeHarness::TearDown();
  }
  static Task<std::vector<ResultBundle>> follow_results(std::shared_ptr<Interpreter> interpreter,
                                                        std::string code) {
    ExecutionSpec spec;
    spec.code = std::move(code);
    CO_TRY(const auto stream, co_await interpreter->execute(std::move(spec)));
    std::vector<ResultBundle> all;
    for (;;) {
      CO_TRY(ExecutionEvent event, co_await stream->next());
      if (auto* result = std::get_if<ResultBundle>(&event)) all.push_back(std::move(*result));
      if (auto* error = std::get_if<ExecutionError>(&event)) co_return fail(Code::internal, error->traceback);
      if (std::holds_alternative<ExecutionDone>(event)) co_return all;
    }
  }
  std::vector<ResultBundle> shown(std::string code) {
    auto all = run(follow_results(interpreter_, std::move(code)));
    EXPECT_TRUE(all) << all.error().message();
    return all ? *all : std::vector<ResultBundle>{};
  }
  // The chart of the one figure that the code draws.
  bj::object chart(const std::string& code) {
    const auto all = shown("import matplotlib.pyplot as plt\n" + code);
    const auto has_chart = [](const auto& one) { return one.data.contains("e2b/chart"); };
    EXPECT_EQ(std::ranges::count_if(all, has_chart), 1);
    const auto figure = std::ranges::find_if(all, has_chart);
    return figure == all.end() ? bj::object() : bj::parse(figure->data.at("e2b/chart")).as_object();
  }

  std::unique_ptr<Sandbox> sandbox_;
  std::shared_ptr<Interpreter> interpreter_;
};

TEST_F(ShowTest, FiguresAreImagesWithoutAWindow) {
  for (const char* code :
       {"plt.plot([1, 2])", "plt.plot([1, 2]); plt.show()", "fig, ax = plt.subplots(); ax.plot([1]); fig",
        "fig = plt.figure(); fig.gca().plot([1]); display(fig)"}) {
    const auto all = shown(std::string("import matplotlib.pyplot as plt\n") + code);
    ASSERT_FALSE(all.empty()) << code;
    const auto figure =
        std::ranges::find_if(all, [](const auto& one) { return one.data.contains("image/png"); });
    ASSERT_NE(figure, all.end()) << code;
    EXPECT_THAT(figure->data.at("image/png"), StartsWith("iVBORw0KGgo")) << code;
    EXPECT_THAT(figure->data.at("image/svg+xml"), HasSubstr("<svg")) << code;
    EXPECT_EQ(std::ranges::count_if(all, [](const auto& one) { return one.data.contains("image/png"); }), 1)
        << code;
  }
}

TEST_F(ShowTest, ImagesAreShownAndShownWhenTheyAreSaved) {
  const std::string make = "    from PIL import Image\n    image = Image.new('RGBA', (4, 4))\n";
  for (const char* code :
       {"    image.show()\n    None", "    image", "    image.save('/tmp/x.png')", "    display(image)"}) {
    const auto all = shown(make + code);
    ASSERT_THAT(all, SizeIs(1)) << code;
    EXPECT_THAT(all[0].data.at("image/png"), StartsWith("iVBORw0KGgo")) << code;
  }
  EXPECT_THAT(shown(make + "    import io; image.save(io.BytesIO(), 'PNG')"), SizeIs(0))
      << "nothing that has a name";
}

TEST_F(ShowTest, WhatWasDrawnBeforeAnErrorIsShown) {
  const auto all = shown(
      "import matplotlib.pyplot as plt\nimport datetime\nplt.figure()\n"
      "try: plt.plot([datetime.date(2026, 1, 1)], [1, 2])\nexcept ValueError: pass");
  ASSERT_THAT(all, SizeIs(1));
  const bj::object chart = bj::parse(all[0].data.at("e2b/chart")).as_object();
  EXPECT_EQ(chart.at("type"), "line");
  EXPECT_EQ(chart.at("x_scale"), "datetime");
  EXPECT_FALSE(run(follow_results(interpreter_, "plt.plot([1]); 1/0")));
  EXPECT_EQ(shown("len(plt.get_fignums())").at(0).data.at("text/plain"), "0")
      << "it is not kept for the next cell";
}

TEST_F(ShowTest, LinesHavePointsLabelsUnitsAndScales) {
  const bj::object line = chart(
      "plt.plot([1, 2, 3], [10, 100, 1000], label='growth'); plt.plot([1, 2], [5, 6])\n"
      "plt.title('Growth'); plt.xlabel('Time (s)'); plt.ylabel('Size (MB)'); plt.yscale('log')");
  EXPECT_EQ(line.at("type"), "line");
  EXPECT_EQ(line.at("title"), "Growth");
  EXPECT_EQ(line.at("x_label"), "Time (s)");
  EXPECT_EQ(line.at("x_unit"), "s");
  EXPECT_EQ(line.at("y_unit"), "MB");
  EXPECT_EQ(line.at("x_scale"), "linear");
  EXPECT_EQ(line.at("y_scale"), "log");
  const bj::array& elements = line.at("elements").as_array();
  ASSERT_THAT(elements, SizeIs(2));
  EXPECT_EQ(elements[0].at("label"), "growth");
  EXPECT_EQ(bj::serialize(elements[0].at("points")), "[[1,10],[2,100],[3,1000]]");
  const bj::object dates =
      chart("from datetime import date\nplt.plot([date(2024, 1, 1), date(2024, 1, 2)], [1, 2])");
  EXPECT_EQ(dates.at("x_scale"), "datetime");
}

TEST_F(ShowTest, ScattersAndBarsHaveTheirValues) {
  const bj::object scatter =
      chart("plt.scatter([1, 2], [3, 4], label='a'); plt.scatter([5], [6], label='b')");
  EXPECT_EQ(scatter.at("type"), "scatter");
  ASSERT_THAT(scatter.at("elements").as_array(), SizeIs(2));
  EXPECT_EQ(scatter.at("elements").at(0).at("label"), "a");
  EXPECT_EQ(scatter.at("elements").at(1).at("points").at(0).at(1).to_number<double>(), 6);
  const bj::object bar = chart("plt.bar(['x', 'y'], [3, 4.5], label='group')");
  EXPECT_EQ(bar.at("type"), "bar");
  ASSERT_THAT(bar.at("elements").as_array(), SizeIs(2));
  EXPECT_EQ(bar.at("elements").at(1).at("label"), "y");
  EXPECT_EQ(bar.at("elements").at(1).at("group"), "group");
  EXPECT_EQ(bar.at("elements").at(1).at("value").to_number<double>(), 4.5);
}

TEST_F(ShowTest, PiesBoxesAndSeveralAxes) {
  const bj::object pie = chart("plt.pie([1, 3], labels=['a', 'b'], autopct='%1.0f%%'); plt.title('Pie')");
  EXPECT_EQ(pie.at("type"), "pie");
  ASSERT_THAT(pie.at("elements").as_array(), SizeIs(2));
  EXPECT_EQ(pie.at("elements").at(1).at("label"), "b");
  EXPECT_EQ(pie.at("elements").at(1).at("angle").to_number<double>(), 270);
  const bj::object round = chart("plt.pie([90, 10], startangle=90)");
  EXPECT_EQ(round.at("elements").at(0).at("angle").to_number<double>(), 324) << "and not 323.9999";
  const bj::object box = chart("plt.boxplot([[1, 2, 3, 4, 100], [5, 6, 7]], labels=['p', 'q'])");
  EXPECT_EQ(box.at("type"), "box_and_whisker");
  ASSERT_THAT(box.at("elements").as_array(), SizeIs(2));
  EXPECT_EQ(box.at("elements").at(0).at("label"), "p");
  EXPECT_EQ(box.at("elements").at(0).at("median").to_number<double>(), 3);
  EXPECT_EQ(box.at("elements").at(0).at("outliers").at(0).to_number<double>(), 100);
  EXPECT_EQ(box.at("elements").at(1).at("max").to_number<double>(), 7);
  const bj::object both =
      chart("fig, (a, b) = plt.subplots(1, 2); a.plot([1, 2]); b.bar(['x'], [1]); fig.suptitle('Two')");
  EXPECT_EQ(both.at("type"), "superchart");
  EXPECT_EQ(both.at("title"), "Two");
  EXPECT_EQ(both.at("elements").at(1).at("type"), "bar");
}

TEST_F(ShowTest, NamesAreThoseOfTheAxes) {
  const bj::object words = chart("plt.scatter(['x', 'y'], ['p', 'q'])");
  EXPECT_EQ(words.at("x_scale"), "categorical");
  EXPECT_EQ(bj::serialize(words.at("elements").at(0).at("points")), R"([["x","p"],["y","q"]])");
  const bj::object numbers = chart("plt.bar([1, 2, 3], [4, 5, 6]); plt.ylabel('U [mV]')");
  EXPECT_EQ(numbers.at("y_unit"), "mV");
  EXPECT_EQ(numbers.at("elements").at(1).at("label"), "2");
  EXPECT_EQ(chart("plt.hist([1, 1, 2, 3, 3, 3], bins=4)").at("elements").at(1).at("label"), "1.75");
  const bj::object groups = chart(
      "plt.bar([-.2, .8], [1, 2], .4, label='A'); plt.bar([.2, 1.2], [3, 4], .4, label='B'); plt.xticks([0, "
      "1], ['u', 'v'])");
  EXPECT_EQ(bj::serialize(groups.at("elements")),
            R"([{"label":"u","group":"A","value":1},{"label":"v","group":"A","value":2},)"
            R"({"label":"u","group":"B","value":3},{"label":"v","group":"B","value":4}])");
  const bj::object days = chart("from datetime import date\nplt.barh([date(2024, 1, 1)], [-2])");
  EXPECT_EQ(days.at("elements").at(0).at("label"), "2024-01-01T00:00:00+00:00");
  EXPECT_EQ(days.at("elements").at(0).at("value").to_number<double>(), -2);
  EXPECT_EQ(chart("plt.pie([1, 3], labels=['50%', 'b'], autopct='%1.0f%%')").at("elements").at(0).at("label"),
            "50%");
}

TEST_F(ShowTest, BoxesHoweverTheyAreDrawn) {
  for (const char* how :
       {"", "vert=False", "patch_artist=True", "patch_artist=True, vert=False", "notch=True",
        "notch=True, patch_artist=True, showmeans=True, meanline=True", "showmeans=True", "showcaps=False"}) {
    const bj::object box =
        chart(std::string("plt.boxplot([[5, 6, 7], [1, 2, 3, 4, 100]], labels=['p', 'q'], ") + how + ")");
    EXPECT_EQ(box.at("type"), "box_and_whisker") << how;
    ASSERT_THAT(box.at("elements").as_array(), SizeIs(2)) << how;
    EXPECT_EQ(
        bj::serialize(bj::parse(bj::serialize(box.at("elements").at(1)))),
        R"({"label":"q","min":1E0,"first_quartile":2E0,"median":3E0,"third_quartile":4E0,"max":4E0,"outliers":[1E2]})")
        << how;
  }
  EXPECT_EQ(chart("plt.boxplot([1, 2, 3, 100], showfliers=False)")
                .at("elements")
                .at(0)
                .at("outliers")
                .as_array()
                .size(),
            0U);
  EXPECT_EQ(chart("plt.plot([1, 2, 3, 2, 1], [1, 2, 1, 0, 1])").at("type"), "line")
      << "a closed line is no box";
}

TEST_F(ShowTest, WhatIsNotToldIsNotInvented) {
  EXPECT_EQ(chart("plt.figure().add_subplot(projection='3d').scatter([1], [2], [3])").at("type"), "unknown");
  EXPECT_EQ(chart("plt.colorbar(plt.scatter([1, 2], [3, 4], c=[1, 2]))").at("type"), "scatter")
      << "its scale is no chart";
  const auto large =
      shown("import matplotlib.pyplot as plt, numpy\nplt.scatter(*numpy.random.rand(2, 60000));");
  ASSERT_THAT(large, SizeIs(1));
  EXPECT_TRUE(large[0].data.contains("image/png"));
  EXPECT_FALSE(large[0].data.contains("image/svg+xml")) << "seconds, and megabytes";
  EXPECT_FALSE(large[0].data.contains("e2b/chart"));
}

TEST_F(ShowTest, TablesOfEveryKind) {
  const auto mixed = shown(
      "import pandas as pd\npd.DataFrame({'i': pd.array([1, None], dtype='Int64'), 'b': [True, False], 'c': "
      "pd.Categorical(['u', 'v']), 'z': pd.to_datetime(['2024-01-01', "
      "'2024-06-01']).tz_localize('Europe/Berlin')}, "
      "index=pd.MultiIndex.from_tuples([('p', 1), ('q', 2)]))");
  ASSERT_THAT(mixed, SizeIs(1));
  EXPECT_EQ(bj::parse(mixed[0].data.at("e2b/data")),
            bj::parse(R"({"i":[1,null],"b":[true,false],"c":["u","v"],)"
                      R"("z":["2024-01-01T00:00:00+01:00","2024-06-01T00:00:00+02:00"]})"));
  EXPECT_THAT(mixed[0].data.at("text/html"), HasSubstr("<th>q</th>"));
  const auto twins = shown("pd.DataFrame([[1, 2], [3, 4]], columns=['a', 'a'])");
  EXPECT_EQ(bj::parse(twins.at(0).data.at("e2b/data")), bj::parse(R"({"a":[1,3],"a.1":[2,4]})"));
  const auto large = shown("pd.DataFrame({'n': range(2000000)})");
  EXPECT_THAT(large.at(0).data.at("text/plain"), HasSubstr("[2000000 rows x 1 columns]"));
  EXPECT_FALSE(large.at(0).data.contains("e2b/data"));
}

TEST_F(ShowTest, TablesAreHtmlAndData) {
  const auto all = shown(
      "import pandas as pd\npd.DataFrame({'n': [1, 2], 't': ['a', None], 'f': [0.5, float('nan')], "
      "'d': pd.to_datetime(['2024-01-01', None])})");
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_TRUE(all[0].is_main);
  EXPECT_THAT(all[0].data.at("text/html"), HasSubstr("<table"));
  EXPECT_THAT(all[0].data.at("text/plain"), HasSubstr("2024-01-01"));
  EXPECT_EQ(bj::parse(all[0].data.at("e2b/data")),
            bj::parse(R"({"n":[1,2],"t":["a",null],"f":[0.5,null],"d":["2024-01-01T00:00:00",null]})"));
}

TEST_F(ShowTest, PicturesAreImages) {
  const auto all = shown("from PIL import Image\nImage.new('RGB', (4, 4), 'red')");
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].data.at("image/png"), StartsWith("iVBORw0KGgo"));
}

// Where a Node is, it waits in ready sandboxes as Python does, started before anybody asked.
TEST(WarmNode, WaitsInThePool) {
  class Harness : public NativeHarness {
   public:
    using NativeHarness::begin, NativeHarness::said, NativeHarness::turn, NativeHarness::sandbox;
    using NativeHarness::run, NativeHarness::provider_, NativeHarness::TearDown;
    void TestBody() override {}
  } harness;
  NativeOptions options;
  options.pools.push_back({.environment = "host", .spec = {}, .ready = 1, .warm = {Language::javascript}});
  harness.begin(std::move(options));
  for (int i = 0; i < 3000 && harness.provider_->pools().front().ready == 0; ++i)
    harness.turn(std::chrono::milliseconds(10));
  ASSERT_EQ(harness.provider_->pools().front().ready, 1U);
  harness.turn(std::chrono::milliseconds(700));
  {
    const auto sandbox = harness.sandbox();
    EXPECT_TRUE(sandbox->interpreters().empty());
    auto interpreter = harness.run(sandbox->create_interpreter(Language::javascript, ""));
    ASSERT_TRUE(interpreter) << interpreter.error().message();
    EXPECT_EQ(harness.said(*interpreter, "process.uptime() > 0.6"), "true");
    EXPECT_EQ(harness.said(*interpreter, "var x = 5; x + process.cwd()"), "'5/home/user'");
    auto second = harness.run(sandbox->create_interpreter(Language::javascript, ""));
    ASSERT_TRUE(second);
    EXPECT_EQ(harness.said(*second, "typeof x"), "'undefined'");
  }
  harness.TearDown();
}

}  // namespace
}  // namespace atl::sandbox::native
