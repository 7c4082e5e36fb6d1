#### jq -n '[1,2,3] | add, length, min, max, first, last, reverse, sort, unique'
jq -n '[1,2,3] | add, length, min, max, first, last, reverse, sort, unique'
#| 6
#| 3
#| 1
#| 3
#| 1
#| 3
#| [
#|   3,
#|   2,
#|   1
#| ]
#| [
#|   1,
#|   2,
#|   3
#| ]
#| [
#|   1,
#|   2,
#|   3
#| ]

#### jq -n -c '[3,1,2] | sort_by(-.), group_by(. % 2), unique_by(. % 2), min_by(-.), max_by(-.)'
jq -n -c '[3,1,2] | sort_by(-.), group_by(. % 2), unique_by(. % 2), min_by(-.), max_by(-.)'
#| [3,2,1]
#| [[2],[3,1]]
#| [2,3]
#| 3
#| 1

#### jq -n -c '{"a":1,"b":[1,{"c":2}]} | paths, leaf_paths, [paths(type == "number")]'
jq -n -c '{"a":1,"b":[1,{"c":2}]} | paths, leaf_paths, [paths(type == "number")]'
#| ["a"]
#| ["b"]
#| ["b",0]
#| ["b",1]
#| ["b",1,"c"]
#| ["a"]
#| ["b",0]
#| ["b",1,"c"]
#| [["a"],["b",0],["b",1,"c"]]

#### jq -n -c '{"a":1,"b":{"c":2}} | to_entries, with_entries(.value |= tostring), keys, keys_unsorted, del(.a), has("a"), map_values(type)'
jq -n -c '{"a":1,"b":{"c":2}} | to_entries, with_entries(.value |= tostring), keys, keys_unsorted, del(.a), has("a"), map_values(type)'
#| [{"key":"a","value":1},{"key":"b","value":{"c":2}}]
#| {"a":"1","b":"{\"c\":2}"}
#| ["a","b"]
#| ["a","b"]
#| {"b":{"c":2}}
#| true
#| {"a":"number","b":"object"}

#### jq -n -c '[[1,[2]],3] | flatten, flatten(1)'
jq -n -c '[[1,[2]],3] | flatten, flatten(1)'
#| [1,2,3]
#| [1,[2],3]

#### jq -n -c '"a,b,c" | split(","), ascii_upcase, ltrimstr("a"), rtrimstr("c"), startswith("a"), endswith("c"), test("b"), length, utf8bytelength'
jq -n -c '"a,b,c" | split(","), ascii_upcase, ltrimstr("a"), rtrimstr("c"), startswith("a"), endswith("c"), test("b"), length, utf8bytelength'
#| ["a","b","c"]
#| "A,B,C"
#| ",b,c"
#| "a,b,"
#| true
#| true
#| true
#| 5
#| 5

#### jq -n -c '"foo bar foo" | sub("foo"; "x"), gsub("foo"; "x"), [match("o+"; "g").offset], capture("(?<w>b.r)"), [scan("o")], splits("o+")'
jq -n -c '"foo bar foo" | sub("foo"; "x"), gsub("foo"; "x"), [match("o+"; "g").offset], capture("(?<w>b.r)"), [scan("o")], splits("o+")'
#| "x bar foo"
#| "x bar x"
#| [1,9]
#| {"w":"bar"}
#| ["o","o","o","o"]
#| "f"
#| " bar f"
#| ""

#### jq -n -c '"test" | explode, (explode | implode), @base64, (@base64 | @base64d), @uri, @html, @json, @text, @sh'
jq -n -c '"test" | explode, (explode | implode), @base64, (@base64 | @base64d), @uri, @html, @json, @text, @sh'
#| [116,101,115,116]
#| "test"
#| "dGVzdA=="
#| "test"
#| "test"
#| "test"
#| "\"test\""
#| "test"
#| "'test'"

#### jq -n -r '[1,"a b",null] | @csv, @tsv, @sh, @json, @html'
jq -n -r '[1,"a b",null] | @csv, @tsv, @sh, @json, @html'
#| 1,"a b",
#| 1	a b	
#| 1 'a b' null
#| [1,"a b",null]
#| [1,&quot;a b&quot;,null]

