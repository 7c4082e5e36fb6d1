// Commands for which the machine has no original to compare with, and what must fail closed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shell/shell.h"

namespace atl::shell {
namespace {

using ::testing::HasSubstr;

Executed run(std::string_view script, std::string_view input = {}, ShellOptions options = {}) {
  vfs::VirtualFileSystem fs(base_snapshot());
  SandboxShell shell(fs, std::move(options));
  return shell.execute(script, input);
}

TEST(Yq, refuses_bad_input_with_its_place) {
  Executed done = run("yq .", "a: [1\nb: 2\n");
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.err, HasSubstr("stdin:2"));
  EXPECT_EQ(run("yq . nofile").status, 1);
  EXPECT_EQ(run("yq '.['", "a: 1").status, 3);
  EXPECT_EQ(run("yq -o xml .", "a: 1").status, 2);
  EXPECT_THAT(run("yq --nonsense .", "a: 1").err, HasSubstr("nonsense"));
  EXPECT_EQ(run("yq -i .a", "a: 1").status, 1);
  EXPECT_EQ(run("yq -e .b", "a: 1").status, 1);
}

TEST(Yq, evaluates_jq_on_yaml) {
  constexpr std::string_view kText = "a: 1\nlist:\n  - x\n  - k: true\ns: \"1\"\n";
  EXPECT_EQ(run("yq .a", kText).out, "1\n");
  EXPECT_EQ(run("yq '.list[1].k'", kText).out, "true\n");
  EXPECT_EQ(run("yq -o json -I 0 .", kText).out, "{\"a\":1,\"list\":[\"x\",{\"k\":true}],\"s\":\"1\"}\n");
  EXPECT_EQ(run("yq '.a = 2'", kText).out, "a: 2\nlist:\n  - x\n  - k: true\ns: \"1\"\n");
  EXPECT_EQ(run("yq -r '.list[0]'", kText).out, "x\n");
  EXPECT_EQ(run("yq -p json -o yaml .", "{\"k\":[1,{\"z\":null}],\"e\":[],\"o\":{}}").out,
            "k:\n  - 1\n  - z: null\ne: []\no: {}\n");
  EXPECT_EQ(run("yq --arg v 7 '.a = $v'", "a: 1").out, "a: \"7\"\n");
  EXPECT_EQ(run("yq .", "a: 1\n---\nb: 2\n").out, "a: 1\n---\nb: 2\n");
  EXPECT_EQ(run("yq .b.x", "a: &i {x: 1}\nb: *i\n").out, "1\n");
  EXPECT_EQ(run("yq .b.x", "a: &i {x: 1}\nb:\n  <<: *i\n  y: 2\n").out, "1\n");
  EXPECT_EQ(run("yq -n '{a: 1}'").out, "a: 1\n");
  EXPECT_EQ(run("echo 'a: 1' > f; yq -i '.a += 1' f; cat f").out, "a: 2\n");
  EXPECT_EQ(run("yq .t", "t: |\n  one\n  two\n").out, "one\ntwo\n\n");
  EXPECT_EQ(run("yq .", "t: |\n  one\n  two\n").out, "t: |\n  one\n  two\n");
}

TEST(Yq, a_small_file_cannot_become_a_large_one) {
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; ++c)
    bomb += std::string(1, c) + ": &" + c + " [" + std::string("*") + static_cast<char>(c - 1) + ",*" +
            static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1) +
            ",*" + static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1) + ",*" +
            static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1) + "]\n";
  Executed done = run("yq .a", bomb);
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.err, HasSubstr("more than"));
}

