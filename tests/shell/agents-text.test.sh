#### top ten of an access log
cat > log <<'L'
10.0.0.1 - - [10/Oct/2023:13:55:36 +0000] "GET /index.html HTTP/1.1" 200 2326 "-" "curl"
10.0.0.2 - - [10/Oct/2023:13:55:37 +0000] "GET /a?x=1 HTTP/1.1" 404 12 "-" "Moz illa"
10.0.0.1 - bob [10/Oct/2023:14:55:38 +0000] "POST /api HTTP/1.1" 500 5 "-" "curl"
10.0.0.3 - - [11/Oct/2023:13:55:39 +0000] "GET /index.html HTTP/1.1" 200 2326 "-" "curl"
10.0.0.1 - - [11/Oct/2023:13:55:40 +0000] "GET /b HTTP/1.1" 301 0 "-" "-"
L
awk '{print $1}' log | sort | uniq -c | sort -rn | head -2; cut -d'"' -f2 log | cut -d' ' -f2 | sort | uniq -c | sort -k1,1nr -k2; awk '$9 >= 400 {c[$9]++} END {for (s in c) print s, c[s]}' log | sort; awk '{b[$1]+=$10} END {for (i in b) printf "%-10s %8d\n", i, b[i]}' log | sort -k2 -rn; grep -oE '"(GET|POST) [^ ]+' log | tr -d '"' | sort -u; awk -F'[][]' '{split($2,a,":"); h[a[2]]++} END {for (x in h) print x, h[x]}' log | sort; grep -c ' 200 ' log; awk -F\" '{print $6}' log | sort | uniq -c | sort -rn; sed -E 's/^([0-9.]+) .*\[([^:]+):.*" ([0-9]{3}) .*/\1 \2 \3/' log
#|       3 10.0.0.1
#|       1 10.0.0.3
#|       2 /index.html
#|       1 /a?x=1
#|       1 /api
#|       1 /b
#| 404 1
#| 500 1
#| 10.0.0.1       2331
#| 10.0.0.3       2326
#| 10.0.0.2         12
#| GET /a?x=1
#| GET /b
#| GET /index.html
#| POST /api
#| 13 4
#| 14 1
#| 2
#|       3 curl
#|       1 Moz illa
#|       1 -
#| 10.0.0.1 10/Oct/2023 200
#| 10.0.0.2 10/Oct/2023 404
#| 10.0.0.1 10/Oct/2023 500
#| 10.0.0.3 11/Oct/2023 200
#| 10.0.0.1 11/Oct/2023 301

#### csv reports with awk
cat > s.csv <<'C'
date,region,product,qty,price
2024-01-01,EU,apple,3,1.20
2024-01-02,US,pear,5,0.80
2024-01-02,EU,pear,2,0.85
2024-01-03,US,apple,7,1.10
C
awk -F, 'NR>1 {t[$2]+=$4*$5} END {for (r in t) printf "%s %.2f\n", r, t[r]}' s.csv | sort; awk -F, -v OFS=';' 'NR==1{print; next} {$5=sprintf("%.1f",$5); print}' s.csv; awk -F, 'NR==1{for(i=1;i<=NF;i++) h[$i]=i; next} {print $h["product"], $h["qty"]}' s.csv; sort -t, -k3,3 -k4,4nr s.csv | head -3; cut -d, -f2,4 --output-delimiter=: s.csv; column -s, -t s.csv; awk -F, 'NR>1{a[$3]=a[$3] (a[$3]?",":"") $1} END{for(k in a) print k": "a[k]}' s.csv | sort; (head -1 s.csv; tail -n +2 s.csv | sort -t, -k5 -g); awk -F, 'NR>1 && $4>m {m=$4; l=$0} END {print l}' s.csv; tr , '\t' < s.csv | head -1 | cat -T; awk 'BEGIN{FS=OFS=","} NR>1{$6=$4*$5} 1' s.csv; awk -F, 'NR>1{s+=$4; ss+=$4^2; n++} END {printf "%.3f %.3f\n", s/n, sqrt(ss/n-(s/n)^2)}' s.csv
#| EU 5.30
#| US 11.70
#| date,region,product,qty,price
#| 2024-01-01;EU;apple;3;1.2
#| 2024-01-02;US;pear;5;0.8
#| 2024-01-02;EU;pear;2;0.8
#| 2024-01-03;US;apple;7;1.1
#| apple 3
#| pear 5
#| pear 2
#| apple 7
#| 2024-01-03,US,apple,7,1.10
#| 2024-01-01,EU,apple,3,1.20
#| 2024-01-02,US,pear,5,0.80
#| region:qty
#| EU:3
#| US:5
#| EU:2
#| US:7
#| date        region  product  qty  price
#| 2024-01-01  EU      apple    3    1.20
#| 2024-01-02  US      pear     5    0.80
#| 2024-01-02  EU      pear     2    0.85
#| 2024-01-03  US      apple    7    1.10
#| apple: 2024-01-01,2024-01-03
#| pear: 2024-01-02,2024-01-02
#| date,region,product,qty,price
#| 2024-01-02,US,pear,5,0.80
#| 2024-01-02,EU,pear,2,0.85
#| 2024-01-03,US,apple,7,1.10
#| 2024-01-01,EU,apple,3,1.20
#| 2024-01-03,US,apple,7,1.10
#| date^Iregion^Iproduct^Iqty^Iprice
#| date,region,product,qty,price
#| 2024-01-01,EU,apple,3,1.20,3.6
#| 2024-01-02,US,pear,5,0.80,4
#| 2024-01-02,EU,pear,2,0.85,1.7
#| 2024-01-03,US,apple,7,1.10,7.7
#| 4.250 1.920

