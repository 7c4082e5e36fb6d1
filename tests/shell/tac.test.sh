#### seq 3 | tac
seq 3 | tac
#| 3
#| 2
#| 1

#### printf 'a\nb' | tac
printf 'a\nb' | tac
#| ba

#### tac missing
tac missing
#? 1

#### seq 3 > f; tac f f
seq 3 > f; tac f f
#| 3
#| 2
#| 1
#| 3
#| 2
#| 1

#### printf 'a,b,c' | tac -s,
printf 'a,b,c' | tac -s,
#|- cb,a,

#### printf 'a:b:c:' | tac -bs:
printf 'a:b:c:' | tac -bs:
#|- ::c:ba

