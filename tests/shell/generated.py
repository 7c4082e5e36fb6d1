"""Random small scripts whose meaning bash decides: what it prints and how it ends is what ours must do.

A script is made of statements over a few variables, arrays and files. All of them end, none depends on time, process
ids or the environment. Several go into one process, each in a subshell, because starting processes is what costs.
"""
import concurrent.futures, contextlib, os, random, signal, subprocess

import original

NAMES = ["a", "b", "c", "n", "s"]
FILES = "ab.txt abc.log x1 x2 Xy .hid 'a b' é"
PRELUDE = f"""mkdir -p w; cd w; touch {FILES}; mkdir -p d/e; touch d/f.txt d/e/g.txt
a=hello b='x  y z' c='' n=7 s='a:b::c' ; arr=(one 'two words' '' four); arr[7]=seven; declare -A map=([k]=v ['x y']='1 2')
set -- p1 'p 2' '' p4; f() {{ echo "f:$#:$1"; return ${{2:-0}}; }}; exec 2>/dev/null
"""


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def maybe(self, chance, yes, no=""):
        return yes() if self.random.random() < chance else no

    # ---- words ----

    def literal(self):
        return self.pick("x", "foo", "a.b", "1", "-n", "A-B", "0x1F", "é", "a=b", "%s", "~", "/", ",", "x1", "+3", "08", "a\\ b",
                         "\\$a", "\\*", "'q u'", "'*'", "''", '""', "$'t\\tn\\n'", "$'\\x41\\u00e9'", "{", "}", "'#'", "a#b", "^", "!x")

    def pattern(self):
        return self.pick("*", "?", "a*", "*o", "[a-h]*", "[!a]?", "h?l*", "[[:digit:]]", "*[[:space:]]*", "x*", "l", "ll", "'*'", '"$a"',
                         "@(a|hello|x*)", "!(x*)", "+([a-z])", "?(h)ello", "*(l|e)", "[]x]", "\\?", "e*l", "$n", "")

    def glob(self):
        return self.pick("*", "a*", "?1", "x[12]", "*.txt", "d/*", "d/*/*", "*.none", "[[:upper:]]*", "[!a]*", "*b*", ".h*", "*/", "./x?", "é*")

    def number(self, depth=0):
        if depth > 2 or self.random.random() < 0.45:
            return self.pick("1", "2", "0", "-3", "7", "n", "$n", "${#a}", "${#arr[@]}", "010", "0xff", "2#101", "16#ff", "arr[9]", "$#",
                             "99999999999", "9223372036854775807", "(1+1)", "${arr[9]:-4}", "+2", "~5", "!n", "!0")
        left, right = self.number(depth + 1), self.number(depth + 1)
        kind = self.random.random()
        if kind < 0.7:
            op = self.pick("+", "-", "*", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "&&", "||", "<<", ">>", ",", " - ", " + ")
            return f"{left} {op} {right}" if "<<" not in op and ">>" not in op else f"({left}) {op} {self.pick('1', '3', '62')}"
        if kind < 0.8:
            return f"({left}) / {self.pick('3', '-7', 'n', '0')}" if self.random.random() < 0.5 else f"({left}) % {self.pick('3', '-7', '10')}"
        if kind < 0.88:
            return f"({left}) ? {right} : {self.number(depth + 1)}"
        if kind < 0.95:
            return f"{self.pick('n', 'b1', 'arr[8]')} {self.pick('=', '+=', '-=', '*=', '|=', '<<=')} {self.pick('3', '5', 'n')}"
        return self.pick("n++", "++n", "n--", "--n", "2 ** 10", "3 ** 0", "-2 ** 2", "n ** 2")

    def parameter(self, depth=0):
        name = self.pick(*NAMES, *NAMES, "arr", "arr[1]", "arr[-1]", "map[k]", "unset", "1", "2", "@", "*", "arr[@]", "arr[*]", "map[@]", "#")
        kind = self.random.random()
        if kind < 0.25 and name.isalnum():
            return "$" + name if len(name) == 1 or not name[0].isdigit() else "${" + name + "}"
        if name == "#":
            return "$#"
        word = self.word(depth + 1) if depth < 2 else "w"
        if kind < 0.45:
            return "${" + name + self.pick("-", ":-", "+", ":+") + word + "}"
        if kind < 0.55 and name not in ("@", "*"):
            return "${#" + name + "}"
        if kind < 0.7:
            return "${" + name + self.pick("#", "##", "%", "%%") + self.pattern() + "}"
        if kind < 0.82:
            return "${" + name + self.pick("/", "//", "/#", "/%") + self.pattern() + "/" + self.pick("", "Z", "&", "[$n]", "'q'") + "}"
        if kind < 0.92:
            return "${" + name + ":" + self.pick("0", "1", "2", " -1", " -3", "n-6") + self.pick("", ":1", ":2", ":0", ": -1") + "}"
        if kind < 0.97:
            return "${" + name + self.pick("^", "^^", ",", ",,", "@Q", "@U", "@u", "@L") + "}"
        return self.pick("${!a}", "${!map[@]}", "${!arr[@]}", "${!ar*}", "$?", "${#}", "${arr[@]:1:2}", "${@:2}", "${*:1:2}")

    def substitution(self, depth):
        return self.pick("$(echo %s)", "$(printf '%%s,' %s)", "`echo %s`", "$(printf '%%s\\n' %s | sort)", "$(f %s)") % self.words(depth + 1, 2)

    def word(self, depth=0):
        kind = self.random.random()
        if depth > 2 or kind < 0.25:
            return self.literal()
        if kind < 0.5:
            return self.parameter(depth)
        if kind < 0.65:
            return '"' + self.pick("", "x ", "é") + self.parameter(depth) + self.pick("", " $n", "\\\"", "'") + '"'
        if kind < 0.75:
            return "$((" + self.number() + "))"
        if kind < 0.82:
            return self.substitution(depth)
        if kind < 0.9:
            return self.pick("{a,b}", "{1..4}", "{a..e..2}", "x{,y}z", "{3..1}", "{a,{b,c}}", "{01..03}", "{a}", "{1..2}{x,y}", "{$n,b}") + self.pick("", "t")
        if kind < 0.95:
            return self.glob()
        return self.word(depth + 1) + self.word(depth + 1)

    def words(self, depth=0, most=3):
        return " ".join(self.word(depth) for _ in range(self.random.randint(1, most)))

    # ---- statements ----

    def show(self):
        return self.pick("printf '[%s]' {0}; echo", "echo {0}", "printf '%s|' {0}; echo", "f {0}", "printf '%q ' {0}; echo",
                         "for i in {0}; do printf '<%s>' \"$i\"; done; echo").format(self.words())

    def assign(self):
        name = self.pick(*NAMES)
        return self.pick(f"{name}={self.word()}", f"{name}+={self.word()}", f"arr+=({self.words()})", f"arr=({self.words()})", f"arr[{self.pick('1', '-1', '9', 'n')}]={self.word()}",
                         f"map[{self.pick('k', 'new', '$a')}]={self.word()}", f"unset {self.pick('a', 'arr[1]', 'c', 'map[k]', 'n')}", f"local_{name}={self.word()}; echo $local_{name}",
                         f"declare -i n=\"{self.number()}\"; echo $n", f"declare -u s={self.word()}; echo $s", f"set -- {self.words()}; echo $#", f"read -r a b <<< {self.word()}; echo \"$a|$b\"",
                         f"IFS={self.pick(':', ',', chr(39) + chr(39), chr(39) + ' ' + chr(39), 'x')}; set -f; echo $s $a; set +f", f"IFS=: read -ra arr <<< \"$s:{self.literal()}\"; declare -p arr",
                         f"printf -v c '%s-%s' {self.words()}; echo \"$c\"", f"mapfile -t arr < <(printf '%s\\n' {self.words()}); echo ${{#arr[@]}} \"${{arr[@]}}\"")

    def condition(self):
        return self.pick(f"[[ {self.word(1)} == {self.pattern() or 'x'} ]]", f"[[ -n {self.word(1)} && {self.word(1)} < {self.word(1)} ]]", f"[ {self.pick('-n', '-z', '-f', '-d')} \"{self.parameter(1)}\" ]",
                         f"(( {self.number()} ))", f"[[ $a =~ {self.pick('^h(.)l', 'l+', '([a-z])o$', '[0-9]+', '(x)|(e)')} ]]", f"test \"$n\" {self.pick('-eq', '-lt', '-ge')} {self.pick('3', '7')}",
                         "f x 1", "true", "! false", f"[[ {self.pick('-e', '-d', '-f', '-s')} {self.pick('x1', 'd', 'none')} ]]")

    def statement(self, depth=0):
        kind = self.random.random()
        if depth > 2 or kind < 0.3:
            return self.show()
        if kind < 0.5:
            return self.assign()
        body = lambda: self.statement(depth + 1)
        if kind < 0.72:
            return self.wide(body)
        return self.pick(
            lambda: f"if {self.condition()}; then {body()}; else {body()}; fi",
            lambda: f"for v in {self.words()}; do {body()}; echo \"$v\"; done",
            lambda: f"case {self.word(1)} in {self.pattern() or 'x'}) {body()} {self.pick(';;', ';&', ';;&')} a*|x) echo two;; *) echo other;; esac",
            lambda: f"{self.condition()} && {body()} || {body()}",
            lambda: f"g() {{ local a={self.word()}; {body()}; return {self.pick('0', '3', '$#')}; }}; g {self.words()}; echo $? \"$a\"",
            lambda: f"printf '%s\\n' {self.words()} | while read -r l; do echo \"($l)\"; done",
            lambda: f"({body()}); echo $?",
            lambda: f"{{ {body()}; }} | tr a-z A-Z",
            lambda: f"cat <<E\n{self.parameter()} $n \\$a `echo q`\nE\n:",
            lambda: f"cat <<< {self.word()}",
            lambda: f"i=0; while (( i++ < 3 )); do {self.pick('(( i == 2 )) && continue', '(( i == 3 )) && break', ':')}; {body()}; done",
            lambda: "eval " + self.pick("'echo $n'", "echo \\$a", "n=$((n+1))") + "; echo $n",
            lambda: f"{self.condition()}; echo $? ${{BASH_REMATCH[@]}}",
            lambda: f"echo {self.word()} > out; cat out; wc -c < out | tr -d ' '",
            lambda: f"set -{self.pick('e', 'u', 'f', 'C')}; {body()}; {body()}",
            lambda: f"shopt -s {self.pick('extglob', 'nullglob', 'dotglob', 'nocasematch', 'globstar', 'nocaseglob')}\n{body()}; echo {self.glob()}",
            lambda: f"trap 'echo bye $?' EXIT; {body()}",
            lambda: f"printf '{self.pick('%d', '%5d', '%x', '%-6s|', '%05d', '%.2s', '%c', '%b', '%+d')}\\n' {self.word(1)}",
            lambda: f"declare -p {self.pick('a', 'arr', 'map', 'n')}",
            lambda: "x=$(" + body() + "); echo \"${x//$'\\n'/;}\"",
            lambda: f"{body()}; echo st=$?; {self.condition()} | cat; echo ${{PIPESTATUS[@]}}",
        )()

    def quoted_parameter(self):
        """Quotes inside of an expansion, and expansions inside of those."""
        op = self.pick(":-", "-", ":+", "+", ":=", "#", "%", "/x/", "//l/")
        inner = self.pick("'a b'", '"$b"', '"${c:-d e}"', "a\\ b", "$'x\\ty'", '"$(echo "in $n")"', "${b#x}", "~", "\\}", "'}'", '"}"', "`echo q`", "*")
        text = "${" + self.pick("a", "c", "unset", "b", "arr[1]", "map[k]", "1", "@", "arr[@]") + op.replace(":=", ":-") + inner + "}"
        return self.pick(text, f'"{text}"', f'"x{text}y"', f"x{text}")

    def transform(self):
        name = self.pick("a", "b", "c", "n", "arr", "arr[@]", "map[@]", "arr[1]", "@", "*", "unset", "map")
        return f'"${{{name}@{self.pick("Q", "U", "u", "L", "E", "A", "a", "K", "k", "Q")}}}"'

    def record_reading(self):
        separators = self.pick(":", ",", "' :'", "$'\\t'", "''", "'x '", "$'\\n'", "' '")
        text = self.pick("a:b::c", " a  b ", "::", "a,b,", "x y:z", "", "a\\\\ b c", "  ", "\\\\:a:b", "1 2 3 4", "axbx c")
        names = self.pick("a", "a b", "a b c", "-a arr", "a b c n s", "")
        flags = self.pick("", "-r ", "-r ", "-n 3 ", "-d : ", "-r -d ' ' ", "-N 4 ")
        shown = "declare -p arr" if "-a" in names else 'printf "<%s>" "$a" "$b" "$c" "${REPLY-}"; echo'
        return f"unset REPLY; IFS={separators} read {flags}{names} <<< \"{text}\"; echo $?; {shown}"

    def wide(self, body):
        """What the other statements do not reach."""
        w, p = self.word, self.parameter
        return self.pick(
            lambda: f"cat <<'E'\n{p()} $n `x`\nE\ncat <<-E\n\t{self.quoted_parameter()}\n\t$((n + 1))\nE\n:",
            lambda: f"cat <<A; cat <<B\n{p()}\nA\n\"{p()}\" \\\\ \\$n\nB\n:",
            lambda: f"declare -A m2=([a]={w(1)} [b c]={w(1)}); for k in a 'b c' d; do echo \"$k=${{m2[$k]-none}}\"; done; echo ${{#m2[@]}}",
            lambda: f"m3=(); declare -A m3; m3[$a]+={w(1)}; m3[$a]+=x; unset 'm3[nope]'; declare -p m3",
            lambda: f"trap 'echo err $?' ERR; {body()}; false; {self.condition()}; trap - ERR",
            lambda: f"trap 'echo dbg' DEBUG; {self.pick('n=1', ':', 'f x')}; trap - DEBUG",
            lambda: f"h() {{ trap 'echo ret' RETURN; {body()}; trap - RETURN; }}; h; echo $?",
            lambda: f"(trap 'echo sub $?' EXIT; {body()}; exit {self.pick('3', '0', '$n')}); echo $?",
            lambda: f"l() {{ local a=1 b; local -i n=\"{self.number()}\"; local -a arr=({self.words()}); {body()}; echo \"$a|${{b-unset}}|$n|${{#arr[@]}}\"; }}; l; echo \"$a\"",
            lambda: f"o() {{ local a=in; i() {{ a=deep; {body()}; }}; i; echo $a; }}; o; echo $a",
            self.record_reading,
            lambda: f"while IFS={self.pick(':', ',', chr(39) + ' ' + chr(39))} read -r a b; do echo \"$b-$a\"; done <<< {self.word(1)}",
            lambda: f"printf '{self.pick('%s', '%5s|', '%-5s|', '%05.1f', '%x %o', '%i', '%e', '%g', '%%', '%*d', '%.*s', '%q', '%(%Y)T', '%c%c', '%b', '%.3s', '%+d', '% d', '%#x', '%s %d')}\\n' {self.words(1)}",
            lambda: f"shopt -s extglob\ncase {self.word(1)} in {self.pick('@(a|b)*', '!(x)', '+([0-9])', '*(h)?(e)l*', '[[:alpha:]]*', '?')}) echo in;; *) echo out;; esac",
            lambda: f"shopt -s extglob\necho {self.pick('@(a|x)*', '!(*.txt)', '+(x)[12]', '?(d)', '*(a)b*')} \"${{a//{self.pick('@(l|e)', '+(l)', '!(h)', '?(h)e')}/_}}\"",
            lambda: f"set -e; {self.pick('if ' + self.condition() + '; then :; fi', self.condition() + ' || true', '! ' + self.condition(), 'x=$(false; echo in)', 'f y 1 && :', '(false; echo no) || echo or')}; echo on; {body()}",
            lambda: f"set -e; e() {{ false; echo after; }}; {self.pick('e || echo caught', 'if e; then echo t; fi', 'e && :', 'x=$(e); echo $x', '! e', '(e); echo no', 'e | cat', 'echo $(e)')}; echo end",
            lambda: f"set -o pipefail; {self.pick('true | false', 'false | true', 'f a 3 | cat', 'exit 4 | f b 2 | true', '! false | true')}; echo $? ${{PIPESTATUS[@]}}",
            lambda: f"echo {self.quoted_parameter()} {self.quoted_parameter()}; printf '<%s>' {self.quoted_parameter()}; echo",
            lambda: f"echo {self.transform()}; printf '[%s]' {self.transform()}; echo",
            lambda: f"declare -n ref={self.pick('a', 'arr', 'map', 'n', 'arr[1]', 'nope')}; echo \"$ref\" \"${{!ref}}\"; ref={w(1)}; {self.pick('echo $a', 'declare -p arr', 'unset ref; echo ${a-gone}', 'unset -n ref; echo $a')}",
            lambda: f"r() {{ local -n out=$1; out={w(1)}; }}; r {self.pick('a', 'n', 'arr[2]', 'fresh')}; echo \"$a|$n|${{arr[2]}}|${{fresh-}}\"",
            lambda: f"mapfile {self.pick('', '-t ', '-n 2 ', '-s 1 ', '-O 3 ', '-d : ', '-t -c 1 -C ' + chr(39) + 'echo cb' + chr(39) + ' ')}arr < <(printf '%s\\n' {self.words(1)}); declare -p arr",
            lambda: f"OPTIND=1; while getopts {self.pick(':ab:c', 'ab:', ':x', 'a')} o {self.pick('-a -b v r', '-ab v', '-c', '-b', '-z', '-- -a', '-abc', 'r -a', '-b ' + chr(39) + chr(39) + ' x')}; do echo \"$o:${{OPTARG-}}:$OPTIND\"; done; echo $OPTIND",
            lambda: f"for ((i = {self.pick('0', 'n', '3')}; i {self.pick('< 3', '!= 5', '<= n')} && i < 20; i{self.pick('++', ' += 2')})); do printf '%d,' $i; done; echo",
            lambda: f"let {self.pick('n+=2', 'n=n*2', chr(34) + 'a1 = 3, n = a1' + chr(34), 'n--', '0')}; echo $? $n; (( n {self.pick('++', '--', '= 0', '%= 3')} )); echo $? $n",
            lambda: f"until (( n{self.pick('--', '-=3')} < 1 )); do printf '%s ' $n; done; echo $n",
            lambda: f"exec 5> out; echo {w(1)} >&5; exec 5>&-; cat out; {{ echo o; echo e >&2; }} 2>&1 | sort; echo x &> out; cat < out",
            lambda: f"{{ {body()}; }} > out 2>&1; cat out; read -r a < out; echo \"$a\"",
            lambda: f"a={w(1)} {self.pick('f $a', 'eval echo ' + chr(39) + '$a' + chr(39), 'printenv a', ':')}; echo \"$a\"",
            lambda: f"shift {self.pick('', '2', '0', '9', '$#')}; echo $? $# \"$*\"; IFS={self.pick('-', chr(39) + chr(39), ',x')}; echo \"$*\" $* \"${{arr[*]}}\"",
            lambda: f"arr=({self.words()}); echo \"${{arr[@]:{self.pick('1', '0:2', ' -2', '2:1')}}}\" \"${{!arr[@]}}\"; unset 'arr[{self.pick('0', '-1', '1')}]'; declare -p arr",
            lambda: f"v={self.pick('a', 'arr[1]', 'map[k]', 'n', '2', 'nope')}; echo \"${{!v-none}}\" \"${{!v:1}}\"",
            lambda: f"echo {self.pick('$((', '$[')[:3]}{self.number()})); echo $? $n",
            lambda: f"[[ {self.word(1)} {self.pick('-eq', '-lt', '<', '>', '!=', '=')} {self.word(1)} || ( -z $c && ! -n $a ) ]]; echo $?",
            lambda: f"x={w(1)}; echo \"${{x:?{self.pick('', 'msg')}}}\"; echo after",
            lambda: f"exec 3<<< {self.word(1)}; read -r -u 3 a; echo \"$a\"; exec 3<&-",
            lambda: f"u() {{ unset {self.pick('a', '-v a', '-f f', 'arr')}; {body()}; }}; u; echo \"${{a-unset}}\"; f 1",
        )()

    def script(self):
        return "\n".join(self.statement() for _ in range(self.random.randint(1, 4)))


