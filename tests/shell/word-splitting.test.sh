#### x="a  b c"; printf "<%s>" $x; echo
x="a  b c"; printf "<%s>" $x; echo
#| <a><b><c>

#### IFS=:; x=a::b:; printf "<%s>" $x; echo
IFS=:; x=a::b:; printf "<%s>" $x; echo
#| <a><><b>

#### IFS=; x="a b"; printf "<%s>" $x; echo
IFS=; x="a b"; printf "<%s>" $x; echo
#| <a b>

#### x=" a "; printf "<%s>" $x; echo
x=" a "; printf "<%s>" $x; echo
#| <a>

#### set -- "a b" c; printf "<%s>" "$@"; printf "<%s>" "$*"; prin
set -- "a b" c; printf "<%s>" "$@"; printf "<%s>" "$*"; printf "<%s>" $@; echo
#| <a b><c><a b c><a><b><c>

#### set --; printf "<%s>" "$@" x; echo
set --; printf "<%s>" "$@" x; echo
#| <x>

#### IFS=-; set -- a b; echo "$*" $*
IFS=-; set -- a b; echo "$*" $*
#| a-b a b

#### x=""; printf "<%s>" $x "" "$x"; echo
x=""; printf "<%s>" $x "" "$x"; echo
#| <><>

#### IFS=": "; x="a : b:c"; printf "<%s>" $x; echo
IFS=": "; x="a : b:c"; printf "<%s>" $x; echo
#| <a><b><c>

#### x=$(printf "a\nb\n\n"); echo "[$x]"
x=$(printf "a\nb\n\n"); echo "[$x]"
#| [a
#| b]
