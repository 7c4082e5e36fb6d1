#### seq 5 | head -n 2
seq 5 | head -n 2
#| 1
#| 2

#### seq 5 | head -n -2
seq 5 | head -n -2
#| 1
#| 2
#| 3

#### seq 5 | head -2
seq 5 | head -2
#| 1
#| 2

#### seq 5 | head -c 3
seq 5 | head -c 3
#| 1
#|- 2

#### seq 5 | head -c -3
seq 5 | head -c -3
#| 1
#| 2
#| 3
#|- 4

#### seq 5 | head -n 0
seq 5 | head -n 0

#### seq 5 | head --lines=1
seq 5 | head --lines=1
#| 1

#### seq 5 | head --bytes=4
seq 5 | head --bytes=4
#| 1
#| 2

#### seq 5 | head -n 100
seq 5 | head -n 100
#| 1
#| 2
#| 3
#| 4
#| 5

#### seq 5 | head -qn1
seq 5 | head -qn1
#| 1

#### seq 5 | head -vn1
seq 5 | head -vn1
#| ==> standard input <==
#| 1

#### seq 3 > a; seq 4 6 > b; head -n1 a b
seq 3 > a; seq 4 6 > b; head -n1 a b
#| ==> a <==
#| 1
#|
#| ==> b <==
#| 4

#### head missing
head missing
#? 1

#### head -n x
head -n x
#? 1

#### seq 3 | head -q
seq 3 | head -q
#| 1
#| 2
#| 3

#### seq 5 > a; head -n 2 a missing; echo $?
seq 5 > a; head -n 2 a missing; echo $?
#| ==> a <==
#| 1
#| 2
#| 1

#### head -c 1k /dev/zero | wc -c
head -c 1k /dev/zero | wc -c
#| 1024