#### jq 1: jq -n -c  range 5   range 2 5   range 0 10 3   range 5 0 -2
jq -n -c '[range(5)], [range(2;5)], [range(0;10;3)], [range(5;0;-2)], [limit(3; range(10))], first(range(5;9)), nth(2; range(9)), [until(. > 100; . * 2)?]'
#| [0,1,2,3,4]
#| [2,3,4]
#| [0,3,6,9]
#| [5,3,1]
#| [0,1,2]
#| 5
#| 2
#| []

#### jq -n -c 'reduce range(5) as $i (0; . + $i), [foreach range(5) as $i (0; . + $i)], [foreach range(3) as $i (0; . + $i; [$i, .])]'
jq -n -c 'reduce range(5) as $i (0; . + $i), [foreach range(5) as $i (0; . + $i)], [foreach range(3) as $i (0; . + $i; [$i, .])]'
#| 10
#| [0,1,3,6,10]
#| [[0,0],[1,1],[2,3]]

#### jq -n -c 'def f(x): x * 2; def g($a; $b): $a + $b; f(3), g(1; 2), (def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 10 | fac)'
jq -n -c 'def f(x): x * 2; def g($a; $b): $a + $b; f(3), g(1; 2), (def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 10 | fac)'
#| 6
#| 3
#| 3628800

#### jq -n -c '[1,2] as [$a] ?// $a | $a, ({} as {$x} | $x)'
jq -n -c '[1,2] as [$a] ?// $a | $a, ({} as {$x} | $x)'
#| 1
#| null

#### jq 3: jq -n -c  1   2   3 - 4   2 % 3  - 1   1   1 0   a     b
jq -n -c '1 + 2 * 3 - 4 / 2 % 3, -(1), (1 == 1.0), ("a" < "b"), ([] < {}), (null < false), (1 and null), (false or 1), (1 | not), (null // 5), (empty // 6)'
#| 5
#| -1
#| true
#| true
#| true
#| true
#| false
#| true
#| false
#| 5
#| 6

#### jq -n -c '"\(1 + 2) is \("x" | ascii_upcase)", @base64 "v: \("x")", "\u00e9\n\t\"\\", ("abc" | .[1:2]), ("abcdef" | .[-3:]), ("x" * 3), ("a,b" / ",")'
jq -n -c '"\(1 + 2) is \("x" | ascii_upcase)", @base64 "v: \("x")", "\u00e9\n\t\"\\", ("abc" | .[1:2]), ("abcdef" | .[-3:]), ("x" * 3), ("a,b" / ",")'
#| "3 is X"
#| "v: eA=="
#| "é\n\t\"\\"
#| "b"
#| "def"
#| "xxx"
#| ["a","b"]

#### jq 4: jq -n -c  a 1     b c 2     b d 3   a 1     a 2   1 2 3  -
jq -n -c '{a:1} * {b:{c:2}} * {b:{d:3}}, ({a:1} + {a:2}), ([1,2,3] - [2]), ([1,2] + [3]), ({"a":[1,2]} | .a[1] = 9), ({} | .a.b.c = 1), ([] | .[3] = 1), ({"a":1} | .a += 5, .a -= 1, .a *= 3, .a /= 2, .a //= 7, .b //= 8, .a %= 2)'
#| {"a":1,"b":{"c":2,"d":3}}
#| {"a":2}
#| [1,3]
#| [1,2,3]
#| {"a":[1,9]}
#| {"a":{"b":{"c":1}}}
#| [null,null,null,1]
#| {"a":6}
#| {"a":0}
#| {"a":3}
#| {"a":0.5}
#| {"a":1}
#| {"a":1,"b":8}
#| {"a":1}

#### jq 5: jq -n -c  1 null 2    map select    null  any  all   map
jq -n -c '[1,null,2] | map(select(. != null)), any, all, (map(. // 0)), index(2), indices(1), inside([1,null,2,3]), contains([1]), (.[1:] = [9]), to_entries[0]'
#| [1,2]
#| true
#| false
#| [1,0,2]
#| 2
#| [0]
#| true
#| true
#| [1,9]
#| {"key":0,"value":1}

#### jq 6: jq -n -c  2024-03-05T10 11 12Z    fromdate   fromdate   toda
jq -n -c '"2024-03-05T10:11:12Z" | fromdate, (fromdate | todate), strptime("%Y-%m-%dT%H:%M:%SZ"), (strptime("%Y-%m-%dT%H:%M:%SZ") | mktime), (fromdate | strftime("%A %d"))'
#| 1709633472
#| "2024-03-05T10:11:12Z"
#| [2024,2,5,10,11,12,2,64]
#| 1709633472
#| "Tuesday 05"

