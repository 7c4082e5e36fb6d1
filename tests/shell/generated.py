"""Random small scripts whose meaning bash decides: what it prints and how it ends is what ours must do.

A script is made of statements over a few variables, arrays and files. All of them end, none depends on time, process
ids or the environment. Several go into one process, each in a subshell, because starting processes is what costs.
"""
import concurrent.futures, random, subprocess

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
                         "\\$a", "\\*", "'q u'", "'*'", "''", '""', "$'t\\tn\\n'", "$'\\x41\\u00e9'", "{", "}", "#", "a#b", "^", "!x")

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
                         f"declare -i n={self.number()}; echo $n", f"declare -u s={self.word()}; echo $s", f"set -- {self.words()}; echo $#", f"read -r a b <<< {self.word()}; echo \"$a|$b\"",
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

    def script(self):
        return "\n".join(self.statement() for _ in range(self.random.randint(1, 4)))


def run(argv, script, cwd, environment, **who):
    try:
        done = subprocess.run([*argv, script], cwd=cwd, env={**environment, "HOME": "/home/user"}, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, **who)
        return done.stdout.replace(cwd.encode(), b"/home/user") if argv[0] == "bash" else done.stdout
    except subprocess.TimeoutExpired:
        return b"no end within 60 s"


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
