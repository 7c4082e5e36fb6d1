#### x="aBc def"; echo "${x^}"
x="aBc def"; echo "${x^}"
#| ABc def

#### a=(ab Cd); echo "${a[@]^}"
a=(ab Cd); echo "${a[@]^}"
#| Ab Cd

#### x="aBc def"; echo "${x^^}"
x="aBc def"; echo "${x^^}"
#| ABC DEF

#### a=(ab Cd); echo "${a[@]^^}"
a=(ab Cd); echo "${a[@]^^}"
#| AB CD

#### x="aBc def"; echo "${x,}"
x="aBc def"; echo "${x,}"
#| aBc def

#### a=(ab Cd); echo "${a[@],}"
a=(ab Cd); echo "${a[@],}"
#| ab cd

#### x="aBc def"; echo "${x,,}"
x="aBc def"; echo "${x,,}"
#| abc def

#### a=(ab Cd); echo "${a[@],,}"
a=(ab Cd); echo "${a[@],,}"
#| ab cd

#### x="aBc def"; echo "${x^^[ab]}"
x="aBc def"; echo "${x^^[ab]}"
#| ABc def

#### a=(ab Cd); echo "${a[@]^^[ab]}"
a=(ab Cd); echo "${a[@]^^[ab]}"
#| AB Cd

#### x="aBc def"; echo "${x,,[AB]}"
x="aBc def"; echo "${x,,[AB]}"
#| abc def

#### a=(ab Cd); echo "${a[@],,[AB]}"
a=(ab Cd); echo "${a[@],,[AB]}"
#| ab Cd

#### x="aBc def"; echo "${x~}"
x="aBc def"; echo "${x~}"
#| ABc def

#### a=(ab Cd); echo "${a[@]~}"
a=(ab Cd); echo "${a[@]~}"
#| Ab cd

#### x="aBc def"; echo "${x~~}"
x="aBc def"; echo "${x~~}"
#| AbC DEF

#### a=(ab Cd); echo "${a[@]~~}"
a=(ab Cd); echo "${a[@]~~}"
#| AB cD

#### x="aBc def"; echo "${x@U}"
x="aBc def"; echo "${x@U}"
#| ABC DEF

#### a=(ab Cd); echo "${a[@]@U}"
a=(ab Cd); echo "${a[@]@U}"
#| AB CD

#### x="aBc def"; echo "${x@L}"
x="aBc def"; echo "${x@L}"
#| abc def

#### a=(ab Cd); echo "${a[@]@L}"
a=(ab Cd); echo "${a[@]@L}"
#| ab cd

#### x="aBc def"; echo "${x@u}"
x="aBc def"; echo "${x@u}"
#| ABc def

#### a=(ab Cd); echo "${a[@]@u}"
a=(ab Cd); echo "${a[@]@u}"
#| Ab Cd

#### x="aBc def"; echo "${x@Q}"
x="aBc def"; echo "${x@Q}"
#| 'aBc def'

#### a=(ab Cd); echo "${a[@]@Q}"
a=(ab Cd); echo "${a[@]@Q}"
#| 'ab' 'Cd'

#### @A of all elements is several words
a=(one 'two words'); declare -A m=([k]=v ['x y']='1 2'); show() { printf '[%s]' "$@"; echo; }
show "${a[@]@A}"; show "${a[*]@A}"; show "${m[@]@A}"; show ${a[@]@A}; set -- p1 'p 2'; show "${@@A}"; show "${*@A}"
#| [declare][-a][a=([0]="one" [1]="two words")]
#| [declare -a a=([0]="one" [1]="two words")]
#| [declare][-A][m=([k]="v" ["x y"]="1 2" )]
#| [declare][-a][a=([0]="one"][[1]="two][words")]
#| [set][--]['p1']['p 2']
#| [set -- 'p1' 'p 2']

#### @K quotes keys as declare -p does
declare -A m=([k]=v ['x y']='1 2' ['a"b']='q$x'); show() { printf '[%s]' "$@"; echo; }; show "${m[@]@K}" | tr ' ' '\n' | sort; declare -A n=(['x y']=1); show "${n[@]@K}"; show "${n[*]@K}"; show ${n[@]@K}; show "${n[@]@k}"
#| "1
#| "a\"b"
#| "q\$x"
#| "v"
#| "x
#| 2"
#| [k
#| ]
#| y"
#| ["x y" "1" ]
#| ["x y" "1" ]
#| ["x][y"]["1"]
#| [x y][1]

#### a transformation of what a name names
a=(1 2 3); r=a; echo "${!r@a}"; r='a[1]'; echo "${!r@a}" "${!r@Q}" "${!r@A}"; declare -A d=([0]=f); r=d; echo "${!r@a}"; declare -i n=3; r=n; echo "${!r@a}" "${!r@A}"; echo "<${!d[@]@a}>"
#| a
#| a '2' declare -a a='2'
#| A
#| i declare -i n='3'
#| <>
