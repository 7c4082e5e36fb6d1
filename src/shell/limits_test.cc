#include "shell/limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "shell/shell.h"

namespace atl::shell {
namespace {

struct Shell {
  vfs::VirtualFileSystem fs{base_snapshot()};
  SandboxShell shell;
  explicit Shell(ShellOptions options = {}) : shell(fs, std::move(options)) {}
};

// Each limit alone is made small; everything else keeps its default, so that nothing else can end the script.
struct LimitCase {
  const char* name;
  Limit limit;
  void (*set)(Limits&);
  const char* script;
};

class Limited : public testing::TestWithParam<LimitCase> {};

TEST_P(Limited, ends_the_script_with_its_own_message_and_leaves_the_shell_usable) {
  ShellOptions options;
  GetParam().set(options.limits);
  Shell s(options), neighbour(options);
  EXPECT_EQ(neighbour.shell.execute("x=1; echo 1").out, "1\n");
  Executed done = s.shell.execute(GetParam().script);
  EXPECT_TRUE(done.limited) << done.out.substr(0, 300) << done.err;
  EXPECT_FALSE(done.canceled);
  EXPECT_EQ(static_cast<int>(done.limit), static_cast<int>(GetParam().limit)) << done.err;
  EXPECT_EQ(done.status, status_of(GetParam().limit));
  EXPECT_GT(done.status, 200) << "beyond signals and what programs use";
  EXPECT_TRUE(done.reason.find(describe(GetParam().limit, options.limits)) != std::string::npos)
      << done.reason;
  EXPECT_NE(done.err.find(describe(GetParam().limit, options.limits)), std::string::npos) << done.err;
  if (GetParam().limit < Limit::deadlock) {
    EXPECT_NE(done.err.find(std::string("raise ") + std::string(name_of(GetParam().limit))),
              std::string::npos)
        << done.err;
  }
  EXPECT_EQ(s.shell.execute("echo alive").out, "alive\n");
  EXPECT_EQ(neighbour.shell.execute("echo $x").out, "1\n");
}

const LimitCase cases[] = {
    {"script_bytes", Limit::script_bytes, [](Limits& l) { l.script_bytes = 100; },
     "printf 'echo %0200d' 1 > s; . ./s"},
    {"script_bytes_of_eval", Limit::script_bytes, [](Limits& l) { l.script_bytes = 200; },
     "x=$(printf '%0300d' 1); eval \"$x\""},
    {"tokens", Limit::tokens, [](Limits& l) { l.tokens = 1000; },
     "while :; do eval 'a b c d' 2>/dev/null; done"},
    {"nesting", Limit::nesting, [](Limits& l) { l.nesting = 20; },
     "echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo $(echo 1)))))))))))"},
    {"nested_quotes", Limit::nesting, [](Limits& l) { l.nesting = 6; },
     "echo ${a:-${b:-${c:-${d:-${e:-${f:-x}}}}}}"},
    {"commands", Limit::commands, [](Limits& l) { l.commands = 500; },
     "f() { :; :; :; }; while :; do f; done"},
    {"iterations_of_while", Limit::iterations, [](Limits& l) { l.iterations = 100; }, "while :; do :; done"},
    {"iterations_of_until", Limit::iterations, [](Limits& l) { l.iterations = 100; },
     "until false; do :; done"},
    {"iterations_of_for", Limit::iterations, [](Limits& l) { l.iterations = 100; },
     "for i in {1..200}; do :; done"},
    {"iterations_of_arithmetic_for", Limit::iterations, [](Limits& l) { l.iterations = 100; },
     "for ((;;)); do :; done"},
    {"iterations_of_select", Limit::iterations, [](Limits& l) { l.iterations = 10; },
     "yes 1 | select x in a b; do :; done 2>/dev/null"},
    {"work", Limit::work, [](Limits& l) { l.work = 1'000'000; }, "while :; do :; done"},
    {"output", Limit::output_bytes, [](Limits& l) { l.output_bytes = 100'000; }, "yes"},
    {"word", Limit::expansion_bytes, [](Limits& l) { l.expansion_bytes = 10'000; },
     "x=aaaaaaaa; while :; do x=$x$x; done"},
    {"substitution", Limit::expansion_bytes, [](Limits& l) { l.expansion_bytes = 10'000; }, "x=$(yes)"},
    {"printf_width", Limit::expansion_bytes, [](Limits& l) { l.expansion_bytes = 10'000; },
     "printf '%*s' 99999999999 x"},
    {"replacement", Limit::expansion_bytes, [](Limits& l) { l.expansion_bytes = 10'000; },
     "x=$(printf '%0500d' 1); x=${x//0/0000000000}; x=${x//0/0000000000}; echo ${#x}"},
    {"here_document", Limit::expansion_bytes, [](Limits& l) { l.expansion_bytes = 10'000; },
     "x=$(printf '%05000d' 1); cat <<E\n$x$x$x$x\nE\n"},
    {"line_read", Limit::expansion_bytes, [](Limits& l) { l.expansion_bytes = 10'000; },
     "tr '\\0' x < /dev/zero | read -r line"},
    {"fields", Limit::expansion_fields, [](Limits& l) { l.expansion_fields = 1000; },
     "x=$(seq 2000); set -- $x"},
    {"fields_mapfile", Limit::expansion_fields, [](Limits& l) { l.expansion_fields = 1000; },
     "seq 5000 | { mapfile a; }"},
    {"braces", Limit::brace_items, [](Limits& l) { l.brace_items = 1000; }, "echo {1..999999999}"},
    {"brace_product", Limit::brace_items, [](Limits& l) { l.brace_items = 1000; },
     "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"},
    {"glob", Limit::glob_entries, [](Limits& l) { l.glob_entries = 50; },
     "mkdir d; for i in {1..100}; do : > d/$i; done; echo d/*"},
    {"memory_of_variables", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "while :; do a+=(xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx); done"},
    {"memory_of_names", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "while :; do declare v$((i++))=x; done"},
    {"memory_of_a_line", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "sed p < /dev/zero"},
    {"memory_of_mapfile", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "mapfile x < /dev/zero"},
    {"memory_of_a_piped_line", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "tr '\\0' x < /dev/zero | cut -c1"},
    {"memory_of_a_file", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "tr '\\0' x < /dev/zero | jq -R ."},
    {"memory_of_sort", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; }, "yes | sort"},
    {"functions", Limit::call_depth, [](Limits& l) { l.call_depth = 50; }, "f() { f; }; f"},
    {"evals", Limit::call_depth, [](Limits& l) { l.call_depth = 50; }, "f() { eval f; }; f"},
    {"sources", Limit::call_depth, [](Limits& l) { l.call_depth = 50; }, "echo '. ./s' > s; . ./s"},
    {"subshells", Limit::subshell_depth, [](Limits& l) { l.subshell_depth = 20; }, "f() { (f); }; f"},
    {"nested_shells", Limit::subshell_depth, [](Limits& l) { l.subshell_depth = 20; },
     "echo 'bash ./s' > s; bash ./s"},
    {"processes", Limit::processes, [](Limits& l) { l.processes = 10; },
     "for i in {1..20}; do sleep 100 & done"},
    {"descriptors", Limit::descriptors, [](Limits& l) { l.descriptors = 30; },
     "while :; do exec {fd}> f; done"},
    {"regex_of_grep", Limit::regex_steps, [](Limits& l) { l.regex_steps = 1000; },
     "printf '%050d1' 0 | grep -P '^(0+)+$'"},
    {"regex_of_sed", Limit::regex_steps, [](Limits& l) { l.regex_steps = 1000; },
     "printf '%050d1' 0 | sed -E 's/^((0+)+)\\2$//'"},
    {"regex_of_conditional", Limit::regex_steps, [](Limits& l) { l.regex_steps = 1000; },
     "x=$(printf '%050d1' 0); re='^((0+)+)\\2$'; [[ $x =~ $re ]]"},
    {"regex_memory_of_grep", Limit::regex_bytes, [](Limits& l) { l.regex_bytes = 2'000; },
     "echo x | grep -E \"$(printf 'ab?%.0s' {1..3000})\""},
    {"regex_memory_of_perl", Limit::regex_bytes, [](Limits& l) { l.regex_bytes = 2'000; },
     "echo x | grep -P \"(?=$(printf 'a%.0s' {1..5000}))\""},
    {"regex_memory_of_sed", Limit::regex_bytes, [](Limits& l) { l.regex_bytes = 2'000; },
     "echo x | sed -E \"s/(a)\\\\1$(printf 'ab?%.0s' {1..3000})//\""},
    {"regex_memory_of_conditional", Limit::regex_bytes, [](Limits& l) { l.regex_bytes = 2'000; },
     "re=$(printf 'ab?%.0s' {1..3000}); [[ x =~ $re ]]"},
    {"regex_of_awk", Limit::regex_steps, [](Limits& l) { l.regex_steps = 1000; },
     "head -c 100000 /dev/urandom | od -An -v -tx1 | tr -d ' \\n' | awk '/[0-9a-f]*[0-7][0-9a-f]{500}x/'"},
    {"regex_of_jq", Limit::regex_steps, [](Limits& l) { l.regex_steps = 1000; },
     "printf '%050d1' 0 | jq -R 'test(\"^(0+)+$\")'"},
    {"regex_that_grows", Limit::regex_steps, [](Limits&) {},
     "x=$(head -c 500000 /dev/urandom | od -An -v -tx1 | tr -d ' \\n'); [[ $x =~ "
     "[0-9a-f]*[0-7][0-9a-f]{250}x ]]"},
    {"archive_entries_of_zip", Limit::archive_entries, [](Limits& l) { l.archive_entries = 5; },
     "touch {1..9}; zip -q a.zip {1..9}; unzip -l a.zip"},
    {"archive_bytes_of_tar", Limit::archive_bytes, [](Limits& l) { l.archive_bytes = 100'000; },
     "yes | head -c 200000 > f; tar cf a.tar f; rm f; tar xf a.tar"},
    {"archive_bytes_of_zip", Limit::archive_bytes, [](Limits& l) { l.archive_bytes = 100'000; },
     "yes | head -c 200000 > f; zip -q a.zip f; rm f; unzip a.zip"},
    {"archive_bytes_of_zstd", Limit::archive_bytes, [](Limits& l) { l.archive_bytes = 100'000; },
     "yes | head -c 200000 | zstd > a.zst; zstd -dc a.zst"},
    {"archive_bytes_of_xz", Limit::archive_bytes, [](Limits& l) { l.archive_bytes = 100'000; },
     "yes | head -c 200000 | xz > a.xz; xz -dc a.xz"},
    {"archive_bytes_of_bzip2", Limit::archive_bytes, [](Limits& l) { l.archive_bytes = 100'000; },
     "yes | head -c 200000 | bzip2 > a.bz2; bzip2 -dc a.bz2"},
    {"memory_of_sqlite", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 4 << 20; },
     "sqlite3 :memory: 'create table t(x); with recursive n(i) as (select 1 union all select i + 1 from n) "
     "insert into t "
     "select randomblob(10000) from n'"},
    {"memory_of_a_sqlite_value", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 4 << 20; },
     "sqlite3 :memory: 'select length(zeroblob(20000000) || zeroblob(20000000))'"},
    {"memory_of_awk", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "awk 'BEGIN { while (1) a[i++] = \"xxxxxxxxxxxxxxxx\" i }'"},
    {"memory_of_jq", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "jq -n '[range(1e9)]'"},
    {"memory_of_sed", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; }, "yes | sed 'H; d'"},
    {"memory_of_awk_strings", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 8 << 20; },
     "awk 'BEGIN { x = \"aaaaaaaa\"; while (1) x = x x }'"},
    {"memory_of_jq_strings", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 8 << 20; },
     "jq -n '\"aaaaaaaa\" | until(false; . + .)'"},
    {"memory_of_sed_doubling", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 8 << 20; },
     "echo a | sed ':a; s/.*/&&/; ta'"},
    {"memory_of_column", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "yes 'a b' | column -t"},
    {"memory_of_shuf", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; }, "yes | shuf"},
    {"memory_of_tail", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "yes | tail -n 1000000000"},
    {"memory_of_head", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "yes | head -n -1000000000"},
    {"memory_of_tsort", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 4 << 20; },
     "seq 100000000 | tsort"},
    {"memory_of_diff", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "diff <(yes) <(yes n)"},
    {"memory_of_uniq_keys", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 4 << 20; },
     "seq 100000000 | awk '!seen[$0]++' > /dev/null"},
    {"memory_of_functions", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 4 << 20; },
     "for ((i = 0; ; i++)); do eval \"f$i() { echo a; echo b; echo c; }\"; done"},
    {"memory_of_bc", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; },
     "echo 'while (1) a[i++] = i' | bc"},
    {"memory_of_positions", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 4 << 20; },
     "set -- x; while :; do set -- \"$@\" \"$@\"; done"},
    {"memory_of_tac", Limit::memory_bytes, [](Limits& l) { l.memory_bytes = 1 << 20; }, "yes | tac"},
    {"work_of_bc", Limit::work, [](Limits& l) { l.work = 10'000'000; }, "echo 'while (1) x = x + 1' | bc"},
    {"work_of_sqlite", Limit::work, [](Limits& l) { l.work = 10'000'000; },
     "sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from "
     "n'"},
    {"call_depth_of_traps", Limit::call_depth, [](Limits& l) { l.call_depth = 50; },
     "f() { g; }; g() { eval f; }; trap f USR1; kill -USR1 $$"},
    {"brace_items_of_letters", Limit::brace_items, [](Limits& l) { l.brace_items = 1000; },
     "echo {a..z}{a..z}{a..z}"},
    {"glob_star", Limit::glob_entries, [](Limits& l) { l.glob_entries = 1000; },
     "mkdir -p {1..5}/{1..5}/{1..5}/{1..5}; shopt -s globstar; echo **/**/**/**/**/x"},
    {"descriptors_in_a_loop", Limit::descriptors, [](Limits& l) { l.descriptors = 40; },
     "for i in {10..60}; do eval \"exec $i< /dev/null\" || exec {fd}< /dev/null; done"},
    {"archive_entries", Limit::archive_entries, [](Limits& l) { l.archive_entries = 5; },
     "touch {1..9}; tar cf a.tar {1..9}; tar tf a.tar"},
    {"archive_bytes", Limit::archive_bytes, [](Limits& l) { l.archive_bytes = 100'000; },
     "yes | head -c 200000 | gzip > a.gz; gunzip a.gz"},
    {"archive_ratio", Limit::archive_ratio,
     [](Limits& l) { l.archive_ratio = 10, l.archive_free_bytes = 1000; },
     "yes | head -c 200000 | gzip > a.gz; zcat a.gz"},
    {"archive_ratio_of_tar", Limit::archive_ratio,
     [](Limits& l) { l.archive_ratio = 10, l.archive_free_bytes = 1000; },
     "yes | head -c 200000 > f; tar czf a.tgz f; tar xzf a.tgz"},
    {"wall_time_busy", Limit::wall_time, [](Limits& l) { l.wall_time = std::chrono::milliseconds(20); },
     "while :; do :; done"},
    {"wall_time_asleep", Limit::wall_time, [](Limits& l) { l.wall_time = std::chrono::milliseconds(20); },
     "sleep 1000"},
    {"cpu_time", Limit::cpu_time, [](Limits& l) { l.cpu_time = std::chrono::milliseconds(20); },
     "while :; do :; done"},
    {"deadlock", Limit::deadlock, [](Limits&) {}, "mkfifo p; cat p"},
};
INSTANTIATE_TEST_SUITE_P(Each, Limited, testing::ValuesIn(cases),
                         [](const auto& given) { return given.param.name; });

// A limit that is added must be reached by a case above.
TEST(Limits, every_one_has_a_case) {
  for (int number = 1; number <= static_cast<int>(Limit::deadlock); ++number) {
    auto limit = static_cast<Limit>(number);
    EXPECT_TRUE(std::any_of(std::begin(cases), std::end(cases), [&](const LimitCase& one) {
      return one.limit == limit;
    })) << name_of(limit);
  }
}

TEST(Limits, have_names_statuses_and_values_of_their_own) {
  std::set<std::string> names;
  for (int number = 1; number <= static_cast<int>(Limit::deadlock); ++number)
    names.emplace(name_of(static_cast<Limit>(number)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Limit::deadlock));
  EXPECT_EQ(names.count("none"), 0U);
  EXPECT_EQ(status_of(Limit::script_bytes), 201);
  EXPECT_EQ(status_of(Limit::deadlock), 224);
}

TEST(Limits, are_set_by_name) {
  Limits limits;
  EXPECT_TRUE(set_limit(limits, "commands", "12"));
  EXPECT_TRUE(set_limit(limits, "nesting", "13"));
  EXPECT_TRUE(set_limit(limits, "wall_time", "0.5"));
  EXPECT_EQ(limits.commands, 12U);
  EXPECT_EQ(limits.nesting, 13U);
  EXPECT_EQ(limits.wall_time, std::chrono::milliseconds(500));
  for (auto [name, value] : {std::pair{"commands", "x"},
                             {"commands", "-1"},
                             {"commands", ""},
                             {"nesting", "99999999999"},
                             {"wall_time", "-1"},
                             {"wall_time", "nan"},
                             {"wall_time", "1s"},
                             {"deadlock", "1"},
                             {"", "1"}}) {
    auto done = set_limit(limits, name, value);
    ASSERT_FALSE(done) << name << value;
    EXPECT_NE(done.error().message().find(*name ? name : "commands"), std::string::npos)
        << done.error().message();
  }
}

TEST(Limits, files_count_for_the_quota_and_not_for_memory) {
  ShellOptions options;
  options.limits.memory_bytes = 4 << 20;
  Shell s(options);
  Executed done = s.shell.execute("yes | head -c 40000000 > f; wc -c < f; cat f f f | wc -c; rm f");
  EXPECT_EQ(done.out.substr(0, 18), "40000000\n120000000") << done.err;
}

TEST(Limits, the_script_itself_is_measured) {
  ShellOptions options;
  options.limits.script_bytes = 10;
  Shell s(options);
  EXPECT_EQ(static_cast<int>(s.shell.execute("echo 1234567890").limit),
            static_cast<int>(Limit::script_bytes));
}

TEST(Limits, one_shell_at_its_limit_is_not_noticed_by_another) {
  ShellOptions options;
  options.limits.iterations = 1000;
  Shell first(options), second(options);
  EXPECT_TRUE(first.shell.execute("x=1; while :; do :; done").limited);
  EXPECT_EQ(second.shell.execute("echo fine").out, "fine\n");
  EXPECT_EQ(first.shell.execute("echo $x").out, "1\n");
}

TEST(Limits, traps_and_handlers_cannot_outlive_the_end) {
  ShellOptions options;
  options.limits.iterations = 1000;
  Shell s(options);
  Executed done =
      s.shell.execute("trap 'while :; do :; done' EXIT ERR TERM; while :; do :; done; echo after");
  EXPECT_EQ(static_cast<int>(done.limit), static_cast<int>(Limit::iterations));
  EXPECT_EQ(done.out, "");
}

// ---- cancellation ----

TEST(Cancel, before_the_script_begins_is_kept) {
  Shell s;
  s.shell.cancel();
  Executed done = s.shell.execute("echo never; while :; do :; done");
  EXPECT_TRUE(done.canceled);
  EXPECT_EQ(done.status, canceled_status);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(s.shell.execute("echo on").out, "on\n");
}

TEST(Cancel, by_token_concerns_one_execution_only) {
  Shell s;
  std::stop_source stop;
  stop.request_stop();
  ExecuteOptions options;
  options.stop = stop.get_token();
  EXPECT_TRUE(s.shell.execute("echo never", options).canceled);
  EXPECT_EQ(s.shell.execute("echo on").out, "on\n");
}

// What can take long, everywhere: none of it may outlive a cancellation.
struct Endless {
  const char* name;
  const char* script;
};
class Canceled : public testing::TestWithParam<Endless> {};

TEST_P(Canceled, ends_soon) {
  ShellOptions options;
  options.limits.wall_time = std::chrono::seconds(60);
  options.limits.regex_steps = UINT32_MAX;  // fast machines would reach it before they are told to stop
  Shell s(options);
  std::stop_source stop;
  ExecuteOptions how;
  how.stop = stop.get_token();
  std::atomic<bool> begun = false;
  how.on_stdout = [&](std::string_view bytes) {
    if (bytes.starts_with("begin")) begun = true;
    begun.notify_all();
  };
  std::thread later([&] {
    begun.wait(false);
    // A lead, so that the script is in the middle of it; one that is not ends just as well.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  Executed done = s.shell.execute(std::string("echo begin\n") + GetParam().script, how);
  EXPECT_TRUE(begun.exchange(true));
  begun.notify_all();
  later.join();
  EXPECT_TRUE(done.canceled) << GetParam().script << " ended by " << done.reason << done.err;
  EXPECT_EQ(done.status, canceled_status);
  EXPECT_EQ(s.shell.execute("echo on").out, "on\n");
}

const Endless endless[] = {
    {"loop", "while :; do :; done"},
    {"nested_shell", "bash -c 'while :; do :; done'"},
    {"background", "while :; do :; done & wait"},
    {"sleep", "sleep 1000"},
    {"sleep_in_pipe", "sleep 1000 | cat"},
    {"read", "mkfifo p; sleep 1000 > p & read x < p"},
    {"pipe", "yes | cat > /dev/null"},
    {"arithmetic", "for ((i = 0; ; i++)); do ((x += i * 2)); done"},
    {"substitutions", "while :; do x=$(echo $x); done"},
    {"expansion", "x=$(printf '%01000000d' 0); while :; do y=${x//0/1}; done"},
    {"patterns", "x=$(printf '%0100000d' 0); while :; do [[ $x == *1*1*1*2 ]]; done"},
    {"suffixes", "x=$(printf '%01000000d' 0); while :; do y=${x%%*1}; done"},
    {"regex", "x=$(printf '%01000000d' 0); while :; do [[ $x =~ (0|1|2)*x ]]; done"},
    {"braces", "while :; do : {1..100000}; done"},
    {"glob", "mkdir -p a/{1..50}/{1..50}; shopt -s globstar; while :; do : **/**/x; done"},
    {"awk", "awk 'BEGIN { while (1) x++ }'"},
    {"awk_strings", "awk 'BEGIN { x = \"aaaaaaaa\"; while (1) { y = x x; gsub(/a/, \"b\", y) } }'"},
    {"sed", "echo a | sed ':a; s/a/a/; ta'"},
    {"jq", "jq -n 'last(range(1e12))'"},
    {"jq_range", "jq -n '[range(1e9)] | length'"},
    {"sort", "seq 300000 > f; while :; do sort -R f f f > /dev/null; done"},
    {"seq", "seq 1 100000000000 > /dev/null"},
    {"grep", "yes | grep x"},
    {"wc", "wc -l /dev/zero"},
    {"tr", "tr a b < /dev/zero > /dev/null"},
    {"find", "mkdir -p a/{1..30}/{1..30}; while :; do find . -name x; done"},
    {"xargs", "yes | xargs -n1 true"},
    {"factor", "while :; do factor 1000000000000000003; done"},
    {"timeout", "timeout 1000 bash -c 'while :; do :; done'"},
    {"printf", "while :; do printf -v x '%100000s' x; done"},
    {"one_long_match",
     "x=$(head -c 500000 /dev/urandom | od -An -v -tx1 | tr -d ' \\n'); echo now; [[ $x =~ (.*)\\1(.*)\\2x "
     "]]"},
    {"one_long_perl_match",
     "head -c 500000 /dev/urandom | od -An -v -tx1 | tr -d ' \\n' | grep -P '(.*)(.*)(.*)\\1\\2\\3x'"},
    {"many_short_matches", "yes aaaaaaaaaaaaaaaaaaaaaaaa | grep -P '^(a+)+(?=b)' "},
    {"one_sort", "awk 'BEGIN { for (i = 0; i < 5e7; i++) print rand() }' | sort > /dev/null"},
    {"one_statement",
     "sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from "
     "n'"},
    {"one_sorted_statement",
     "sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n limit 1e9) select i "
     "from n order by random()'"},
    {"bc", "echo 'while (1) x = x + 1' | bc"},
    {"bc_power", "echo 'while (1) x = 7 ^ 30000' | bc"},
    {"dc", "echo '[lax]salax' | dc"},
    {"large_brace", ": {1..900}{1..900}"},
    {"large_glob",
     "mkdir -p a/{1..20}/{1..20}/{1..20}; shopt -s globstar; while :; do : **/**/**/**/**/x; done"},
    {"large_replacement", "x=$(printf '%01000000d' 0); while :; do y=${x//@(0|00)/1}; done"},
    {"jq_recursion", "jq -n 'last(repeat(1))'"},
    {"jq_strings", "jq -n '[limit(1e9; repeat(\"a\"))] | add'"},
    {"awk_regex", "awk 'BEGIN { while (1) if (match(\"aaaaaaaaaaaaaaaaaaaaaaab\", /(a|aa)+$/)) x++ }'"},
    {"jq_paths",
     "jq -n '[range(300000)] as $all | [range(300000) | [.]] as $paths | last(repeat($all | "
     "delpaths($paths)))'"},
    {"awk_keys",
     "awk 'BEGIN { for (i = 0; i < 400000; i++) a[rand()] = a[-i] = 1; while (1) for (k in a) break }'"},
    {"sed_hold", "yes | sed -n 'H; x; s/a/b/g; x'"},
    {"gzip", "gzip < /dev/zero > /dev/null"},
    {"xz", "xz < /dev/zero > /dev/null"},
    {"digest", "sha512sum /dev/zero"},
    {"shuf", "shuf -i 1-1000 -r > /dev/null"},
    {"sort_many_keys", "seq 400000 > f; while :; do sort -k1,1n -k2,2r f > /dev/null; done"},
    {"column", "yes 'a b c' | column -t"},
    {"fmt", "yes 'a b c' | fmt > /dev/null"},
    {"join", "yes | join - <(yes)"},
    {"tar", "mkdir -p d/{1..30}; while :; do tar c d > /dev/null; done"},
    {"diff", "seq 1 2 40000 > a; seq 2 2 40000 > b; while :; do diff a b > /dev/null; done"},
};
INSTANTIATE_TEST_SUITE_P(Each, Canceled, testing::ValuesIn(endless),
                         [](const auto& given) { return given.param.name; });

// ---- timeout ----

TEST(Timeout, ends_a_nested_shell_that_computes) {
  Shell s;
  Executed done = s.shell.execute("timeout 0.1 bash -c 'while :; do :; done'; echo $?");
  EXPECT_EQ(done.out, "124\n");
}

TEST(Timeout, ends_a_command_that_computes) {
  Shell s;
  EXPECT_EQ(s.shell.execute("timeout 0.1 awk 'BEGIN { while (1); }'; echo $?").out, "124\n");
  EXPECT_EQ(s.shell.execute("timeout 0.1 yes > /dev/null; echo $?").out, "124\n");
}

TEST(Timeout, ends_what_the_command_started) {
  Shell s;
  Executed done = s.shell.execute("timeout 0.1 bash -c 'sleep 1000 | cat; echo no'; echo $?; jobs");
  EXPECT_EQ(done.out, "124\n");
}

TEST(Timeout, lets_a_trap_answer_the_signal) {
  Shell s;
  Executed done = s.shell.execute(
      "timeout -s USR1 0.1 bash -c 'trap \"echo got; exit 3\" USR1; while :; do :; done'; echo $?");
  EXPECT_EQ(done.out, "got\n124\n");
  done = s.shell.execute(
      "timeout --preserve-status 0.1 bash -c 'trap \"exit 3\" TERM; while :; do :; done'; echo $?");
  EXPECT_EQ(done.out, "3\n");
}

TEST(Timeout, kills_what_ignores_the_signal) {
  Shell s;
  Executed done =
      s.shell.execute("timeout -k 0.1 0.1 bash -c 'trap \"\" TERM; while :; do :; done'; echo $?");
  EXPECT_EQ(done.out, "137\n");
}

TEST(Timeout, a_busy_job_leaves_others_their_turn) {
  Shell s;
  Executed done = s.shell.execute("while :; do :; done & sleep 0.05; kill $!; wait $!; echo $?");
  EXPECT_EQ(done.out, "143\n");
}

}  // namespace
}  // namespace atl::shell
