// Input that wants to crash, hang or fool the shell. What a limit ends is in limits_test.cc.

#include <gtest/gtest.h>

#include "shell/shell.h"

namespace atl::shell {
namespace {

struct Shell {
  vfs::VirtualFileSystem fs;
  SandboxShell shell;
  explicit Shell(ShellOptions options = {}, vfs::VirtualOptions room = {})
      : fs(base_snapshot(), room), shell(fs, std::move(options)) {}
  std::string out(std::string_view script) { return shell.execute(script).out; }
};

// ---- depth: every parser and every evaluator, on the script's stack and on the smaller one of a pipeline
// stage ----

struct Deep {
  const char* name;
  const char* script;  // $N is how deep
};

class Depth : public testing::TestWithParam<Deep> {};

TEST_P(Depth, is_an_error_or_works_but_never_a_crash) {
  for (const char* depth : {"500", "30000"}) {
    for (const char* around : {"", "{ :; } | "}) {
      ShellOptions options;
      options.limits.wall_time = std::chrono::seconds(120);
      options.limits.commands = 200'000;
      options.limits.work = 2'000'000'000;
      Shell s(options);
      Executed done = s.shell.execute(std::string("N=") + depth +
                                      "; rep() { printf \"%${N}s\" '' | sed \"s/ /$1/g\"; }\n" + around +
                                      "{ " + GetParam().script + "\n} > /dev/null");
      EXPECT_EQ(done.signal, 0) << GetParam().name << depth;
      EXPECT_NE(static_cast<int>(done.limit), static_cast<int>(Limit::wall_time)) << GetParam().name;
      EXPECT_EQ(s.out("echo alive"), "alive\n");
    }
  }
}

const Deep deep[] = {
    {"substitutions", "eval \"echo $(rep '$(')\""},
    {"groups", "eval \"$(rep '{ ')\""},
    {"subshells", "eval \"$(rep '(')\""},
    {"ifs", "eval \"$(rep 'if ')\""},
    {"cases", "eval \"$(rep 'case x in x) ')\""},
    {"parameters", "eval \"echo $(rep '${x:-')\""},
    {"quotes", "eval \"echo $(rep '\"$(echo ')\""},
    {"arithmetic", "echo $(($(rep '(')1))"},
    {"arithmetic_unary", "echo $(($(rep '- ')1))"},
    {"arithmetic_question", "echo $(($(rep '1?')1))"},
    {"arithmetic_by_name", "for ((i = 0; i < N; i++)); do declare v$i=v$((i + 1)); done; echo $((v0))"},
    {"arithmetic_by_itself", "x=x+1; echo $((x))"},
    {"conditional", "eval \"[[ $(rep '( ')\""},
    {"conditional_not", "eval \"[[ $(rep '! ') x ]]\""},
    {"test_parentheses", "test $(rep '( ') x"},
    {"test_not", "test $(rep '! ') x"},
    {"braces", "eval \"echo $(rep '{a,')\""},
    {"extglob", "shopt -s extglob; p=$(rep '@('); [[ x == $p ]]"},
    {"extglob_closed", "shopt -s extglob; p=$(rep '*(')a$(rep ')'); [[ aaaaaaaaaaaaaaaaaaaaaaaaab == $p ]]"},
    {"brackets", "p=$(rep '['); [[ x == $p ]]"},
    {"stars", "p=$(rep '*a'); x=$(rep a); [[ ${x}b == $p ]]"},
    {"regex_groups", "re=$(rep '('); [[ x =~ $re ]]"},
    {"regex_groups_closed", "re=$(rep '(')a$(rep ')'); [[ a =~ $re ]]; echo a | sed -E \"s/$re/b/\""},
    {"regex_perl", "echo a | grep -P \"$(rep '(?:')a$(rep ')*')\""},
    {"regex_perl_look", "echo a | grep -P \"$(rep '(?=')a$(rep ')')\""},
    {"regex_repeat", "echo a | grep -E 'a{1,900}{1,900}{1,900}'"},
    {"namerefs", "for ((i = 0; i < 500; i++)); do declare -n r$i=r$((i + 1)); done; r500=x; echo $r0"},
    {"nameref_circle", "declare -n a=b b=a; a=1; echo $a"},
    {"aliases", "shopt -s expand_aliases; alias a='b ' b='a '; eval a"},
    {"functions", "f() { f; }; f"},
    {"functions_with_subshell", "f() { (f); }; f"},
    {"functions_in_substitution", "f() { x=$(f); }; f"},
    {"traps", "trap 'kill -USR1 $BASHPID' USR1; kill -USR1 $BASHPID"},
    {"debug_traps", "trap 'x=$(f)' DEBUG; f() { :; }; f"},
    {"pipes", "eval \"echo x $(rep '| cat ') \""},
    {"and_or", "N=$((N > 5000 ? 5000 : N)); eval \": $(rep '&\\& : ')\""},
    {"redirections", "eval \": $(rep '> f ')\""},
    {"here_documents", "eval \"cat $(rep '<<E ')\""},
    {"awk_parentheses", "awk \"BEGIN { print $(rep '(')1 }\""},
    {"awk_braces", "awk \"BEGIN { $(rep '{')\""},
    {"awk_unary", "awk \"BEGIN { print $(rep '!')1 }\""},
    {"awk_power", "awk \"BEGIN { print $(rep '1^')1 }\""},
    {"awk_dollar", "awk \"BEGIN { print $(rep '$')1 }\""},
    {"awk_recursion", "awk 'function f(x) { return f(x + 1) } BEGIN { f(1) }'"},
    {"awk_if", "awk \"BEGIN { $(rep 'if (1) ')\""},
    {"awk_system", "awk 'BEGIN { system(\"awk \\047BEGIN { system(\\\"echo x\\\") }\\047\") }'"},
    {"sed_braces", "echo a | sed \"$(rep '{')p$(rep '}')\""},
    {"sed_loop", "echo a | sed -E ':a; s/(.*)/\\1\\1/; ta'"},
    {"jq_parentheses", "jq -n \"$(rep '(')1$(rep ')')\""},
    {"jq_arrays", "jq -n \"$(rep '[')1$(rep ']')\""},
    {"jq_unary", "jq -n \"$(rep '-')1\""},
    {"jq_pipes", "jq -n \"1$(rep '|.')\""},
    {"jq_ifs", "jq -n \"$(rep 'if 1 then ')1\""},
    {"jq_recursion", "jq -n 'def f: 1 + f; f'"},
    {"jq_recursion_with_arguments", "jq -n 'def f(g): f(g | g); f(1)'"},
    {"jq_input", "echo \"$(rep '[')\" | jq ."},
    {"jq_input_closed", "echo \"$(rep '[')$(rep ']')\" | jq -c '[..] | length'"},
    {"jq_objects", "echo \"$(rep '{\"a\":')1$(rep '}')\" | jq -c 'tostring | length'"},
    {"jq_build", "jq -n 'reduce range(100000) as $i (1; [.]) | tojson | length'"},
    {"jq_build_compare",
     "jq -n 'reduce range(100000) as $i (1; [.]) | . == ., flatten, (tostream | length)'"},
    {"jq_paths", "jq -n '[range(30000)] as $p | null | setpath($p | map(0); 1) | [paths] | length'"},
    {"yq_flow", "echo \"$(rep '[')1$(rep ']')\" | yq -o json ."},
    {"yq_block", "for ((i = 0; i < N && i < 2000; i++)); do printf \"%${i}sa:\\n\" ''; done | yq ."},
    {"yq_anchors",
     "printf 'a: &a [x,x,x,x,x,x,x,x,x]\\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\\nc: &c "
     "[*b,*b,*b,*b,*b,*b,*b,*b,*b]\\n"
     "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\\nf: &f "
     "[*e,*e,*e,*e,*e,*e,*e,*e,*e]\\n"
     "g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g]\\n' | yq .h"},
    {"bc_parentheses", "echo \"$(rep '(')1$(rep ')')\" | bc"},
    {"bc_unary", "echo \"$(rep '-')1\" | bc"},
    {"bc_recursion", "echo 'define f(x) { return f(x + 1); } f(1)' | bc"},
    {"bc_braces", "echo \"$(rep '{')1$(rep '}')\" | bc"},
    {"dc_recursion", "echo '[lfx 1+]sf lfx' | dc"},
    {"dc_strings", "echo \"$(rep '[')$(rep ']')x\" | dc"},
    {"expr_parentheses", "expr $(rep '( ') 1 $(rep ') ')"},
    {"find_parentheses", "find . $(rep '( ') -name x $(rep ') ')"},
    {"find_not", "find . $(rep '! ') -name x"},
    {"html", "echo \"$(rep '<div><ul><li>')x\" | html2text"},
    {"markdown",
     "N=$((N > 2000 ? 2000 : N)); echo \"$(rep '> ')x\" | md2text; echo \"$(rep '[')x\" | md2text; echo "
     "\"$(rep '*')x\" | md2text"},
    {"sqlite_parentheses", "sqlite3 :memory: \"select $(rep '(')1$(rep ')')\""},
    {"sqlite_json", "sqlite3 :memory: \"select json('$(rep '[')1$(rep ']')')\""},
    {"sqlite_selects", "sqlite3 :memory: \"$(rep 'select * from (')select 1$(rep ')')\""},
    {"directories",
     "for ((i = 0; i < 300; i++)); do mkdir d && cd d; done; cd; find . > /dev/null; du -s; ls -R > "
     "/dev/null; cp -r d e; rm -r d e"},
    {"path", "cd $(rep './')/$(rep '../')"},
    {"xargs_of_xargs", "f=xargs; for i in {1..50}; do f=\"$f xargs\"; done; echo x | $f echo"},
    {"env_of_env", "e=env; for i in {1..300}; do e=\"$e env\"; done; $e true"},
    {"nested_shells", "echo 'bash ./s' > s; bash ./s"},
    {"sources", "echo '. ./s' > s; . ./s"},
    {"date", "date -d \"$(rep '1 day ')\""},
    {"printf", "printf \"$(rep '%s')\" x"},
    {"tr", "echo a | tr \"$(rep '[:alpha:]')\" b"},
    {"diff", "seq 3000 > a; seq 3000 -1 1 > b; diff a b > /dev/null"},
    {"tsort", "for ((i = 0; i < N; i++)); do echo $i $((i + 1)); done | tsort > /dev/null"},
    {"tsort_circle",
     "for ((i = 0; i < 3000; i++)); do echo $i $((i + 1)); done > f; echo 3000 0 >> f; tsort f"},
    {"getopt", "getopt -o \"$(rep 'a:')\" -- -a"},
    {"csplit", "seq 10 | csplit - \"$(rep '/x')/\""},
};
INSTANTIATE_TEST_SUITE_P(Each, Depth, testing::ValuesIn(deep),
                         [](const auto& given) { return given.param.name; });

// ---- pipes ----

TEST(Pipes, hold_back_a_writer_whose_reader_is_slow) {
  ShellOptions options;
  options.limits.memory_bytes = 1 << 20;
  Shell s(options);
  EXPECT_EQ(s.out("yes | { sleep 0.05; head -n 1; }"), "y\n");
  EXPECT_EQ(s.out("yes | cat | cat | head -c 30000000 | wc -c"), "30000000\n");
  EXPECT_EQ(s.out("yes | head -n 3 | tac | wc -l; echo ${PIPESTATUS[@]}"), "3\n141 0 0 0\n");
}

// ---- quota ----

struct Quota : testing::Test {
  static vfs::VirtualOptions room() {
    vfs::VirtualOptions out;
    out.quota = {.bytes_max = 1 << 20, .nodes_max = 600};
    return out;
  }
  Shell s{{}, room()};
  // 700 KB fit once, not twice.
  bool fits() { return s.shell.execute("head -c 700000 /dev/zero > probe && rm probe").status == 0; }
};

TEST_F(Quota, is_an_error_of_the_write_and_leaves_the_shell_usable) {
  Executed done = s.shell.execute("head -c 2000000 /dev/zero > f; echo $?; wc -c < f");
  EXPECT_NE(done.err.find("No space left on device"), std::string::npos) << done.err;
  EXPECT_EQ(s.out("rm f; echo ok > g; cat g"), "ok\n");
  EXPECT_TRUE(fits());
}

TEST_F(Quota, counts_a_file_that_is_unlinked_until_its_last_descriptor_closes) {
  Executed done = s.shell.execute(
      "exec 7<> f; head -c 700000 /dev/zero >&7; rm f; head -c 700000 /dev/zero > g; echo $?; "
      "rm -f g; exec 7>&-; head -c 700000 /dev/zero > h; echo $?; rm h");
  EXPECT_EQ(done.out, "1\n0\n") << done.err;
  EXPECT_TRUE(fits());
}

TEST_F(Quota, is_given_back_by_truncation) {
  EXPECT_EQ(s.out("head -c 700000 /dev/zero > f; : > f; head -c 700000 /dev/zero > g; echo $?; rm f g"),
            "0\n");
  EXPECT_EQ(
      s.out("head -c 700000 /dev/zero > f; truncate -s 10 f; head -c 700000 /dev/zero > g; echo $?; rm f g"),
      "0\n");
  EXPECT_TRUE(fits());
}

TEST_F(Quota, is_given_back_when_a_rename_replaces_a_file) {
  EXPECT_EQ(s.out("head -c 400000 /dev/zero > a; head -c 400000 /dev/zero > b; mv a b; head -c 500000 "
                  "/dev/zero > c; echo $?"),
            "0\n");
  EXPECT_EQ(s.out("rm b c; ls"), "");
  EXPECT_TRUE(fits());
}

TEST_F(Quota, counts_hard_links_once_and_until_the_last_is_gone) {
  EXPECT_EQ(
      s.out("head -c 700000 /dev/zero > a; ln a b; rm a; head -c 700000 /dev/zero > c; echo $?; rm -f c b"),
      "1\n");
  EXPECT_TRUE(fits());
}

TEST_F(Quota, bounds_the_number_of_files) {
  Executed done = s.shell.execute("for i in {1..2000}; do : > f$i || break; done; echo $i");
  EXPECT_LT(std::stoi(done.out), 700) << done.err;
  EXPECT_EQ(s.out("rm f*; ls; touch a && echo ok"), "ok\n");
}

TEST_F(Quota, ends_a_file_that_is_appended_to_itself) {
  Executed done = s.shell.execute(
      "echo a > f; for i in {1..60}; do cat f f > g || break; mv g f; done; echo $((i < 60))");
  EXPECT_EQ(done.out, "1\n") << done.err;
}

// ---- forks ----

TEST(Forks, share_until_one_of_them_writes) {
  Shell s;
  s.shell.execute(
      "mkdir d; echo base > d/f; x=1; arr=(a b); f() { echo one; }; exec 5> open; echo first >&5");
  auto fs = s.fs.fork();
  auto other = s.shell.fork(*fs);
  other->execute("echo other >> d/f; rm -r open; x=2; arr+=(c); f() { echo two; }; mkdir e; cd e");
  s.shell.execute("echo mine > d/g; unset x");
  EXPECT_EQ(s.out("cat d/f; ls; echo [$x] ${arr[@]}; f; pwd"), "base\nd\nopen\n[] a b\none\n/home/user\n");
  EXPECT_EQ(other->execute("cat ../d/f; ls ..; echo [$x] ${arr[@]}; f; pwd").out,
            "base\nother\nd\ne\n[2] a b c\ntwo\n/home/user/e\n");
}

TEST(Forks, of_forks_are_their_own) {
  Shell s;
  s.shell.execute("echo 0 > f; n=0");
  std::vector<std::unique_ptr<vfs::VirtualFileSystem>> systems;
  std::vector<std::unique_ptr<SandboxShell>> shells;
  for (int i = 0; i < 50; ++i) {
    systems.push_back(i == 0 ? s.fs.fork() : systems.back()->fork());
    shells.push_back((i == 0 ? s.shell : *shells.back()).fork(*systems.back()));
    shells.back()->execute("echo $((++n)) > f");
  }
  EXPECT_EQ(s.out("cat f; echo $n"), "0\n0\n");
  EXPECT_EQ(shells[9]->execute("cat f; echo $n").out, "10\n10\n");
  EXPECT_EQ(shells[49]->execute("cat f; echo $n").out, "50\n50\n");
}

// ---- the host ----

TEST(Host, no_name_leads_to_it) {
  Shell s;
  for (const char* path :
       {"/etc/passwd", "/proc/self/environ", "/proc/1/cmdline", "/proc/self/fd/0/../../environ",
        "/sys/kernel", "//etc/passwd", "/dev/../etc/passwd", "/dev/fd/../../etc/passwd",
        "/home/user/../../../../etc/passwd", "/dev/tcp/127.0.0.1/80", "/dev/mem", "/dev/sda", "/dev/pts/0"}) {
    std::string name(path);
    Executed done =
        s.shell.execute("cat " + name + " || head -c 1 < " + name + " || . " + name + " || source " + name);
    EXPECT_EQ(done.out, "") << path;
    EXPECT_NE(done.status, 0) << path;
  }
  EXPECT_EQ(s.out("ln -s /etc/passwd l; cat l; ln -s ../../../../../etc/passwd m; cat m; sqlite3 /etc/passwd "
                  ".tables; echo $?"),
            "0\n");
}

TEST(Host, no_zone_of_it_is_seen) {
  setenv("TZ", "Asia/Tokyo", 1);
  tzset();
  Shell s;
  EXPECT_EQ(s.out("date -d @0 +%H; printf '%(%H)T\\n' 0; sqlite3 :memory: \"select strftime('%H', 0, "
                  "'unixepoch', 'localtime')\"; "
                  "awk 'BEGIN { print strftime(\"%H\", 0) }'; jq -n '0 | strflocaltime(\"%H\")'; touch -d @0 "
                  "f; ls -l --time-style=+%H f | cut -d' ' -f6"),
            "00\n00\n00\n00\n\"00\"\n00\n");
  EXPECT_EQ(s.out("export TZ=America/New_York; date -d @0 +%H; printf '%(%H)T\\n' 0; "
                  "sqlite3 :memory: \"select strftime('%H', 0, 'unixepoch', 'localtime')\"; "
                  "sqlite3 :memory: \"select datetime('2024-07-01 12:00', 'utc')\"; awk 'BEGIN { print "
                  "strftime(\"%H\", 0) }'"),
            "19\n19\n19\n2024-07-01 16:00:00\n19\n");
  unsetenv("TZ");
  tzset();
}

}  // namespace
}  // namespace atl::shell