#### jq -n -c '[1.7, -1.2] | map(floor, ceil, round, fabs, trunc), ([4|sqrt, pow(2;3), (8|log2), (100|log10), (1|exp|floor), (0|sin), (0|cos)])'
jq -n -c '[1.7, -1.2] | map(floor, ceil, round, fabs, trunc), ([4|sqrt, pow(2;3), (8|log2), (100|log10), (1|exp|floor), (0|sin), (0|cos)])'
#| [1,2,2,1.7,1,-2,-1,-1,1.2,-1]
#| [2,8,3,2,2,0,1]

#### jq -n -c 'infinite, -infinite, nan | isinfinite, isnan, isnormal' 
jq -n -c 'infinite, -infinite, nan | isinfinite, isnan, isnormal' 
#| true
#| false
#| false
#| true
#| false
#| false
#| false
#| true
#| false

#### jq 7: jq -n -c     length   abc    tojson   fromjson   1 1 null tr
jq -n -c '[.[]?] | length, ("abc" | tojson | fromjson), ([1,"1",null,true] | map(tostring)), ("12" | tonumber), ([1,{"a":2}] | tostream), fromstream([1,{"a":2}] | tostream)'
#| 0
#| "abc"
#| ["1","1","null","true"]
#| 12
#| [[0],1]
#| [[1,"a"],2]
#| [[1,"a"]]
#| [[1]]
#| [1,{"a":2}]

#### jq 10: jq -n -c  a 1 2 b 3        numbers      scalars   a    array
jq -n -c '{"a":[1,2,{"b":3}]} | [.. | numbers], [.. | scalars], [.a[] | arrays, objects, strings, booleans, nulls, iterables, values], (.a | first, last), delpaths([["a",0]]), to_entries, (path(.a[0])), [paths], setpath(["x"]; 1), (.a |= map(tostring)), splits("x")?'
#| [1,2,3]
#| [1,2,3]
#| [1,2,{"b":3},{"b":3},{"b":3}]
#| 1
#| {"b":3}
#| {"a":[2,{"b":3}]}
#| [{"key":"a","value":[1,2,{"b":3}]}]
#| ["a",0]
#| [["a"],["a",0],["a",1],["a",2],["a",2,"b"]]
#| {"a":[1,2,{"b":3}],"x":1}
#| {"a":["1","2","{\"b\":3}"]}

#### jq 11: echo  1 2 3    jq -n -c  inputs  input_filename
echo '1 2 3' | jq -n '[limit(2; inputs)]' -c
echo '1 2' | jq -s -c .
echo '"a"' | jq -r .
printf 'a\nb\n' | jq -R .
printf 'a\nb\n' | jq -Rs .
printf 'a\nb\n' | jq -nR '[inputs]' -c
#| [1,2]
#| [1,2]
#| a
#| "a"
#| "b"
#| "a\nb\n"
#| ["a","b"]

#### jq 12: jq -n --arg a 1 --argjson b  x 2   $a  $b x  $ARGS named  -c
jq -n --arg a 1 --argjson b '{"x":2}' '$a, $b.x, $ARGS.named' -c
jq -n -c '$ARGS.positional' --args a b
jq -n -c '$ARGS.positional' --jsonargs 1 '{"a":2}'
echo '[1]' > f
jq -n --slurpfile s f '$s' -c
jq -n --rawfile r f '$r' -c
#| "1"
#| 2
#| {"a":"1","b":{"x":2}}
#| ["a","b"]
#| [1,{"a":2}]
#| [[1]]
#| "[1]\n"

#### jq 13: echo  b 1 a 2    jq -S -c
echo '{"b":1,"a":2}' | jq -S -c .
echo '{"b":1,"a":[1,2]}' | jq --tab .
echo '{"a":[1]}' | jq --indent 1 .
echo '[1,[2]]' | jq -c .
echo '"é"' | jq -a .
echo '{"a":1}' | jq -C -c . | od -c | sed -n 1p
echo '1 2' | jq -j .
echo
#| {"a":2,"b":1}
#| {
#| 	"b": 1,
#| 	"a": [
#| 		1,
#| 		2
#| 	]
#| }
#| {
#|  "a": [
#|   1
#|  ]
#| }
#| [1,[2]]
#| "\u00e9"
#| 0000000 033   [   1   ;   3   9   m   { 033   [   0   m 033   [   3   4
#| 12

