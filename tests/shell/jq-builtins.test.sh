#### jq builtins 1: jq -n -c  1 2 3 4     combinations  transpose   1
jq -n -c '[[1,2],[3,4]] | [combinations], transpose, ([1,2] | [combinations(2)])'
#| [[1,3],[1,4],[2,3],[2,4]]
#| [[1,3],[2,4]]
#| [[1,1],[1,2],[2,1],[2,2]]

#### jq builtins 3: jq -n -c  3 1 2    sort   bsearch 3  bsearch 5  bs
jq -n -c '[3,1,2] | sort | bsearch(3), bsearch(5), bsearch(0)'
#| 2
#| -4
#| -1

#### jq builtins 4: jq -n -c  a b 1     paths   leaf_paths  getpath a
jq -n -c '{"a":{"b":1}} | [paths], [leaf_paths], getpath(["a","b"]), (tostream), del(.a.b), delpaths([["a"]]), setpath(["a","c"]; 2)'
#| [["a"],["a","b"]]
#| [["a","b"]]
#| 1
#| [["a","b"],1]
#| [["a","b"]]
#| [["a"]]
#| {"a":{}}
#| {}
#| {"a":{"b":1,"c":2}}

#### jq builtins 5: jq -n -c  1 2 a 3    walk if type    number  then
jq -n -c '[1,[2,{"a":[3]}]] | walk(if type == "number" then . + 1 else . end), flatten, [.. | numbers], [recurse | type], [recurse(.[]?; true) | type]'
#| [2,[3,{"a":[4]}]]
#| [1,2,{"a":[3]}]
#| [1,2,3]
#| ["array","number","array","number","object","array","number"]
#| ["array","number","array","number","object","array","number"]

#### jq builtins 6: jq -n -c  a b 1 b 2     a     c    b   a   map b
jq -n -c '{"a":[{"b":1},{"b":2}]} | .a[] |= (.c = .b), (.a | map(.b) | add), (.a | map(select(.b > 1))), [.a[].b], (.a[0] | to_entries), (.a | any(.b > 1)), (.a | all(.b > 1))'
#| {"a":[{"b":1,"c":1},{"b":2,"c":2}]}
#| 3
#| [{"b":2}]
#| [1,2]
#| [{"key":"b","value":1}]
#| true
#| false

#### jq builtins 7: jq -n -c  aXbXc    ascii_downcase  split X  split
jq -n -c '"aXbXc" | ascii_downcase, split("X"), split("x"; "gi"), join("-")?, [match("x"; "gi").offset], test("AX"; "ix"), sub("(?<a>x)"; "<\(.a)>"; "i"), [scan("[a-c]")], [scan("([a-c])(X)")], splits("X")'
#| "axbxc"
#| ["a","b","c"]
#| ["a","b","c"]
#| [1,3]
#| true
#| "a<X>bXc"
#| ["a","b","c"]
#| [["a","X"],["b","X"]]
#| "a"
#| "b"
#| "c"

#### jq builtins 9: jq -n -c  1 2    tonumber   12    tonumber   x
jq -n -c '"1 2" | tonumber?, ("12" | tonumber), ("x" | tostring), ([1,"a"] | tostring), ("[1]" | fromjson), ("abc" | indices("b")), ("abcb" | index("b"), rindex("b")), ("abc" | contains("b")), ("b" | inside("abc"))'
#| 12
#| "x"
#| "[1,\"a\"]"
#| [1]
#| [1]
#| 1
#| 3
#| true
#| true

#### jq builtins 12: jq -n -c    1 2 3 1   range 10 2 4   abcdef     2
jq -n -c '[.[]?], [1,2,3][1:], [range(10)][2:4], ("abcdef" | .[2:4], .[:2], .[-2:]), ([1,2,3] | .[-1], .[5], first, last, nth(1)), ([[1]] | .[0][0])'
#| []
#| [2,3]
#| [2,3]
#| "cd"
#| "ab"
#| "ef"
#| 3
#| null
#| 1
#| 3
#| 2
#| 1

#### jq builtins 13: jq -n -c  reduce  1 2 3  as $x  0      $x   foreac
jq -n -c 'reduce (1,2,3) as $x (0; . + $x), [foreach (1,2,3) as $x (0; . + $x; select(. > 1))], ([1,2,3] as [$a, $b] | $a + $b), ({"a":1,"b":[2]} as {a: $x, b: [$y]} | $x + $y), ({"k":"a"} as {k: $k} | $k)'
#| 6
#| [3,6]
#| 3
#| 3
#| "a"