#### awk programs with functions and printf
seq 1 5 | awk 'function f(n) {return n<2?1:n*f(n-1)} {printf "%d! = %d\n", $1, f($1)}'; awk 'BEGIN{while(("echo a b; echo c" | getline l)>0) {n=split(l,w); for(i=1;i<=n;i++) print i":"w[i]}}'; printf 'k v\nk2 v2\n' | awk '{m[$1]=$2} END {print length(m), m["k2"]; if ("x" in m) print "no"; delete m["k"]; for (k in m) print k}'; echo 'The quick brown fox' | awk '{for(i=NF;i>0;i--) printf "%s%s", $i, (i>1?" ":"\n")}'; echo foobar | awk '{print toupper(substr($0,1,1)) substr($0,2), index($0,"bar"), match($0,/o+/), RSTART, RLENGTH; gsub(/o/,"[&]"); print}'; awk 'BEGIN {printf "%5.2f|%-5s|%05d|%x\n", 3.14159, "ab", 42, 255; print 1e6, 0.1+0.2, 1/3, 100000000000000000000, -3%2, 2^10, int(-3.7)}'; awk -v name="a b" 'BEGIN {print name; print ENVIRON["HOME"] != ""; exit 3}'; echo $?; printf 'a,b;c\n' | awk -F'[,;]' '{print $3, NF}'; awk 'NR==FNR{a[$1]=$2;next} $1 in a{print $0, a[$1]}' <(printf '1 x\n2 y\n') <(printf '2 q\n3 r\n1 s\n'); printf '1\n2\n\n3\n' | awk -v RS= '{print NR": "$1" "NF}'; echo 'a:b' | awk '{split($0,x,":"); print x[2]; $0="c d"; print $2; NF=1; print}'; awk 'BEGIN{x["a"]=1; x["b"]=2; for(k in x) s+=x[k]; print s; print substr("hello",2,3), length("héllo"), sprintf("%c%c",65,"BC"), tolower("ÀB")}'; seq 3 | awk '{print > ("out" $1)} END{close("out1"); while((getline l < "out2")>0) print "r" l}'; awk 'BEGIN { "date +%Y" | getline y; print (y > 2000) }'; awk '!seen[$0]++' <<< $'a\nb\na'; awk 'BEGIN{do {i++; if(i==2) continue; print i} while(i<3); switch (i) {case 3: print "three"; break; default: print "d"}}' 2>/dev/null || true
#| 1! = 1
#| 2! = 2
#| 3! = 6
#| 4! = 24
#| 5! = 120
#| 1:a
#| 2:b
#| 1:c
#| 2 v2
#| k2
#| fox brown quick The
#| Foobar 4 2 2 2
#| f[o][o]bar
#|  3.14|ab   |00042|ff
#| 1000000 0.3 0.333333 100000000000000000000 -1 1024 -3
#| a b
#| 1
#| 3
#| c 3
#| 2 q y
#| 1 s x
#| 1: 1 2
#| 2: 3 1
#| b
#| d
#| c
#| 3
#| ell 5 AB àb
#| 1
#| a
#| b
#| 1
#| 3
#| three

#### word frequency
printf 'The cat and the dog. The end, and THE start!\n' > t; tr -cs '[:alpha:]' '\n' < t | tr '[:upper:]' '[:lower:]' | sort | uniq -c | sort -k1nr -k2 | head -3; grep -oiw the t | wc -l; awk '{for(i=1;i<=NF;i++) {gsub(/[^a-zA-Z]/,"",$i); c[tolower($i)]++}} END {for (w in c) print c[w], w}' t | sort -k1,1nr -k2 | sed 3q; wc -w < t; fold -w 10 -s t; fmt -w 20 t; rev t; tr -d '[:punct:]' < t; tr -s ' ' '_' < t; grep -o . t | sort | uniq -c | sort -rn | head -1 | awk '{print $1}'; expr length "$(cat t)"
#|       4 the
#|       2 and
#|       1 cat
#| 4
#| 4 the
#| 2 and
#| 1 cat
#| 10
#| The cat 
#| and the 
#| dog. The 
#| end, and 
#| THE start!
#| The cat and the
#| dog. The end, and
#| THE start!
#| !trats EHT dna ,dne ehT .god eht dna tac ehT
#| The cat and the dog The end and THE start
#| The_cat_and_the_dog._The_end,_and_THE_start!
#| 9
#| 44