#### echo 'null' | jq -e .; echo $?; echo 'false' | jq -e . ; echo $?; echo '1' | jq -e . > /dev/null; echo $?; jq -e -n empty; echo $?
echo 'null' | jq -e .; echo $?; echo 'false' | jq -e . ; echo $?; echo '1' | jq -e . > /dev/null; echo $?; jq -e -n empty; echo $?
#| null
#| 1
#| false
#| 1
#| 0
#| 4

#### jq 14: echo     jq   2 1
echo $?
echo $?
echo $?
echo $?
echo $?
echo $?
echo $?
#| 0
#| 0
#| 0
#| 0
#| 0
#| 0
#| 0

#### jq 15: echo 1   jq  a  2 1
echo $?
#| 0

#### jq 16: echo 1   jq  keys  2 1
echo $?
#| 0

#### jq 17: jq -n   2 1   sed -n 1p
echo ${PIPESTATUS[0]}
echo $?
#|
#| 0

#### jq 19: jq -n -c  1 2 3 4     1 3   -1   -2   2 1  del 0 2  del    s
jq -n -c '[1,2,3,4] | .[1:3], .[:-1], .[-2:], .[2:1], del(.[0,2]), del(.[] | select(. > 2)), to_entries[1:2], (.[1:3] |= map(. * 10)), (limit(2; .[]))' 
#| [2,3]
#| [1,2,3]
#| [3,4]
#| []
#| [2,4]
#| [1,2]
#| [{"key":1,"value":2}]
#| [1,20,30,4]
#| 1
#| 2

#### jq 20: jq -n -c  a 1 b 2 a 1 b 3    group_by a    map a   0 a  n  l
jq -n -c '[{"a":1,"b":2},{"a":1,"b":3}] | group_by(.a) | map({a: .[0].a, n: length}), (INDEX(.[0][]; .b)), ([.[0][] | .b] | add)'
jq -n -c '"a-b_c" | gsub("[-_]"; " "), [match("(?<x>[a-z])(-)?"; "g") | .captures | map(.string)], sub("(?<l>[a-z])"; "\(.l)!"), ascii_upcase, [splits("[-_]")], test("A"; "i"), gsub("(?<l>[a-z])"; "<\(.l)>"; "g")'
#| [{"a":1,"n":2}]
#| {"2":{"a":1,"b":2},"3":{"a":1,"b":3}}
#| 5
#| "a b c"
#| [["a","-"],["b",null],["c",null]]
#| "a!-b_c"
#| "A-B_C"
#| ["a","b","c"]
#| true
#| "<a>-<b>_<c>"

#### jq 21: jq -n -c  1 2 3    getpath 1 1 0   tostream   select length
jq -n '"bye" | halt_error' 
echo $?
jq -n '{"a":1} | halt_error(3)'
echo $?
jq -n 'halt'
echo $?
echo
#| 5
#| 3
#| 0
#|

#### jq 22: jq -n  1 0  1 5  100000000000000000000  1e1000  -0  0 1   0
jq -n '1.0, 1.5, 100000000000000000000, 1e1000, -0, 0.1 + 0.2, 3.0e2, 1e-7, 123456789012, 1.23456789012345678' 
jq -n -c '[.1, 1.10, 1E5]'
jq -n '"\ud83d\ude00", "\u0000" | length, utf8bytelength'
jq -n -c '@sh "echo \("a b" , "c")", ([1,2] | @sh), ("a&b<c>" | @html), ("a b/é" | @uri), ("YQ==" | @base64d), (["a\tb", "c\\d"] | @tsv), ([1.5,"x\"y",true,null] | @csv)' -r
#| 1
#| 1.5
#| 1e+20
#| 1.7976931348623157e+308
#| -0
#| 0.30000000000000004
#| 300
#| 1e-07
#| 123456789012
#| 1.2345678901234567
#| [0.1,1.1,100000]
#| 1
#| 4
#| 1
#| 1
#| echo 'a b'
#| echo 'c'
#| 1 2
#| a&amp;b&lt;c&gt;
#| a%20b%2F%C3%A9
#| a
#| a\tb	c\\d
#| 1.5,"x""y",true,

