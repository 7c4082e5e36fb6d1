#### printf 'one two\nthree\n' | wc 
printf 'one two\nthree\n' | wc 
#|       2       3      14

#### printf 'one two\nthree\n' > f; wc  f
printf 'one two\nthree\n' > f; wc  f
#|  2  3 14 f

#### printf 'one two\nthree\n' | wc -l
printf 'one two\nthree\n' | wc -l
#| 2

#### printf 'one two\nthree\n' > f; wc -l f
printf 'one two\nthree\n' > f; wc -l f
#| 2 f

#### printf 'one two\nthree\n' | wc -w
printf 'one two\nthree\n' | wc -w
#| 3

#### printf 'one two\nthree\n' > f; wc -w f
printf 'one two\nthree\n' > f; wc -w f
#| 3 f

#### printf 'one two\nthree\n' | wc -c
printf 'one two\nthree\n' | wc -c
#| 14

#### printf 'one two\nthree\n' > f; wc -c f
printf 'one two\nthree\n' > f; wc -c f
#| 14 f

#### printf 'one two\nthree\n' | wc -m
printf 'one two\nthree\n' | wc -m
#| 14

#### printf 'one two\nthree\n' > f; wc -m f
printf 'one two\nthree\n' > f; wc -m f
#| 14 f

#### printf 'one two\nthree\n' | wc -L
printf 'one two\nthree\n' | wc -L
#| 7

#### printf 'one two\nthree\n' > f; wc -L f
printf 'one two\nthree\n' > f; wc -L f
#| 7 f

#### printf 'one two\nthree\n' | wc -lw
printf 'one two\nthree\n' | wc -lw
#|       2       3

#### printf 'one two\nthree\n' > f; wc -lw f
printf 'one two\nthree\n' > f; wc -lw f
#|  2  3 f

#### printf 'one two\nthree\n' | wc -lc
printf 'one two\nthree\n' | wc -lc
#|       2      14

#### printf 'one two\nthree\n' > f; wc -lc f
printf 'one two\nthree\n' > f; wc -lc f
#|  2 14 f

#### printf 'one two\nthree\n' | wc -wc
printf 'one two\nthree\n' | wc -wc
#|       3      14

#### printf 'one two\nthree\n' > f; wc -wc f
printf 'one two\nthree\n' > f; wc -wc f
#|  3 14 f

#### printf 'one two\nthree\n' | wc --lines
printf 'one two\nthree\n' | wc --lines
#| 2

#### printf 'one two\nthree\n' > f; wc --lines f
printf 'one two\nthree\n' > f; wc --lines f
#| 2 f

#### printf 'one two\nthree\n' | wc --words
printf 'one two\nthree\n' | wc --words
#| 3

#### printf 'one two\nthree\n' > f; wc --words f
printf 'one two\nthree\n' > f; wc --words f
#| 3 f

#### printf 'a b\n' > a; printf 'c\n' > b; wc a b
printf 'a b\n' > a; printf 'c\n' > b; wc a b
#| 1 2 4 a
#| 1 1 2 b
#| 2 3 6 total

#### wc -l missing
wc -l missing
#? 1

#### printf 'no newline' | wc -l
printf 'no newline' | wc -l
#| 0

#### printf 'é\n' | wc -cm
printf 'é\n' | wc -cm
#|       2       3

#### wc -x
wc -x
#? 1

#### printf '\ta\n' | wc -L
printf '\ta\n' | wc -L
#| 9

#### printf 'a\n' > f; wc f -
printf 'a\n' > f; wc f -
#|       1       1       2 f
#|       0       0       0 -
#|       1       1       2 total

#### wc < /dev/null
wc < /dev/null
#|       0       0       0

#### printf 'a\n' > a; wc -l a missing; echo $?
printf 'a\n' > a; wc -l a missing; echo $?
#| 1 a
#| 1 total
#| 1

