#### echo a > f; cat f; echo b >> f; cat f
echo a > f; cat f; echo b >> f; cat f
#| a
#| a
#| b

#### echo e >&2 2>/dev/null; echo $?
echo e >&2 2>/dev/null; echo $?
#| 0

#### { echo o; echo e >&2; } 2>&1
{ echo o; echo e >&2; } 2>&1
#| o
#| e

#### cat < /dev/null; echo $?
cat < /dev/null; echo $?
#| 0

#### echo x > f; read y < f; echo $y
echo x > f; read y < f; echo $y
#| x

#### exec 3> f; echo t >&3; exec 3>&-; cat f
exec 3> f; echo t >&3; exec 3>&-; cat f
#| t

#### cat <<< hi
cat <<< hi
#| hi

#### cat <<E; a $((1+1)); E
cat <<E
a $((1+1))
E
#| a 2

#### cat <<"E"; $x; E
cat <<"E"
$x
E
#| $x

#### cat <<-E; 	tab; 	E
cat <<-E
	tab
	E
#| tab

#### cat <<A; cat <<B; 1; A; 2; B
cat <<A; cat <<B
1
A
2
B
#| 1
#| 2

#### set -C; echo a > f; echo b > f; echo $?; echo c >| f; cat f
set -C; echo a > f; echo b > f; echo $?; echo c >| f; cat f
#| 1
#| c

#### echo a &> f; cat f
echo a &> f; cat f
#| a

#### (echo o; echo e >&2) &>> f; cat f
(echo o; echo e >&2) &>> f; cat f
#| o
#| e

#### exec {fd}> f; echo $((fd >= 10)); echo z >&$fd; cat f
exec {fd}> f; echo $((fd >= 10)); echo z >&$fd; cat f
#| 1
#| z

#### cat < nofile; echo $?
cat < nofile; echo $?
#| 1

#### echo a 1>&-; echo $?
echo a 1>&-; echo $?
#| 1

#### f() { echo x; } > f; f; cat f
f() { echo x; } > f; f; cat f
#| x

#### for i in 1 2; do echo $i; done > f; cat f
for i in 1 2; do echo $i; done > f; cat f
#| 1
#| 2

#### while read l; do echo "$l!"; done < <(echo p)
while read l; do echo "$l!"; done < <(echo p)
#| p!

#### diff <(echo a) <(echo a) && echo same
diff <(echo a) <(echo a) && echo same
#| same

#### echo a > f; cat f - <<< b
echo a > f; cat f - <<< b
#| a
#| b

#### echo x | tee f > /dev/null; cat f
echo x | tee f > /dev/null; cat f
#| x

#### exec 4< <(echo q); read r <&4; echo $r
exec 4< <(echo q); read r <&4; echo $r
#| q

#### echo hi > "a b"; cat "a b"
echo hi > "a b"; cat "a b"
#| hi

#### x=$(< /dev/null); echo "[$x]"; echo w > f; echo $(< f)
x=$(< /dev/null); echo "[$x]"; echo w > f; echo $(< f)
#| []
#| w

#### a here-document that the end of the script ends has whole lines
bash -c 'cat <<E
one
two' 2>/dev/null | tail -n 1 | wc -c; bash -c 'cat <<"E"
a\' 2>/dev/null | wc -c
#| 4
#| 3
