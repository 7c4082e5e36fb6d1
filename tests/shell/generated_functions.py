"""Random function bodies: what `declare -f` prints of them is what bash prints.

A body is made of every construct there is, nested, with here-documents and redirections at every place that takes them.
Nothing of it should run; where bash reads one in another way than it was meant, it does so without root's rights.
"""
import concurrent.futures, random
import original
from generated import run

WORDS = ["a", "$x", '"$x y"', "'q u'", "${x:-y}", "${a[@]}", "$(ls;pwd)", "$(ls)", '"$(echo  a;  b)"', "`ls;pwd`", "$'a\\tb'", "$'it\\'s'", '$"loc"',
         "$((1+2))", "{a,b}", "~", "*.c", "\\$", "a\\\nb", '"a\\\nb"', "<(ls|cat)", ">(cat)", "$(< f)", "$( (a) )", "$(a\nb)", "$(a &)",
         "$(if a;then b;fi)", "${x:-$(a;b)}", '"${x:-$(a;b)}"', "$(for i in 1 2;do a;done)", "@(a|b)", "a#b", "$(a;\nb)", "$(a&&b||c)", "$(! a)",
         "$(a|b)", "$({ a;b; })", '"`a`"', "$()", '""', "é", "x=1"]
REDIRECTS = ["> f", ">f", ">>f", "<f", "2>&1", ">&2", "<&3", "3<&-", ">&-", "<&-", "2>f", "1>f", "0<f", "3<>f", "<>f", "1<>f", ">|f", "2>|f", "&>f", "&>>f",
             ">&f", "2>&$x", ">&$x", "<&$x", "3>&4-", "<&4-", ">&$x-", "{v}>f", "{v}<&3", "{v}>&-", "<<<a", '<<< "$x"', "3<<<a", None, None]
TESTS = ["x", "$x", "-n $x", '-z "$y"', "$a == b*", "$a = b", '$a != "c d"', "$a =~ ^(a|b)$", "1 -lt 2", "a < b", "a > b", "-f f", "-v x", "$(a;b) == x"]