TEST(Html2text, shows_text_and_structure) {
  EXPECT_EQ(run("html2text",
                "<html><head><title>T</title><style>p{}</style></head><body><h1>Head</h1><p>One\n two &amp; "
                "three</p>"
                "<ul><li>a<li>b</ul><script>x()</script><pre>  k\n v</pre></body></html>")
                .out,
            "# Head\n\nOne two & three\n\n* a\n* b\n\n  k\n v\n");
  EXPECT_EQ(run("html2text", "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>").out,
            "1\t2\n3\n");
  EXPECT_EQ(run("html2text --links", "<a href='http://x/'>there</a> &#65;&#x42; a < b").out,
            "there <http://x/> AB a < b\n");
  EXPECT_EQ(run("html2text -w 10", "<p>aaa bbb ccc ddd").out, "aaa bbb\nccc ddd\n");
  EXPECT_EQ(run("html2text nofile").status, 1);
  EXPECT_EQ(run("html2text --foo").status, 1);
}

TEST(Md2text, drops_the_marks) {
  EXPECT_EQ(run("md2text",
                "# Title #\n\nSome **bold**, _it_ and `code*`.\n\n- one\n* two\n\n```\nx = a * "
                "b\n```\n[text](http://u) ![pic](p.png)\n")
                .out,
            "Title\n\nSome bold, it and code*.\n\n* one\n* two\n\nx = a * b\ntext [pic]\n");
  EXPECT_EQ(run("md2text -l", "[text](http://u)\n").out, "text <http://u>\n");
  EXPECT_EQ(run("md2text", "snake_case 2 * 3 a\\*b\n").out, "snake_case 2 * 3 a*b\n");
  EXPECT_EQ(run("md2text", "| a | b |\n|---|---|\n| 1 | 2 |\n").out, "a\tb\n1\t2\n");
  EXPECT_EQ(run("md2text nofile").status, 1);
}

TEST(Sqlite, stays_inside) {
  EXPECT_NE(run("sqlite3 a.db \"attach '/etc/passwd' as p\"").status, 0);
  EXPECT_NE(run("sqlite3 a.db \"select load_extension('x')\"").status, 0);
  EXPECT_NE(run("sqlite3 a.db 'pragma hard_heap_limit=1'").status, 0);
  EXPECT_EQ(
      run("mkdir -p /etc; echo ours > /etc/passwd; sqlite3 /etc/passwd 'select * from sqlite_schema'").status,
      26);
  EXPECT_EQ(run("sqlite3 a.db 'create table t(x)'; ls").out, "a.db\n");
}

TEST(Sqlite, a_long_query_meets_the_limits) {
  ShellOptions options;
  options.limits.work = 2'000'000;
  Executed done =
      run("sqlite3 :memory: 'with recursive c(n) as (select 1 union all select n+1 from c) select count(*) "
          "from c'; echo no",
          {}, options);
  EXPECT_TRUE(done.limited);
  EXPECT_EQ(done.status, status_of(Limit::work));
  EXPECT_EQ(done.out, "");
}

TEST(Sqlite, one_writer_at_a_time) {
  EXPECT_EQ(run("sqlite3 a.db 'create table t(x); insert into t values(1),(2),(3)'; sqlite3 a.db 'select x "
                "from t' | while read x; do sqlite3 a.db \"insert into t values($x+10)\"; done; sqlite3 a.db "
                "'select sum(x) from t'")
                .out,
            "42\n");
}

TEST(Bc, numbers_stay_bounded) {
  EXPECT_THAT(run("echo '9^9^9' | bc").err, HasSubstr("too large"));
  ShellOptions options;
  options.limits.work = 2'000'000;
  EXPECT_TRUE(run("echo 'while(1) x=x+1' | bc", {}, options).limited);
  EXPECT_TRUE(run("dc -e '[lxx]sx lxx'", {}, options).limited);
  std::string deep(200'000, '(');
  EXPECT_FALSE(run("bc", deep).limited);
  EXPECT_EQ(run("echo 'define f(n) { return f(n+1) }\nf(1)\n5' | bc 2>/dev/null").out, "5\n");
}

TEST(Compression, bombs_end) {
  EXPECT_NE(run("head -c 40000000 /dev/zero | xz -1 > b.xz; xz -dc b.xz | wc -c").out, "40000000\n");
}

}  // namespace
}  // namespace atl::shell
