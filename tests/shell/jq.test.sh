#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.'
#| {"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a'
#| 1

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b[0]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b[0]'
#| 1

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b[-1].c'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b[-1].c'
#| 3

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b[]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b[]'
#| 1
#| 2
#| {"c":3}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|length'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|length'
#| 3

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'keys'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'keys'
#| ["a","b","n","s","t"]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'length'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'length'
#| 5

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|length'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|length'
#| 2

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.missing'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.missing'
#| null

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a+1'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a+1'
#| 2

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b[0:2]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b[0:2]'
#| [1,2]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.[]?'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.[]?'
#| 1
#| [1,2,{"c":3}]
#| "hi"
#| null
#| true

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'to_entries[0]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'to_entries[0]'
#| {"key":"a","value":1}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'map_values(type)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'map_values(type)'
#| {"a":"number","b":"array","s":"string","n":"null","t":"boolean"}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[]|numbers]|add'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[]|numbers]|add'
#| 3

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'has("a")'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'has("a")'
#| true

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|ascii_upcase'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|ascii_upcase'
#| "HI"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s+" there"'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s+" there"'
#| "hi there"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.n//"default"'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.n//"default"'
#| "default"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'del(.b)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'del(.b)'
#| {"a":1,"s":"hi","n":null,"t":true}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a=5'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a=5'
#| {"a":5,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a|=.+1'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a|=.+1'
#| {"a":2,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a+=2'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a+=2'
#| {"a":3,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[paths]|length'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[paths]|length'
#| 9

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[..]|length'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[..]|length'
#| 10

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'type'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'type'
#| "object"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '{x:.a}'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '{x:.a}'
#| {"x":1}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '{a,s}'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '{a,s}'
#| {"a":1,"s":"hi"}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.a,.s]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.a,.s]'
#| [1,"hi"]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'if .a==1 then "one" else "other
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'if .a==1 then "one" else "other" end'
#| "one"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|map(tostring)|join(",")'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|map(tostring)|join(",")'
#| "1,2,{\"c\":3}"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[]|select(type=="number")]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[]|select(type=="number")]'
#| [1,2]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|first,last'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|first,last'
#| 1
#| {"c":3}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'try error("x") catch .'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'try error("x") catch .'
#| "x"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a|tostring'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a|tostring'
#| "1"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[range(3)]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[range(3)]'
#| [0,1,2]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[range(1;10;3)]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[range(1;10;3)]'
#| [1,4,7]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[limit(2;.b[])]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[limit(2;.b[])]'
#| [1,2]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'reduce .b[0:2][] as $x (0;.+$x)
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'reduce .b[0:2][] as $x (0;.+$x)'
#| 3

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[foreach range(3) as $i (0;.+$i
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[foreach range(3) as $i (0;.+$i)]'
#| [0,1,3]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'def f:.+1; .a|f'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'def f:.+1; .a|f'
#| 2

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'def f(x):x*2; f(.a)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'def f(x):x*2; f(.a)'
#| 2

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|test("h")'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|test("h")'
#| true

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|sub("h";"j")'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|sub("h";"j")'
#| "ji"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|split("")'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|split("")'
#| ["h","i"]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"\(.a) and \(.s)"'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"\(.a) and \(.s)"'
#| "1 and hi"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '@base64 "\(.s)"'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '@base64 "\(.s)"'
#| "aGk="

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|@base64'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|@base64'
#| "aGk="

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|@uri'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|@uri'
#| "hi"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.a,.s]|@csv'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.a,.s]|@csv'
#| "1,\"hi\""

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.a,.s]|@tsv'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.a,.s]|@tsv'
#| "1\thi"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|@html'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s|@html'
#| "hi"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.s]|@sh'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.s]|@sh'
#| "'hi'"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '@json'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '@json'
#| "{\"a\":1,\"b\":[1,2,{\"c\":3}],\"s\":\"hi\",\"n\":null,\"t\":true}"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|contains([1])'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|contains([1])'
#| true

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|index(2)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|index(2)'
#| 1

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|reverse'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|reverse'
#| [{"c":3},2,1]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'tojson|fromjson==.'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'tojson|fromjson==.'
#| false

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[]?|.c?]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[]?|.c?]'
#| [3]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|flatten'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b|flatten'
#| [1,2,{"c":3}]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'input'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'input'
#? 5

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'any(.b[];.==1)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'any(.b[];.==1)'
#| true

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'all(.b[];.!=null)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'all(.b[];.!=null)'
#| true

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b[2].c as $x|$x'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b[2].c as $x|$x'
#| 3

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '. as {a:$p,s:$q}|[$p,$q]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '. as {a:$p,s:$q}|[$p,$q]'
#| [1,"hi"]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b as [$x,$y]|$x+$y'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.b as [$x,$y]|$x+$y'
#| 3

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'label $f|1,break $f,2'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'label $f|1,break $f,2'
#| 1

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[]|try (.+1) catch "e"]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[]|try (.+1) catch "e"]'
#| [2,3,"e"]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'with_entries(select(.key=="a"))
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'with_entries(select(.key=="a"))'
#| {"a":1}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'walk(if type=="number" then .+1
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'walk(if type=="number" then .+1 else . end)'
#| {"a":2,"b":[2,3,{"c":4}],"s":"hi","n":null,"t":true}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'getpath(["b",0])'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'getpath(["b",0])'
#| 1

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'env|type'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'env|type'
#| "object"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '$__loc__'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '$__loc__'
#| {"file":"<top-level>","line":1}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'splits("x")?'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'splits("x")?'

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a/0'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a/0'
#? 5

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a.b'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a.b'
#? 5

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s[0]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.s[0]'
#? 5

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '{'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '{'
#? 3

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'nosuch'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'nosuch'
#? 3

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[]|tojson]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[]|tojson]'
#| ["1","2","{\"c\":3}"]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'tostream|select(length==2)|.[0]
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'tostream|select(length==2)|.[0]|length'
#| 1
#| 2
#| 2
#| 3
#| 1
#| 1
#| 1

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,[2,[3]]]|flatten(1)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,[2,[3]]]|flatten(1)'
#| [1,2,[3]]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[3,1,2]|sort'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[3,1,2]|sort'
#| [1,2,3]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[{"a":2},{"a":1}]|sort_by(.a)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[{"a":2},{"a":1}]|sort_by(.a)'
#| [{"a":1},{"a":2}]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[{"a":1},{"a":1}]|group_by(.a)|
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[{"a":1},{"a":1}]|group_by(.a)|length'
#| 1

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,1,2]|unique'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,1,2]|unique'
#| [1,2]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[3,1]|min,max'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[3,1]|min,max'
#| 1
#| 3

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,2]|add'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,2]|add'
#| 3

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[]|add'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[]|add'
#| null

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"a,b"|split(",")'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"a,b"|split(",")'
#| ["a","b"]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"abc"|explode|implode'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"abc"|explode|implode'
#| "abc"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"x"*3'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"x"*3'
#| "xxx"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,2]-[2]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,2]-[2]'
#| [1]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '{"a":{"b":1}}*{"a":{"c":2}}'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '{"a":{"b":1}}*{"a":{"c":2}}'
#| {"a":{"b":1,"c":2}}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '10%3'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '10%3'
#| 1

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '1/3'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '1/3'
#| 0.3333333333333333

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.[]?]|length'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.[]?]|length'
#| 5

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"test"|ltrimstr("te")'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"test"|ltrimstr("te")'
#| "st"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"2015-03-05T23:51:47Z"|fromdate
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"2015-03-05T23:51:47Z"|fromdate'
#| 1425599507

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '0|todate'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '0|todate'
#| "1970-01-01T00:00:00Z"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '1425599621|gmtime|mktime'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '1425599621|gmtime|mktime'
#| 1425599621

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"a1b2"|[match("[0-9]";"g").stri
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"a1b2"|[match("[0-9]";"g").string]'
#| ["1","2"]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"ab"|capture("(?<x>a)(?<y>b)")'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"ab"|capture("(?<x>a)(?<y>b)")'
#| {"x":"a","y":"b"}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '{"a":1}|tojson'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '{"a":1}|tojson'
#| "{\"a\":1}"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'null|not'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'null|not'
#| true

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,null]|map(values)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,null]|map(values)'
#| [1]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '3.0,1.5,1e3,1e100'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '3.0,1.5,1e3,1e100'
#| 3
#| 1.5
#| 1000
#| 1e+100

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[splits("a")]?'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[splits("a")]?'

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"x"|ascii_downcase'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"x"|ascii_downcase'
#| "x"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,2,3]|.[1:]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,2,3]|.[1:]'
#| [2,3]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,2,3]|.[:-1]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,2,3]|.[:-1]'
#| [1,2]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'first(range(5))'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'first(range(5))'
#| 0

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[0],.b[1]]|transpose?'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.b[0],.b[1]]|transpose?'

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'infinite|floor?'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'infinite|floor?'
#| 1.7976931348623157e+308

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,2]|combinations?'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1,2]|combinations?'

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"abc"|.[1:2]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"abc"|.[1:2]'
#| "b"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '@text'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '@text'
#| "{\"a\":1,\"b\":[1,2,{\"c\":3}],\"s\":\"hi\",\"n\":null,\"t\":true}"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '["x","y"]|inside(["x","y","z"])
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '["x","y"]|inside(["x","y","z"])'
#| true

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'ltrimstr(1)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'ltrimstr(1)'
#| {"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'error'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'error'
#? 5

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"\u00e9"'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '"\u00e9"'
#| "é"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.[]|scalars]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[.[]|scalars]'
#| [1,"hi",null,true]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '(.a,.s)|tostring'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '(.a,.s)|tostring'
#| "1"
#| "hi"

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a as $x|[$x,$x+1]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '.a as $x|[$x,$x+1]'
#| [1,2]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[until(.>100;.*2)?]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[until(.>100;.*2)?]'
#| [{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '2|until(.>100;.*2)'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '2|until(.>100;.*2)'
#| 128

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1|while(.<10;.*2)]'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[1|while(.<10;.*2)]'
#| [1,2,4,8]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[recurse(if .<3 then .+1 else e
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c '[recurse(if .<3 then .+1 else empty end)?]'
#| [{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}]

#### echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'splits'
echo '{"a":1,"b":[1,2,{"c":3}],"s":"hi","n":null,"t":true}' | jq -c 'splits'
#? 3

#### echo '{"a":[1,{"b":2}]}' | jq .
echo '{"a":[1,{"b":2}]}' | jq .
#| {
#|   "a": [
#|     1,
#|     {
#|       "b": 2
#|     }
#|   ]
#| }

#### echo '"x"' | jq -r .
echo '"x"' | jq -r .
#| x

#### jq -n '1+1'
jq -n '1+1'
#| 2

#### echo '1 2 3' | jq -s .
echo '1 2 3' | jq -s .
#| [
#|   1,
#|   2,
#|   3
#| ]

#### echo '1 2 3' | jq -cs add
echo '1 2 3' | jq -cs add
#| 6

#### printf 'a\nb\n' | jq -R .
printf 'a\nb\n' | jq -R .
#| "a"
#| "b"

#### printf 'a\nb\n' | jq -Rs .
printf 'a\nb\n' | jq -Rs .
#| "a\nb\n"

#### jq -n --arg x 5 '$x'
jq -n --arg x 5 '$x'
#| "5"

#### jq -n --argjson x 5 '$x+1'
jq -n --argjson x 5 '$x+1'
#| 6

