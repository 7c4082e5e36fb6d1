#### a=b b=c; echo ${!a}
a=b b=c; echo ${!a}
#| c

#### a="c[1]"; c=(x y); echo ${!a}
a="c[1]"; c=(x y); echo ${!a}
#| y

#### p1=1 p2=2; echo ${!p*}
p1=1 p2=2; echo ${!p*}
#| p1 p2

#### set -- x y; n=2; echo ${!n}
set -- x y; n=2; echo ${!n}
#| y

#### declare -n r=t; t=5; r=6; echo $t ${!r}
declare -n r=t; t=5; r=6; echo $t ${!r}
#| 6 t

#### f() { local -n o=$1; o=set; }; f v; echo $v
f() { local -n o=$1; o=set; }; f v; echo $v
#| set