#### jq builtins 15: jq -n -c  a 1 b 2    with_entries key   ascii_upca
jq -n -c '{"a":1,"b":2} | with_entries(.key |= ascii_upcase), (to_entries | from_entries), map_values(. + 1), map(. * 2), add, length, (keys | length), has("a"), ([.[]] | add), (.a as $x | .b + $x), delpaths([["a"],["b"]]), (. * {"a":{"c":1}}), any, all'
#| {"A":1,"B":2}
#| {"a":1,"b":2}
#| {"a":2,"b":3}
#| [2,4]
#| 3
#| 2
#| 2
#| true
#| 3
#| 3
#| {}
#| {"a":{"c":1},"b":2}
#| true
#| true

#### jq builtins 16: jq -n -c  1  1 5  -1  1e3  1e17  0 00001  1e-10  3
jq -n -c '1, 1.5, -1, 1e3, 1e17, 0.00001, 1e-10, 3.14159265358979, 100000000, 1.0 | tostring'
#| "1"
#| "1.5"
#| "-1"
#| "1000"
#| "1e+17"
#| "1e-05"
#| "1e-10"
#| "3.14159265358979"
#| "100000000"
#| "1"

#### jq builtins 17: jq -n -c  1 5  -1 5    map floor  map ceil  map ro
jq -n -c '[1.5, -1.5] | map(floor), map(ceil), map(round), map(sqrt?), map(fabs), map(trunc)'
#| [1,-2]
#| [2,-1]
#| [2,-2]
#| [1.224744871391589,null]
#| [1.5,1.5]
#| [1,-1]

#### jq builtins 18: jq -n -c  8   log2   1   exp10   0   exp2   16   p
jq -n -c '(8 | log2), (1 | exp10), (0 | exp2), (16 | pow(.; 0.5)), ([5, 3] | min, max), (10 | significand), (10 | logb), (10 | gamma | floor), (0.5 | asin | floor), (5 | frexp), ([1, 2] | ldexp(.[0]; .[1])), (7 | modf)'
#| 3
#| 10
#| 1
#| 4
#| 3
#| 5
#| 1.25
#| 3
#| 12
#| 0
#| [0.625,3]
#| 4
#| [0,7]

#### jq builtins 19: jq -n -c  x  as $v    $v y    @json  a $v  @uri  q
jq -n -c '"x" as $v | "\($v)y" , @json "a\([$v])", @uri "q=\("a b")", @csv "\([1,"b"])", @html "<\("<")>", @base64 "\("z")", @sh "\("it'"'"'s")", @text "\(1)"' -r
#| xy
#| a["x"]
#| q=a%20b
#| 1,"b"
#| <&lt;>
#| eg==
#| 'it'\''s'
#| 1

#### jq builtins 20: jq -n -c  a 3 b 1 a 1 b 2 a 3 b 0    sort_by a  so
jq -n -c '[{"a":3,"b":1},{"a":1,"b":2},{"a":3,"b":0}] | sort_by(.a), sort_by(.a, .b), group_by(.a), unique_by(.a), min_by(.b), max_by(.b), (map(.a) | unique), (sort_by(.b) | reverse | map(.b)), index({"a":1,"b":2})'
#| [{"a":1,"b":2},{"a":3,"b":1},{"a":3,"b":0}]
#| [{"a":1,"b":2},{"a":3,"b":0},{"a":3,"b":1}]
#| [[{"a":1,"b":2}],[{"a":3,"b":1},{"a":3,"b":0}]]
#| [{"a":1,"b":2},{"a":3,"b":1}]
#| {"a":3,"b":0}
#| {"a":1,"b":2}
#| [1,3]
#| [2,1,0]
#| 1

#### jq builtins 21: jq -n -c  def f  def g  3  g  f   def h a  $b  a
jq -n -c 'def f: def g: 3; g; f, (def h(a; $b): a + $b; h(1; 2)), (def r(n): if n > 0 then n, r(n - 1) else empty end; [r(3)]), ([recurse(if . < 3 then . + 1 else empty end)]?), (1 | [recurse(if . < 3 then . + 1 else empty end)]), ([1 | while(. < 10; . * 2)]), ([1 | repeat(. * 2; . > 10)]?), (1 | until(. > 10; . * 2)), ([limit(3; repeat(1))])'
#? 3

