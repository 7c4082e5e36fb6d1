#### seq 5 | tail -n 2
seq 5 | tail -n 2
#| 4
#| 5

#### seq 5 | tail -n +2
seq 5 | tail -n +2
#| 2
#| 3
#| 4
#| 5

#### seq 5 | tail -2
seq 5 | tail -2
#| 4
#| 5

#### seq 5 | tail -c 3
seq 5 | tail -c 3
#|
#| 5

#### seq 5 | tail -c +3
seq 5 | tail -c +3
#| 2
#| 3
#| 4
#| 5

#### seq 5 | tail -n 0
seq 5 | tail -n 0

#### seq 5 | tail --lines=1
seq 5 | tail --lines=1
#| 5

#### seq 5 | tail --bytes=4
seq 5 | tail --bytes=4
#| 4
#| 5

#### seq 5 | tail -n 100
seq 5 | tail -n 100
#| 1
#| 2
#| 3
#| 4
#| 5

#### seq 5 | tail +3
seq 5 | tail +3
#| 3
#| 4
#| 5

#### seq 5 | tail -n +0
seq 5 | tail -n +0
#| 1
#| 2
#| 3
#| 4
#| 5

#### seq 3 > a; seq 4 6 > b; tail -n1 a b
seq 3 > a; seq 4 6 > b; tail -n1 a b
#| ==> a <==
#| 3
#|
#| ==> b <==
#| 6

#### tail missing
tail missing
#? 1

#### tail -n x
tail -n x
#? 1

#### printf 'a\nb' | tail -n1
printf 'a\nb' | tail -n1
#|- b

#### seq 20 | tail
seq 20 | tail
#| 11
#| 12
#| 13
#| 14
#| 15
#| 16
#| 17
#| 18
#| 19
#| 20

#### tail -c2 <<< hello
tail -c2 <<< hello
#| o

#### tail -f shows what is added
echo a > f; { sleep 0.2; echo b >> f; } & timeout 1 tail -s 0.02 -f f; echo $?
#| a
#| b
#| 124

#### tail -f of two files names whose text comes
echo a > f; echo b > g; { sleep 0.2; echo c >> f; } & timeout 1 tail -s 0.02 -f f g; echo $?
#| ==> f <==
#| a
#|
#| ==> g <==
#| b
#|
#| ==> f <==
#| c
#| 124

#### tail -f begins again in a file that was cut
printf 'a\nb\n' > f; { sleep 0.2; echo c > f; } & timeout 1 tail -s 0.02 -f f 2>&1 | sed "s/[‘’]/'/g"
#| a
#| b
#| tail: f: file truncated
#| c

#### tail -F waits for a file
{ sleep 0.2; echo c > f; } & timeout 1 tail -s 0.02 -F f 2>/dev/null; echo $?
#| c
#| 124

#### tail --follow=name goes with the name
echo a > f; { sleep 0.2; rm f; echo c > f; } & timeout 1.5 tail -s 0.02 --follow=name --retry f 2>/dev/null; echo $?
#| a
#| c
#| 124

#### tail --follow=x f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
tail --follow=x f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| tail: invalid argument 'x' for '--follow'
#| Valid arguments are:
#|   - 'descriptor'
#|   - 'name'
#| Try 'tail --help' for more information.
#| 1

#### tail -f missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
tail -f missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| tail: cannot open 'missing' for reading: No such file or directory
#| tail: no files remaining
#| 1