class Bodies:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.waiting = ""  # here-documents whose bodies come after the line

    def pick(self, *choices):
        return self.random.choice(choices)

    def newline(self):
        text, self.waiting = "\n" + self.waiting, ""
        return text

    def word(self):
        return self.pick("a", "x", "b") if self.random.random() < 0.4 else self.pick(*WORDS)

    def words(self):
        return " ".join(self.word() for _ in range(self.random.randint(0, 3)))

    def redirect(self):
        found = self.pick(*REDIRECTS)
        if found:
            return found
        delimiter = self.pick("E", "E2", '"E"', "'E F'", "\\E")
        self.waiting += self.pick("", "body $x\n", "\tt1\n  two\n", "a\\\nb\n", "$(a;b)\n") + delimiter.strip("\"'").replace("\\", "") + "\n"
        return self.pick("<<", "<<-", "3<<", "<< ") + delimiter

    def redirects(self):
        return "".join(" " + self.redirect() for _ in range(self.pick(0, 0, 0, 1, 1, 2)))

    def simple(self):
        before = self.pick("", "", "", "x=1 ", "x+=$(a;b) ", "a[1]=2 ", "x=1  y=2 ")
        kind = self.pick("words", "words", "words", "array", "declaration", "redirect")
        if kind == "array":
            return self.pick("x=( 1  2 )", "x=(1\n 2 # c\n)", 'a+=([1]=x [k]="y z")', "x=()", "x=($(a;b) c)")
        if kind == "declaration":
            return self.pick("local x=1", "declare -a y=( 1  2 )", "local -A m=([k]=v)", "export  E=1", "readonly z", "local  a b=$(c;d)", "let x=1")
        if kind == "redirect" and not before:
            return self.redirect()
        return before + self.pick("echo", "a", "cat", "b", "command", "[") + " " + self.words() + self.redirects()

    def condition(self, depth=0):
        kind = self.pick("and", "or", "not", "group", "plain", "plain") if depth < 3 else "plain"
        if kind == "plain":
            return self.pick(*TESTS)
        inner = self.condition(depth + 1)
        if kind in ("and", "or"):
            return inner + self.pick(*{"and": [" && ", " &&\n "], "or": [" || "]}[kind]) + self.condition(depth + 1)
        return "! " + inner if kind == "not" else f"( {inner} )"

    def list(self, depth):
        text = ""
        for left in reversed(range(self.pick(1, 1, 2, 3))):
            text += self.and_or(depth)
            if left:
                kind = self.pick(";", "line", ";", "line", "&")
                text += self.newline() if kind == "line" else " ; " if kind == ";" else " & "
        return text

    def ended(self, depth):
        """A list and what separates it from the word behind it."""
        text, kind = self.list(depth), self.pick(";", "line", ";", "&")
        if self.waiting or kind == "line":
            return text + (" &" if kind == "&" else "") + self.newline()
        return text + (" & " if kind == "&" else "; ")

    def and_or(self, depth):
        text = self.pipeline(depth)
        for _ in range(self.pick(0, 0, 0, 1, 2)):
            text += self.pick(" && ", "||", "&&" if self.waiting else " &&\n") + self.pipeline(depth)
        return text

    def pipeline(self, depth):
        text = self.pick("", "", "", "", "! ", "time ", "time -p ", "! time ", "time ! ") + self.command(depth)
        for _ in range(self.pick(0, 0, 0, 1, 2)):
            text += self.pick(" | ", "|", " |& ", "|" if self.waiting else "|\n") + self.command(depth)
        return text

    def case(self, depth):
        text = f"case {self.word()} in "
        for _ in range(self.pick(0, 1, 2, 3)):
            text += self.pick("a)", "(b|c)", "a | $x)", "*)", '"q w")', "$(a;b))") + " " + (self.list(depth + 1) if self.pick(0, 1) else "")
            text += (self.newline() if self.waiting else " ") + self.pick(";;", ";;", ";&", ";;&") + self.pick(" ", "\n")
        return text + "esac"

    def branches(self, depth):
        text = f"if {self.ended(depth)}then {self.ended(depth)}"
        for _ in range(self.pick(0, 0, 1, 2)):
            text += f"elif {self.ended(depth)}then {self.ended(depth)}"
        return text + (f"else {self.ended(depth)}" if self.pick(0, 1) else "") + "fi"

    def function(self, depth):
        if self.pick(0, 1, 1):
            return self.pick("g() { ", "function g { ", "function g() { ") + self.ended(depth) + "}"
        return "g() ( " + self.list(depth) + (self.newline() if self.waiting else "") + ")"

    def loop(self, depth):
        kind = self.pick("for", "select", "plain", "counting", "while", "until")
        if kind in ("for", "select"):
            head = f"{kind} i in {self.words()}" + (self.newline() if self.waiting else "; ")
        elif kind == "plain":
            head = self.pick("for i; ", "for i ", "for i; " if self.waiting else "for i\n", "for i in; ")
        elif kind == "counting":
            head = "for ((" + self.pick("i=0;i<3;i++", " i = 0 ; i < 3 ; i++ ", ";;", "i=0;;", "; i<3 ;") + "))" + self.pick("; ", " ")
        else:
            head = f"{kind} {self.ended(depth)}"
        return f"{head}do {self.ended(depth)}done"

    def command(self, depth):
        if depth > self.pick(0, 1, 1, 2) or self.random.random() < 0.4:
            return self.simple()
        inner = depth + 1
        return self.pick(
            lambda: self.branches(inner), lambda: self.loop(inner), lambda: self.loop(inner), lambda: self.loop(inner), lambda: self.case(depth),
            lambda: "{ " + self.ended(inner) + "}", lambda: "( " + self.list(inner) + (self.newline() if self.waiting else self.pick("", "; ", " ")) + ")",
            lambda: "((" + self.pick("x+1", " x = 1 ", "x<3 && y", "x<<2") + "))", lambda: f"[[ {self.condition()} ]]", lambda: self.function(inner),
            lambda: self.pick("coproc a x", "coproc (a)", "coproc N { a; }", "coproc { " + self.ended(inner) + "}"))() + self.redirects()

    def definition(self):
        text = "f() { " + self.list(0) + self.newline() + "}" + self.redirects()
        return text + self.newline()


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def printed(atoll, bodies, environment):
    text = "shopt -s extglob\n" + "".join(f"unset -f f; eval {quoted(body)} 2>/dev/null && declare -f f; echo --\n" for body in bodies)
    ours = [atoll, "shell", "--clean-env", *sum((["--env", f"{k}={v}"] for k, v in environment.items()), []), "-c"]
    with original.directory() as cwd:
        return run(ours, text, "/", environment), run(["bash", "-c"], text, cwd, environment, **original.user())


def differing(atoll, seed, count, environment, batch=25):
    """[(definition, ours, theirs)] for the functions that the shells print differently."""
    bodies = [Bodies(f"{seed}/{i}").definition() for i in range(count)]

    def check(group):
        ours, theirs = printed(atoll, group, environment)
        alone = [] if ours == theirs else [(body, *printed(atoll, [body], environment)) for body in group]
        return [(body, a, b) for body, a, b in alone if a != b]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return sum(pool.map(check, [bodies[i:i + batch] for i in range(0, count, batch)]), [])