#### jq -nc --args '$ARGS.positional' a b
jq -nc --args '$ARGS.positional' a b
#| ["a","b"]

#### echo '{"b":1,"a":2}' | jq -S -c .
echo '{"b":1,"a":2}' | jq -S -c .
#| {"a":2,"b":1}

#### echo '[1]' | jq --tab .
echo '[1]' | jq --tab .
#| [
#| 	1
#| ]

#### echo '[1]' | jq --indent 4 .
echo '[1]' | jq --indent 4 .
#| [
#|     1
#| ]

#### echo null | jq -e .; echo $?
echo null | jq -e .; echo $?
#| null
#| 1

#### echo 1 | jq -e .; echo $?
echo 1 | jq -e .; echo $?
#| 1
#| 0

#### jq . missing; echo $?
jq . missing; echo $?
#| 2

#### echo '"a"' | jq -j .
echo '"a"' | jq -j .
#|- a

#### echo '[]' | jq -c '.[]'
echo '[]' | jq -c '.[]'

#### echo '{}' | jq .
echo '{}' | jq .
#| {}

#### echo '[]' | jq .
echo '[]' | jq .
#| []

#### echo '[1,2]' | jq '.[]'
echo '[1,2]' | jq '.[]'
#| 1
#| 2

#### echo '"é"' | jq -a .
echo '"é"' | jq -a .
#| "\u00e9"

#### jq -n 'halt_error' ; echo $?
jq -n 'halt_error' ; echo $?
#| 5

#### jq -n '"x"|halt_error(3)'; echo $?
jq -n '"x"|halt_error(3)'; echo $?
#| 3

#### echo 1 > f; jq -n --slurpfile x f '$x' -c
echo 1 > f; jq -n --slurpfile x f '$x' -c
#| [1]

#### echo hi > f; jq -n --rawfile x f '$x'
echo hi > f; jq -n --rawfile x f '$x'
#| "hi\n"

#### printf '1\n2\n' | jq -n '[inputs]' -c
printf '1\n2\n' | jq -n '[inputs]' -c
#| [1,2]

#### printf '1\n2\n' | jq -n 'input'
printf '1\n2\n' | jq -n 'input'
#| 1

#### echo '.a' > p; echo '{"a":3}' | jq -f p
echo '.a' > p; echo '{"a":3}' | jq -f p
#| 3

#### echo '[3,1,2]' | jq -c 'sort|.[0]'
echo '[3,1,2]' | jq -c 'sort|.[0]'
#| 1

#### jq --bad
jq --bad
#? 2


#### od nofile 2>/dev/null; echo $?
od nofile 2>/dev/null; echo $?
#| 1

#### printf 'first' > a; printf 'second\n' > b; jq -R . a b
printf 'first' > a; printf 'second\n' > b; jq -R . a b
#| "firstsecond"
