#### if true; then echo a; else echo b; fi
if true; then echo a; else echo b; fi
#| a

#### if false; then echo a; elif true; then echo b; fi
if false; then echo a; elif true; then echo b; fi
#| b

#### for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done
for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done
#| 1
#| 3

#### for i in a b; do for j in 1 2; do [ $j = 2 ] && continue 2; 
for i in a b; do for j in 1 2; do [ $j = 2 ] && continue 2; echo $i$j; done; done
#| a1
#| b1

#### while true; do echo x; break; done
while true; do echo x; break; done
#| x

#### until false; do echo y; break; done
until false; do echo y; break; done
#| y

#### i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i
i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i
#| 3

#### set -- x y; for a; do echo $a; done
set -- x y; for a; do echo $a; done
#| x
#| y

#### for x in; do echo no; done; echo $?
for x in; do echo no; done; echo $?
#| 0

#### if ! false; then echo t; fi
if ! false; then echo t; fi
#| t

#### for i in 1 2; do echo $i; done | cat
for i in 1 2; do echo $i; done | cat
#| 1
#| 2

#### while read l; do echo "[$l]"; done <<< "a; b"
while read l; do echo "[$l]"; done <<< "a
b"
#| [a]
#| [b]

#### i=0; until ((i>=2)); do ((i++)); done; echo $i
i=0; until ((i>=2)); do ((i++)); done; echo $i
#| 2

#### for f in a b; do { echo $f; } ; done
for f in a b; do { echo $f; } ; done
#| a
#| b

#### true && echo a || echo b; false && echo a || echo b
true && echo a || echo b; false && echo a || echo b
#| a
#| b

#### false || true && echo c
false || true && echo c
#| c

#### ! true; echo $?
! true; echo $?
#| 1

#### { echo g; false; }; echo $?
{ echo g; false; }; echo $?
#| g
#| 1

#### ( exit 7 ); echo $?
( exit 7 ); echo $?
#| 7
