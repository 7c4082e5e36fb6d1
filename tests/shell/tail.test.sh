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

