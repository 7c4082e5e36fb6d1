#### declare -i n=5; n+=3; echo $n
declare -i n=5; n+=3; echo $n
#| 8

#### declare -r c=1; (c=2) 2>/dev/null; echo $?
declare -r c=1; (c=2) 2>/dev/null; echo $?
#| 1

#### declare -l s=ABC; echo $s
declare -l s=ABC; echo $s
#| abc

#### declare -u s=abc; echo $s
declare -u s=abc; echo $s
#| ABC

#### declare -x e=1; declare -p e
declare -x e=1; declare -p e
#| declare -x e="1"

#### x=1; declare -p x
x=1; declare -p x
#| declare -- x="1"

#### declare -a a=(1 2); declare -p a
declare -a a=(1 2); declare -p a
#| declare -a a=([0]="1" [1]="2")

#### declare -A m=([k]="v w"); declare -p m
declare -A m=([k]="v w"); declare -p m
#| declare -A m=([k]="v w" )

#### f() { declare x=1; }; f; echo "[$x]"
f() { declare x=1; }; f; echo "[$x]"
#| []

#### f() { declare -g x=1; }; f; echo "[$x]"
f() { declare -g x=1; }; f; echo "[$x]"
#| [1]

#### export A=b; env | grep ^A=
export A=b; env | grep ^A=
#| A=b

#### readonly r=1; unset r 2>/dev/null; echo $?
readonly r=1; unset r 2>/dev/null; echo $?
#| 1

#### declare -p nope 2>/dev/null; echo $?
declare -p nope 2>/dev/null; echo $?
#| 1

#### x=1; unset x; echo "[${x-u}]"
x=1; unset x; echo "[${x-u}]"
#| [u]

#### export -n HOME; env | grep -c ^HOME=
export -n HOME; env | grep -c ^HOME=
#| 0
#? 1

#### declare -i x; x="2*3"; echo $x; x=abc; echo $x
declare -i x; x="2*3"; echo $x; x=abc; echo $x
#| 6
#| 0

#### local x 2>/dev/null; echo $?
local x 2>/dev/null; echo $?
#| 1

#### typeset y=2; echo $y
typeset y=2; echo $y
#| 2

#### declare -n r=v; v=1; echo $r; r=2; echo $v; unset -n r; echo
declare -n r=v; v=1; echo $r; r=2; echo $v; unset -n r; echo "[$r]"
#| 1
#| 2
#| []

#### x="a'b"; declare -p x
x="a'b"; declare -p x
#| declare -- x="a'b"

#### x=$'a\nb'; declare -p x; echo "${x@Q}"
x=$'a\nb'; declare -p x; echo "${x@Q}"
#| declare -- x=$'a\nb'
#| $'a\nb'