#### jq builtins 23: jq -n -c  $ENV PATH   type   env PATH   type   $__
jq -n -c 'input_line_number, ([inputs] | length), ("a" | ascii_downcase), splits("x")?, getpath([])?, (null | getpath(["a"])), ({} | getpath(["a","b"])), ([[1,[2]]] | getpath([0,1,0]))'
#| 0
#| 0
#| "a"
#| null
#| null
#| null
#| 2

#### jq builtins 24: jq -n -c  1 2    tojson   tostream   tojson  froms
jq -n -c '[1,[2]] | tojson, (tostream | tojson), fromstream(tostream), ([tostream] | length), (1 | truncate_stream([[0],1],[[1,0],2]))?, ([1|truncate_stream([[0],1],[[1,0],2],[[1,0]],[[1]])])'
#| "[1,[2]]"
#| "[[0],1]"
#| "[[1,0],2]"
#| "[[1,0]]"
#| "[[1]]"
#| [1,[2]]
#| 4
#| [[0],2]
#| [[[0],2],[[0]]]

#### jq builtins 25: jq -n -c  u00e9 ud83d ude00    length  utf8bytelen
jq -n -c '"\u00e9\ud83d\ude00" | length, utf8bytelength, explode, @uri, ascii_downcase, tojson, ltrimstr("é"), test("\\p{L}"), [match(".";"g").string]'
#| 2
#| 6
#| [233,128512]
#| "%C3%A9%F0%9F%98%80"
#| "é😀"
#| "\"é😀\""
#| "😀"
#| true
#| ["é","😀"]

#### jq builtins 26: printf  a 1 n a 2 n 3 n x n4 nnull n    f
printf '{"a":1}\n{"a":2}\n[3]\n"x"\n4\nnull\n' > f
jq -c . f
jq -s -c . f
jq -c 'type' f
jq -n -c 'input, [inputs | type]' f
jq -c --stream . f | head -3
jq -r 'select(type == "string")' f
jq -c --slurp 'map(type)' f
jq -e 'false' f > /dev/null
echo $?
echo
jq -c 'limit(1; .)' f | wc -l
#| {"a":1}
#| {"a":2}
#| [3]
#| "x"
#| 4
#| null
#| [{"a":1},{"a":2},[3],"x",4,null]
#| "object"
#| "object"
#| "array"
#| "string"
#| "number"
#| "null"
#| {"a":1}
#| ["object","array","string","number","null"]
#| [["a"],1]
#| [["a"]]
#| [["a"],2]
#| x
#| ["object","object","array","string","number","null"]
#| 1
#|
#| 6

#### jq builtins 27: mkdir a
mkdir a
printf 12345 > a/f
touch -d '2001-02-03 04:05:06 UTC' a/f
chmod 644 a/f
ln -s f a/l
find a -name f -printf '%a|%b|%f|%h|%H|%P|%p|%s|%m|%M|%n|%y|%Y|%d|%l|%%|%TY-%Tm-%Td|%TH:%TM|%T@|%T+|%Tj|%Ta|%Tb|\t\n\\\101|\n' | cut -d'|' -f3-
find a -name l -printf '%l %y %Y %f\n'
find a -type f -printf '%-10f|%5s|%05m\n'
find a -name f -fprintf out '%f\n'
cat out
find a -name f -print0 | od -c | sed -n 1p
find a -name f -fprint0 o2
od -c o2 | sed -n 1p
find a -name f -ls | awk '{print $3, $7, $NF}'
find a -name l -fls o3
awk '{print $NF}' o3
find a -printf '%i' | grep -c .
find a -name f -printf '%U %G %u %g %D %k %F\n' | wc -w
#| f|a|a|f|a/f|5|644|-rw-r--r--|1|f|f|1||%|2001-02-03|04:05|981173106.0000000000|2001-02-03+04:05:06.0000000000|034|Sat|Feb|	
#|
#| f l f l
#| f         |    5|00644
#| f
#| 0000000   a   /   f  \0
#| 0000000   a   /   f  \0
#| -rw-r--r-- 5 a/f
#| f
#| 1
#| 7
