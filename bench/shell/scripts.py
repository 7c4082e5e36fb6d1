"""What bench/shell/run measures: the scripts with their goals, and the files they work on."""
import json

# Name, script, and the goal: a number is the most our time may be of bash's, "N µs" a time, none is only shown. Every
# script must also be quicker than in the peers.
SCRIPTS = [
    ("echo", "echo hello", "4 µs"),
    ("true", "true", 0.01),
    ("echo to cat", "echo hello | cat", 0.01),
    ("write and read", "echo hi > f; cat f", 0.01),
    ("loop of 10 with [ ]", "for i in 1 2 3 4 5 6 7 8 9 10; do if [ $i -gt 5 ]; then x=$i; fi; done; echo $x", 0.01),
    ("loop of 100,000", "for ((i=0;i<100000;i++)); do :; done", 1.0),
    ("arithmetic 100,000", "x=0; for ((i=0;i<100000;i++)); do x=$((x+i)); done; echo $x", 1.0),
    ("for in {1..1000}", "x=0; for i in {1..1000}; do x=$((x+i)); done; echo $x", 1.0),
    ("test and assign 100,000", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo $i", 1.0),
    ("function calls 100,000", "f() { local a=$1; r=$a; }; for ((i=0;i<100000;i++)); do f $i; done; echo $r", 1.0),
    ("strings 100,000", 'n=0; for ((i=0;i<100000;i++)); do s="item-$i.txt"; s=${s%.txt}; [[ $s == *9 ]] && n=$((n+${#s})); done; echo $n', 1.0),
    ("substitutions 1,000", "for ((i=0;i<1000;i++)); do x=$(echo $i); done; echo $x", 0.01),
    ("pipelines 1,000", "for ((i=0;i<1000;i++)); do echo $i | cat; done | tail -n 1", 0.01),
    ("small commands 1,000", "for ((i=0;i<1000;i++)); do basename /a/b/$i; done | tail -n 1", 0.01),
    ("files 1,000", "mkdir w; for ((i=0;i<1000;i++)); do echo $i > w/f$i; done; cat w/f* | wc -l; rm w/f*; rmdir w", 1.0),
    ("cat grep wc, 1 MB", "cat small | grep error | wc -l", 1.0),
    ("cat grep wc", "cat text | grep error | wc -l", 1.0),
    ("words by count", "cat text | grep -o '[a-z]*' | sort | uniq -c | sort -rn | head -n 3", 1.0),
    ("lines by count", "cat text | grep -v zzz | sort | uniq -c | sort -rn | head -n 3", 1.0),
    ("fields by count", "cut -d ' ' -f 3 text | sort | uniq -c | sort -rn", 1.0),
    ("wc", "wc text", 1.0),
    ("wc -l", "wc -l text", 1.0),
    ("grep -c literal", "grep -c error text", 1.0),
    ("grep -c -i", "grep -c -i ERROR text", 1.0),
    ("grep -n", "grep -n 'value99 at' text | tail -n 1", 1.0),
    ("grep -cE", "grep -cE '(error|warn).*[0-9]{3}' text", 1.0),
    ("sed s///g", "sed 's/error/ERROR/g' text | tail -n 1", 1.0),
    ("sed -E groups", "sed -E 's/([a-z]+) ([0-9]+)/\\2 \\1/' text | tail -n 1", 1.0),
    ("sed -n p", "sed -n '/error.*9$/p' text | wc -l", 1.0),
    ("sed delete", "sed '/^debug/d' text | wc -l", 1.0),
    ("awk sum", "awk '{s += $2} END {print s}' text", 1.0),
    ("awk count", "awk '{n[$1]++} END {for (k in n) t += n[k]; print t, length(n)}' text", 1.0),
    ("awk words", "awk '{for (i = 1; i <= NF; i++) n[$i]++} END {for (k in n) t += n[k]; print t, length(n)}' text", 1.0),
    ("awk print", "awk -F ' ' '$2 > 5000 {print $1, $4}' text | tail -n 1", 1.0),
    ("sort", "sort text | tail -n 1", 1.0),
    ("sort -n -k2,2", "sort -n -k2,2 text | tail -n 1", 1.0),
    ("sort -u -k", "sort -u -k1,1 text | wc -l", 1.0),
    ("uniq -c", "uniq -c text | tail -n 1", 1.0),
    ("cut -f", "cut -d ' ' -f 1,3 text | tail -n 1", 1.0),
    ("cut -c", "cut -c 1-10 text | tail -n 1", 1.0),
    ("tr", "tr a-z A-Z < text | tail -n 1", 1.0),
    ("tr -d", "tr -d 0-9 < text | tail -n 1", 1.0),
    ("head and tail", "head -n 200000 text | tail -n 1", 1.0),
    ("find -name", "find tree -name '*7.txt' | wc -l", 1.0),
    ("find -type f", "find tree -type f | wc -l", 1.0),
    ("ls -R", "ls -R tree | wc -l", 1.0),
    ("grep -r", "grep -r needle tree | wc -l", 1.0),
    ("grep -rl", "grep -rl needle tree | wc -l", 1.0),
    ("glob", "echo tree/*/*.txt | wc -w", 1.0),
    ("jq map", "jq -c '{id, n: (.n + 1)}' docs | tail -n 1", 1.5),
    ("jq select", "jq -c 'select(.n > 900) | .name' docs | wc -l", 1.5),
    ("jq -s add", "jq -s 'map(.n) | add' docs", 1.5),
]


def make_files(where):
    """Almost 10 MB of lines (bashkit takes no larger file), 1 MB of them, 10,000 files in 100 directories, as much JSON."""
    words = ["error", "warn", "info", "debug", "trace", "start", "stop", "ready", "alpha", "beta", "gamma", "delta"]
    lines, seed, size = [], 12345, 0
    while size < 9_900_000:
        seed = (seed * 1103515245 + 12345) % 2**31
        line = f"{words[seed % 12]} {seed % 10007} {words[seed // 16 % 12]} value{seed % 997} at {seed // 7 % 86400}"
        lines.append(line)
        size += len(line) + 1
    (where / "text").write_text("\n".join(lines) + "\n")
    (where / "small").write_text("\n".join(lines[: len(lines) // 10]) + "\n")
    docs = [json.dumps({"id": i, "name": f"item {i % 4001}", "n": i * 7919 % 1000, "tags": ["a", "b"], "in": {"x": i / 4, "y": None}}) for i in range(101_000)]
    (where / "docs").write_text("\n".join(docs) + "\n")
    for d in range(100):
        (where / "tree" / f"d{d}").mkdir(parents=True)
        for f in range(100):
            body = f"file {f} of {d}\n" * 50 + ("needle\n" if f % 50 == 7 else "")
            (where / "tree" / f"d{d}" / f"f{f}.txt").write_text(body)