def run(argv, script, cwd, environment, **who):
    # In a session of its own: what a script leaves running in the background ends with it.
    with subprocess.Popen([*argv, script], cwd=cwd, env={**environment, "HOME": "/home/user"}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True, **who) as process:
        try:
            out, _ = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            out = b"no end within 60 s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return out.replace(cwd.encode(), b"/home/user") if argv[0] == "bash" else out


def compare(atoll, scripts, environment):
    """What each shell printed for these scripts, in one process each."""
    text = PRELUDE + "".join(f"(\n{script}\n); echo \"--{i}:$?\"\n" for i, script in enumerate(scripts))
    with original.directory() as cwd:
        theirs = run(["bash", "-c"], text, cwd, environment, **original.user())
    ours = run([atoll, "shell", "--clean-env", *sum((["--env", f"{k}={v}"] for k, v in {**environment, "HOME": "/home/user"}.items()), []), "-c"], text, "/", environment)
    return ours, theirs


def differing(atoll, seed, count, environment, batch=10):
    """[(script, ours, theirs)] for the scripts on which the shells disagree."""
    scripts = [Generator(f"{seed}/{i}").script() for i in range(count)]
    found = []

    def check(group):
        ours, theirs = compare(atoll, group, environment)
        if ours == theirs:
            return []
        alone = [(script, *compare(atoll, [script], environment)) for script in group]
        return [(script, a, b) for script, a, b in alone if a != b]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for bad in pool.map(check, [scripts[i:i + batch] for i in range(0, count, batch)]):
            found += bad
    return found