#### grep in many ways
mkdir g; printf 'def foo():\n    pass\n# TODO: fix\nclass A:\n    def bar(self): pass\n' > g/a.py; printf 'function foo() {}\n// todo later\n' > g/b.js; printf 'bin\0ary foo\n' > g/c.bin
grep -rn 'def \w\+' g --include='*.py'; grep -rniE 'todo' g | sort; grep -rc foo g | sort; grep -rlI foo g | sort; grep -L foo g/*; grep -A1 -B1 -n class g/a.py; grep -C1 pass g/a.py; grep -ohE '\w+\(' g/*.py g/*.js; grep -w foo g/c.bin; grep -P '(?<=def )\w+(?=\()' -o g/a.py; grep -e foo -e bar g/a.py; grep -v pass g/a.py | head -2; grep -m1 pass g/a.py; grep -qs x missing; echo $?; grep x missing; echo $?; grep -F '()' g/b.js; grep -x '# TODO: fix' g/a.py; grep -ob foo g/b.js; grep -E '^(class|def)' g/a.py -c; grep -H foo g/a.py; grep -h foo g/a.py g/b.js; grep --color=always foo g/b.js | cat -v; grep -Z -l foo g/a.py | tr '\0' '|'; echo; printf 'a\nb\n' | grep -f <(echo b); grep -r --exclude-dir=g foo .; grep -rn --exclude='*.py' foo g | sort; grep '[[:space:]]pass$' g/a.py; grep -nE '(foo|bar)\(.*\):' g/a.py; grep -zo 'bin' g/c.bin | tr '\0' '\n'; egrep 'a|b' <<< b; fgrep . <<< a.b; grep -i 'É' <<< 'é'
#| g/a.py:1:def foo():
#| g/a.py:5:    def bar(self): pass
#| g/a.py:3:# TODO: fix
#| g/b.js:2:// todo later
#| g/a.py:1
#| g/b.js:1
#| g/c.bin:1
#| g/a.py
#| g/b.js
#| 3-# TODO: fix
#| 4:class A:
#| 5-    def bar(self): pass
#| def foo():
#|     pass
#| # TODO: fix
#| class A:
#|     def bar(self): pass
#| foo(
#| bar(
#| foo(
#| foo
#| bar
#| def foo():
#|     def bar(self): pass
#| def foo():
#| # TODO: fix
#|     pass
#| 2
#| 2
#| function foo() {}
#| # TODO: fix
#| 9:foo
#| 2
#| g/a.py:def foo():
#| def foo():
#| function foo() {}
#| function ^[[01;31m^[[Kfoo^[[m^[[K() {}
#| g/a.py|
#| b
#| g/b.js:1:function foo() {}
#|     pass
#|     def bar(self): pass
#| 1:def foo():
#| 5:    def bar(self): pass
#| bin
#| b
#| a.b
#| é

#### sort in many ways
printf '%s\n' 'b 10' 'a 9' 'c 100' 'a 10' > s; sort s; sort -k2n s; sort -k1,1 -k2,2nr s; sort -rk1,1 s; sort -u -k1,1 s; printf '%s\n' 1.2.10 1.2.9 1.10.0 | sort -V; printf '%s\n' 1G 5M 900K 12 | sort -h; printf '%s\n' B a C | sort -f; printf '%s\n' B a C | LC_ALL=C sort; sort -t' ' -k2.1,2.1 -s s; sort --key=2 --numeric-sort --reverse s | head -1; printf 'x\ny\nx\n' | sort | uniq -u; printf 'a\nA\nb\n' | uniq -ic; printf '1 a\n2 a\n3 b\n' | uniq -f1; printf 'b\na\n' | sort -o s2; cat s2; sort -c s; echo $?; shuf -i 1-5 | sort -n | paste -sd' '; shuf -n 2 -e a b c | wc -l; printf '%s\n' 3 -1 2.5 1e1 | sort -g; printf 'Mar\nJan\n' | sort -M; comm -12 <(sort s) <(printf 'a 9\n'); tsort <<< 'a b b c'; sort -R s | wc -l; seq 5 | tac | head -2; seq 0 0.5 1.5; seq -w 8 10; seq -s, 3; seq 5 -2 1; seq -f 'f%02g' 2
#| a 10
#| a 9
#| b 10
#| c 100
#| a 9
#| a 10
#| b 10
#| c 100
#| a 10
#| a 9
#| b 10
#| c 100
#| c 100
#| b 10
#| a 9
#| a 10
#| a 9
#| b 10
#| c 100
#| 1.2.9
#| 1.2.10
#| 1.10.0
#| 12
#| 900K
#| 5M
#| 1G
#| a
#| B
#| C
#| B
#| C
#| a
#| b 10
#| c 100
#| a 10
#| a 9
#| c 100
#| y
#|       2 a
#|       1 b
#| 1 a
#| 3 b
#| a
#| b
#| 1
#| 1 2 3 4 5
#| 2
#| -1
#| 2.5
#| 3
#| 1e1
#| Jan
#| Mar
#| a 9
#| a
#| b
#| c
#| 4
#| 5
#| 4
#| 0.0
#| 0.5
#| 1.0
#| 1.5
#| 08
#| 09
#| 10
#| 1,2,3
#| 5
#| 3
#| 1
#| f01
#| f02

#### jq reports
cat > d.json <<'J'
{"users":[{"id":1,"name":"Ann","tags":["a","b"],"age":30},{"id":2,"name":"Bob","tags":[],"age":null},{"id":3,"name":"Cy","tags":["b"],"age":25}],"meta":{"total":3,"next":null,"ok":true}}
J
jq -r '.users[] | "\(.id)\t\(.name)"' d.json; jq '.users | map(select(.age != null) | .age) | add / length' d.json; jq -c '.users[] | {name, n: (.tags|length)}' d.json; jq -r '.users[] | [.id, .name, (.age // "n/a")] | @csv' d.json; jq -r '.users | (.[0] | keys_unsorted | map(select(. != "tags"))) as $k | $k, (.[] | [.[$k[]]]) | @tsv' d.json; jq -c '[.users[].tags[]] | group_by(.) | map({key: .[0], value: length}) | from_entries' d.json; jq '.meta | to_entries[] | select(.value == null) | .key' d.json; jq -c 'paths(scalars) | map(tostring) | join(".")' d.json | head -3; jq --arg n Bob '.users[] | select(.name == $n).id' d.json; jq -c --argjson i 2 'del(.users[$i]) | .users | length' d.json; jq -e '.missing' d.json; echo $?; jq '.users | sort_by(.age) | .[0].name' d.json; jq -c '.users | min_by(.age // 99)' d.json; jq -r 'limit(2; .users[].name)' d.json; jq -c '.users |= map(.age |= (. // 0) + 1) | [.users[].age]' d.json; jq -S -c '.meta' d.json; jq '.users | length' d.json; jq -r '.users[0] | to_entries | map("\(.key)=\(.value|tojson)") | join("&")' d.json; jq -c 'reduce .users[] as $u ({}; .[$u.name] = $u.id)' d.json; jq '[.users[] | .tags | index("b")]' -c d.json; jq -c '.users | map(has("age")), any(.[]; .age == 25), all(.[]; .id > 0)' d.json; jq '.x.y[1:]?' d.json; jq -n -c '[range(0;10;3)], ([1,[2]] | flatten), ("a,b" | split(",")), ("x" * 3), ({} | .a.b = 1), (now > 0), ("2024-01-01T00:00:00Z" | fromdate), (0 | todate), ([3,1,2] | sort | reverse), ("abc" | test("B"; "i")), ("aXbX" | gsub("X"; "-")), ([1,2] | contains([1])), ("é" | utf8bytelength), ([1,2,3] | .[1:] ), ({"a":1} + {"b":2} | keys), (@base64 "\("hi")"), ("a b" | @uri), ([.[]?]), (try error("x") catch .), (input? // "none")'
#| 1	Ann
#| 2	Bob
#| 3	Cy
#| 27.5
#| {"name":"Ann","n":2}
#| {"name":"Bob","n":0}
#| {"name":"Cy","n":1}
#| 1,"Ann",30
#| 2,"Bob","n/a"
#| 3,"Cy",25
#| id	name	age
#| 1	Ann	30
#| 2	Bob	
#| 3	Cy	25
#| {"a":1,"b":2}
#| "next"
#| "users.0.id"
#| "users.0.name"
#| "users.0.tags.0"
#| 2
#| 2
#| null
#| 1
#| "Bob"
#| {"id":3,"name":"Cy","tags":["b"],"age":25}
#| Ann
#| Bob
#| [31,1,26]
#| {"next":null,"ok":true,"total":3}
#| 3
#| id=1&name="Ann"&tags=["a","b"]&age=30
#| {"Ann":1,"Bob":2,"Cy":3}
#| [1,null,0]
#| [true,true,true]
#| true
#| true
#| null
#| [0,3,6,9]
#| [1,2]
#| ["a","b"]
#| "xxx"
#| {"a":{"b":1}}
#| true
#| 1704067200
#| "1970-01-01T00:00:00Z"
#| [3,2,1]
#| true
#| "a-b-"
#| true
#| 2
#| [2,3]
#| ["a","b"]
#| "aGk="
#| "a%20b"
#| []
#| "x"
#| "none"

#### jq input forms and options
printf '{"a":1}\n{"a":2}\n' > l; jq -s 'map(.a) | add' l; jq -c -n '[inputs.a]' l; jq -R . <<< 'raw "line"'; jq -Rs 'split("\n") | length' l; jq -r '.a | tostring | ascii_downcase' l; jq --tab . <<< '{"x":[1]}' | cat -T; jq --indent 1 . <<< '{"x":[1,{}]}'; jq -j .a l; echo; jq -a . <<< '"é"'; jq '.[' <<< 1 2>/dev/null; echo $?; jq -n '$ENV.HOME | type'; jq -n --args '$ARGS.positional' a b -c; jq --slurpfile f l -n '$f | length'; jq --rawfile f l -n '$f | length'; jq 'input_filename' l | head -1; jq -n 'def f(x): x * 2; f(3)'; jq -c '. as {a: $x} | $x' l; jq -c 'if .a == 1 then "one" elif .a == 2 then "two" else "many" end' l; jq -c '.a as $x | [1,2] | map(. + $x)' l; jq -n '"\(1 + 2) is three"' -r; jq -n '[1,2,3] | @json, @text, @sh' -r; jq -n '"<&>" | @html' -r; jq -c 'to_entries' l | head -1; jq -n -r '["a","b"] | @csv, @tsv'; jq -c 'with_entries(.value += 1)' l; jq -n -c '{"a":{"b":[1,2]}} | [leaf_paths], getpath(["a","b",0]), (.. | numbers)'; jq -n -c '[splits("a";"b")]? // 1' ; jq -n '1, null, "x" | type' -r; jq -cn '[{"k":1,"v":2},{"k":1,"v":3}] | group_by(.k) | map({k: .[0].k, s: (map(.v) | add)})'; jq -cn '[1,1,2] | unique, (map(tostring) | join("-"))'; jq -cn '"test 123" | capture("(?<w>[a-z]+) (?<n>\\d+)"), [match("\\d";"g").string], (sub("(?<x>\\d)"; "<\(.x)>"))'; jq -cn '{} | .["a b"] = 1 | .c += 1'; jq -cn '[1,null,2] | map(values), (.[1] // "d"), first, last, nth(2)'; jq -n 'error("boom")' 2>&1; echo $?; jq -cn '[.[]?] | length, ({"a":[1,2]} | tostream)' ; jq -cn 'label $out | foreach (1,2,3) as $i (0; . + $i; if . > 2 then ., break $out else . end)'; jq -cn '"1,2" / "," | map(tonumber) | add'; jq -rn '@text "v: \([1,2])", ("abc" | explode | implode | ascii_upcase), ("a-b" | ltrimstr("a-") | rtrimstr("b") | length), ([1,2] | tojson | fromjson | .[0]), (infinite | isinfinite), ([3,4] | max, min), (10 / 4 | floor, ceil, round, sqrt | tostring)'
#| 3
#| [1,2]
#| "raw \"line\""
#| 3
#| 1
#| 2
#| {
#| ^I"x": [
#| ^I^I1
#| ^I]
#| }
#| {
#|  "x": [
#|   1,
#|   {}
#|  ]
#| }
#| 12
#| "\u00e9"
#| 3
#| "string"
#| ["a","b"]
#| 2
#| 16
#| "l"
#| 6
#| 1
#| 2
#| "one"
#| "two"
#| [2,3]
#| [3,4]
#| 3 is three
#| [1,2,3]
#| [1,2,3]
#| 1 2 3
#| &lt;&amp;&gt;
#| [{"key":"a","value":1}]
#| "a","b"
#| a	b
#| {"a":2}
#| {"a":3}
#| [["a","b",0],["a","b",1]]
#| 1
#| 1
#| 2
#| 1
#| number
#| null
#| string
#| [{"k":1,"s":5}]
#| [1,2]
#| "1-1-2"
#| {"w":"test","n":"123"}
#| ["1","2","3"]
#| "test <1>23"
#| {"a b":1,"c":1}
#| [1,2]
#| "d"
#| 1
#| 2
#| 2
#| jq: error (at <unknown>): boom
#| 5
#| 0
#| [["a",0],1]
#| [["a",1],2]
#| [["a",1]]
#| [["a"]]
#| 1
#| 3
#| 3
#| v: [1,2]
#| ABC
#| 0
#| 1
#| true
#| 4
#| 3
#| 2
#| 3
#| 3
#| 1.5811388300841898

#### markdown, html and text wrangling
printf '# Title\n\nSome *text*.\n\n## Two\n- a\n- b\n\n```sh\nls\n```\n' > r.md; grep -E '^#{1,6} ' r.md | sed -E 's/^(#+) (.*)/\1|\2/'; awk '/^```/{c=!c; next} c' r.md; sed -n '/^## Two/,/^#/p' r.md; awk '/^## /{p=0} /^## Two/{p=1;next} p' r.md | grep '^-' | sed 's/^- //'; grep -c '^$' r.md; sed '/^$/d' r.md | wc -l; cat -s r.md | head -2; echo '<p>Hello <b>you</b></p>' | sed 's/<[^>]*>//g'; echo 'a&amp;b' | sed 's/&amp;/\&/g'; grep -oP 'href="\K[^"]+' <<< '<a href="x.html">x</a><a href="y">y</a>'; tr '\n' ' ' < r.md | cut -c1-20; expand -t4 <<< $'a\tb'; unexpand -a <<< 'a       b'; nl -w2 -s'. ' <<< $'x\ny'; column -t <<< $'a bb\nccc d'; paste -sd' ' <<< $'x\ny'; pr --version >/dev/null 2>&1; printf 'a\r\nb\r\n' | tr -d '\r'; printf 'x' | sed -e '$a\'; sed 's/[^,]*,//2' <<< 'a,b,c,d'; sed -E 's/([a-z]+) ([a-z]+)/\2 \1/' <<< 'hello world'; sed 's/.*/"&"/' <<< q; sed -n 'H;${x;s/\n/,/g;s/^,//;p}' <<< $'a\nb\nc'; sed ':a;N;$!ba;s/\n/\\n/g' <<< $'a\nb'; sed -e 's/\t/    /g' <<< $'\tx'; sed 's|/usr|/opt|;s#a#b#' <<< '/usr/a'; sed 's/x/\n/' <<< axb; sed = <<< $'a\nb' | sed 'N;s/\n/\t/'; sed '1!G;h;$!d' <<< $'1\n2\n3'; sed -n '2{p;q}' <<< $'a\nb\nc'; sed 's/\(foo\|bar\)/<\1>/g' <<< 'foo bar'; sed 's/a/b/I;s/.\{3\}$//' <<< 'Aabcdef'; sed --expression='s/a/b/' -s <<< a; sed -z 's/\n/,/g' <<< $'a\nb'; sed 's/e\b/E/g; s/\w\+$/<&>/' <<< 'the re he'; sed -E '/^#/!s/([0-9]+)/(\1)/g' <<< $'# 1\n2 3'; sed 'n;d' <<< $'1\n2\n3'; sed '/a/,+1d' <<< $'a\nb\nc'; sed -n '$p;1p' <<< $'x\ny'; sed 's/./\u&/;s/ \(.\)/ \u\1/g' <<< 'big old dog'; sed "s/'/\"/g" <<< "it's"; sed 'y/abc/xyz/;s/x/&&/w o' <<< abc; cat o; sed -f <(echo 's/1/2/') <<< 1; sed 's/a' <<< a 2>&1; sed --nope <<< a 2>&1 | head -1; sed -n l <<< $'a\tb\\é'
#| #|Title
#| ##|Two
#| ls
#| ## Two
#| - a
#| - b
#|
#| ```sh
#| ls
#| ```
#| a
#| b
#| 3
#| 8
#| # Title
#|
#| Hello you
#| a&b
#| x.html
#| y
#| # Title  Some *text*
#| a   b
#| a	b
#|  1. x
#|  2. y
#| a    bb
#| ccc  d
#| x y
#| a
#| b
#| x
#| a,c,d
#| world hello
#| "q"
#| a,b,c
#| a\nb
#|     x
#| /opt/b
#| a
#| b
#| 1	a
#| 2	b
#| 3
#| 2
#| 1
#| b
#| <foo> <bar>
#| babc
#| b
#| a,b,thE rE <hE>
#| # 1
#| (2) (3)
#| 1
#| 3
#| c
#| x
#| y
#| Big Old Dog
#| it"s
#| xxyz
#| xxyz
#| 2
#| sed: -e expression #1, char 3: unterminated `s' command
#| sed: unrecognized option '--nope'
#| a\tb\\\303\251$

#### bc, expr and arithmetic
echo 'scale=3; 10/3' | bc; echo '2^64' | bc; bc <<< 'ibase=16; FF'; bc -l <<< 's(1); e(1); l(2)'; echo 'x=5; while (x>0) { print x, " "; x-=1 }; print "\n"' | bc; echo "define f(n) { if (n<2) return 1; return n*f(n-1) } f(20)" | bc; expr 3 + 4; expr 5 \* 6; expr abc : 'a\(.*\)'; expr substr hello 2 3; expr index hello l; expr 1 = 2; echo $?; echo $((7/2)) $((7%3)) $((2**10)) $((0xff)) $((8#17)) $((1<<4)) $((5>3?1:0)) $(( -7/2 )); a=5; ((a++)); ((a+=10)); echo $a $((a--)) $a; let 'b = a * 2' c=3; echo $b $c; echo "$((10#08 + 1))"; awk 'BEGIN{printf "%.2f\n", 22/7}'; echo 'obase=2; 10' | bc; dc <<< '3 4 + p 2 ^ p'; printf '%.2f\n' "$(echo '1.005*100' | bc)"; echo "sqrt(2)" | bc -l; echo "scale=2; (100*45/67)" | bc; i=0; while ((i<3)); do echo -n "$i "; ((i++)); done; echo; echo $((RANDOM >= 0 && RANDOM < 32768)); for ((i=0,j=10; i<j; i+=3,j-=2)); do echo -n "$i-$j "; done; echo; echo $(( (1+2) * 3 )) $((~0)) $((1 ? 2 : 3)) $((3 & 5 | 8 ^ 1)) $((!5)); factor 360; seq 10 | paste -sd+ | bc; echo '5 > 3' | bc; echo 'length(12345); scale(1.23)' | bc; expr 1 / 0 2>&1; echo $((1/0)) 2>&1 | sed 's/.*line [0-9]*: //'
#| 3.333
#| 18446744073709551616
#| 255
#| .84147098480789650665
#| 2.71828182845904523536
#| .69314718055994530941
#| 5 4 3 2 1 
#| 2432902008176640000
#| 7
#| 30
#| bc
#| ell
#| 3
#| 0
#| 1
#| 3 1 1024 255 15 16 1 -3
#| 16 16 15
#| 30 3
#| 9
#| 3.14
#| 1010
#| 7
#| 49
#| 100.50
#| 1.41421356237309504880
#| 67.16
#| 0 1 2 
#| 1
#| 0-10 3-8 
#| 9 -1 2 9 0
#| 360: 2 2 2 3 3 5
#| 55
#| 1
#| 5
#| 2
#| expr: division by zero

#### sqlite
sqlite3 t.db 'CREATE TABLE p(id INTEGER PRIMARY KEY, name TEXT, price REAL); INSERT INTO p(name,price) VALUES ("a",1.5),("b",2.25),("c",NULL);'
sqlite3 t.db 'SELECT * FROM p'; sqlite3 -header -csv t.db 'SELECT name, price FROM p ORDER BY price DESC'; sqlite3 -json t.db 'SELECT id,name FROM p LIMIT 2'; sqlite3 -column -header t.db 'SELECT name, price*2 AS dbl FROM p'; sqlite3 t.db '.tables' '.schema p'; sqlite3 -separator '|' t.db 'SELECT count(*), sum(price), avg(price) FROM p'; sqlite3 -line t.db 'SELECT * FROM p WHERE id=1'; echo 'SELECT upper(name) FROM p;' | sqlite3 t.db; sqlite3 t.db 'SELECT nope FROM p' 2>&1; echo $?; printf 'id,v\n1,x\n2,y\n' > i.csv; sqlite3 t.db -cmd '.mode csv' '.import i.csv imp' 'SELECT v FROM imp WHERE id="2"'; sqlite3 -markdown t.db 'SELECT id, name FROM p WHERE id < 3'; sqlite3 -box t.db 'SELECT 1 AS one'; sqlite3 t.db <<'S'
.headers on
.mode table
SELECT name, length(name) AS n FROM p WHERE name LIKE 'a%';
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<3) SELECT group_concat(x) FROM c;
S
sqlite3 :memory: "select json_extract('{\"a\":[1,2]}', '\$.a[1]'), strftime('%Y', '2024-05-01'), printf('%05.1f', 2.25), round(2.5), substr('hello', 2, 3), coalesce(null, 'x'), typeof(1.0), date('2024-01-31', '+1 month');"; sqlite3 -list -nullvalue NULL t.db 'select price from p where price is null'; sqlite3 t.db '.dump p' | grep -c INSERT; sqlite3 t.db "UPDATE p SET price = price * 1.1 WHERE id <= 2; SELECT changes(); SELECT round(price, 3) FROM p;"
#| 1|a|1.5
#| 2|b|2.25
#| 3|c|
#| name,price
#| b,2.25
#| a,1.5
#| c,
#| [{"id":1,"name":"a"},
#| {"id":2,"name":"b"}]
#| name  dbl
#| ----  ---
#| a     3.0
#| b     4.5
#| c        
#| p
#| CREATE TABLE p(id INTEGER PRIMARY KEY, name TEXT, price REAL);
#| 3|3.75|1.875
#|    id = 1
#|  name = a
#| price = 1.5
#| A
#| B
#| C
#| Error: in prepare, no such column: nope
#|   SELECT nope FROM p
#|          ^--- error here
#| 1
#| y
#| | id | name |
#| |----|------|
#| | 1  | a    |
#| | 2  | b    |
#| ┌─────┐
#| │ one │
#| ├─────┤
#| │ 1   │
#| └─────┘
#| +------+---+
#| | name | n |
#| +------+---+
#| | a    | 1 |
#| +------+---+
#| +-----------------+
#| | group_concat(x) |
#| +-----------------+
#| | 1,2,3           |
#| +-----------------+
#| 2|2024|002.3|3.0|ell|x|real|2024-03-02
#| NULL
#| 3
#| 2
#| 1.65
#| 2.475
#|

#### unicode text
s='naïve café ☕'; echo ${#s} ${s:0:5} ${s^^}; echo "$s" | wc -cm; echo "$s" | cut -c1-5; echo "$s" | rev; echo "$s" | sed 's/é/e/; s/./X/3'; echo "$s" | awk '{print length, substr($0,4,3), toupper($0)}'; grep -o '[^ -~]' <<< "$s"; printf '%-8s|\n' é; tr 'a-z' 'A-Z' <<< "$s"; echo "$s" | fold -w 4; echo -e '\u00e9\x41'; printf '\u2603\n'; [[ $s == *é* ]] && echo has; echo "${s//[^a-z]/.}"; echo "$s" | iconv -f utf-8 -t ascii//TRANSLIT | head -c 5; echo; sort <<< $'é\nz\na'; echo "ÄÖ" | tr '[:upper:]' '[:lower:]'; jq -n --arg s "$s" '$s | length'; od -An -c <<< é; column -t <<< $'é b\nccc d'; printf '%5s|%.2s|\n' ☕ caf; expr length "$s"; wc -L <<< "☕x"
#| 12 naïve NAÏVE CAFÉ ☕
#|      13      17
#| naïv
#| ☕ éfac evïan
#| naXve cafe ☕
#| 12 ve  NAÏVE CAFÉ ☕
#| ï
#| é
#| ☕
#| é      |
#| NAïVE CAFé ☕
#| naï
#| ve c
#| afé
#|  ☕
#| éA
#| ☃
#| has
#| na.ve.caf...
#| naive
#| a
#| z
#| é
#| ÄÖ
#| 12
#|  303 251  \n
#| é    b
#| ccc  d
#|   ☕|ca|
#| 12
#| 3

#### comparing lists
printf '%s\n' a b c > l1; printf '%s\n' b c d > l2; comm -23 l1 l2; comm -13 l1 l2; comm l1 l2; grep -vxFf l1 l2; join l1 l2; diff --changed-group-format='%>' --unchanged-group-format='' l1 l2; diff -u l1 l2 | tail -n +4; awk 'NR==FNR{s[$0];next} !($0 in s)' l1 l2; sort l1 l2 | uniq -d; cat l1 l2 | sort | uniq -c | awk '$1==1{print $2}'; paste l1 l2; pr -mt l1 l2 >/dev/null 2>&1; cmp l1 l2; cmp -s l1 l1 && echo eq; diff --suppress-common-lines -y -W 20 l1 l2; sdiff -v >/dev/null 2>&1; diff -c --label a --label b l1 l2; diff -e l1 l2; diff -i <(echo A) <(echo a) && echo same; diff -w <(echo 'a  b') <(echo 'a b'); diff -B <(printf 'a\n\nb\n') <(printf 'a\nb\n') && echo blank; diff l1 missing 2>&1; echo $?; diff --color=always l1 l2 | cat -v; diff -U0 --label x --label y l1 l2; diff --normal l1 l2 | grep -c '^[<>]'
#| a
#| d
#| a
#| 		b
#| 		c
#| 	d
#| d
#| b
#| c
#| d
#| -a
#|  b
#|  c
#| +d
#| d
#| b
#| c
#| a
#| d
#| a	b
#| b	c
#| c	d
#| l1 l2 differ: byte 1, line 1
#| eq
#| a     <
#|       >	d
#| *** a
#| --- b
#| ***************
#| *** 1,3 ****
#| - a
#|   b
#|   c
#| --- 1,3 ----
#|   b
#|   c
#| + d
#| 3a
#| d
#| .
#| 1d
#| same
#| blank
#| diff: missing: No such file or directory
#| 2
#| ^[[36m1d0^[[0m
#| ^[[31m< a^[[0m
#| ^[[36m3a3^[[0m
#| ^[[32m> d^[[0m
#| --- x
#| +++ y
#| @@ -1 +0,0 @@
#| -a
#| @@ -3,0 +3 @@
#| +d
#| 2