#### jq 23: jq -n -c  ltrimstr 1  splits a   1 2 3     1    first   try
jq -n -c 'ltrimstr(1), splits("a")?, ([1,2,3] | .[1:] | first), (try (1 | keys) catch "no keys"), ([.[]?] == []), ({} | .["a b"] = 1 | ."a b"), ("x" | . as $v | {v: $v}), ([1,2] | . as [$a, $b] | {a: $a, b: $b}), ([[1,2],[3,4]] | .[] as [$a, $b] | $a + $b), ({"a":{"b":[10,20]}} | .a.b[1], .a["b"][0], .a?.b?, (.a | .b | length))'
#| null
#| 2
#| "no keys"
#| true
#| 1
#| {"v":"x"}
#| {"a":1,"b":2}
#| 3
#| 7
#| 20
#| 10
#| [10,20]
#| 2

#### what jq says of errors
jq() { command jq "$@" 2>&1 | sed 's/ (at [^)]*)//; 2,$d'; echo "${PIPESTATUS[0]}"; }
echo '{' | jq .
echo '{"a":}' | jq .
echo '[1,]' | jq .
echo nope | jq .
printf '"a' | jq .
echo 1 | jq '.a'
echo '[]' | jq '.a'
echo '{}' | jq '.[0]'
echo 1 | jq '.[]'
echo '{}' | jq '. + 1'
echo '[]' | jq '. - {}'
echo '"a"' | jq '. * {}'
echo 1 | jq '. / 0'
echo 1 | jq '. % 0'
echo 1 | jq keys
echo 1 | jq 'has("a")'
echo '"x"' | jq tonumber
echo 1 | jq 'test("a")'
echo 1 | jq 'error("boom")'
echo 1 | jq 'error({"a":1})'
echo 1 | jq 'error(null)'
jq -n '{'
jq -n nope
jq -n '$nope'
jq -n '1 |'
jq --nope .
jq . missing
jq -n --arg a
jq -n input
#~ the words and statuses of jq 1.7
#| jq: error: Unfinished JSON term at line 2, column 0
#| 2
#| jq: error: Invalid literal at line 1, column 6
#| 2
#| jq: error: Invalid literal at line 1, column 4
#| 2
#| jq: error: Invalid literal at line 1, column 4
#| 2
#| jq: error: Unfinished string at line 1, column 2
#| 2
#| jq: error: Cannot index number with "a"
#| 5
#| jq: error: Cannot index array with "a"
#| 5
#| jq: error: Cannot index object with number
#| 5
#| jq: error: Cannot iterate over number (1)
#| 5
#| jq: error: object ({}) and number (1) cannot be added
#| 5
#| jq: error: array ([]) and object ({}) cannot be subtracted
#| 5
#| jq: error: string ("a") and object ({}) cannot be multiplied
#| 5
#| jq: error: number (1) and number (0) cannot be divided because the divisor is zero
#| 5
#| jq: error: number (1) and number (0) cannot be divided because the divisor is zero
#| 5
#| jq: error: number (1) has no keys
#| 5
#| jq: error: Cannot check whether number has a string key
#| 5
#| jq: error: string ("x") cannot be parsed as a number
#| 5
#| jq: error: number (1) cannot be matched, as it is not a string
#| 5
#| jq: error: boom
#| 5
#| jq: error (not a string): {"a":1}
#| 5
#| jq: error (not a string): null
#| 5
#| jq: error: syntax error, unexpected end of file (Unix shell quoting issues?) at <top-level>, line 1:
#| 3
#| jq: error: error: nope/0 is not defined (Unix shell quoting issues?) at <top-level>, line 1:
#| 3
#| jq: error: error: $nope is not defined (Unix shell quoting issues?) at <top-level>, line 1:
#| 3
#| jq: error: syntax error, unexpected end of file (Unix shell quoting issues?) at <top-level>, line 1:
#| 3
#| jq: Unknown option: --nope
#| 2
#| jq: error: Could not open missing: No such file or directory
#| 2
#| jq: error: --arg takes two parameters (e.g. --arg name value)
#| 2
#| jq: error: No more inputs
#| 5

#### deep recursion works as far as the stack goes
jq -n 'def f: if . == 0 then 0 else . - 1 | f end; 1500 | f'
#| 0
