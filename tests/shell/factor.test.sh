#### factor 1 2 12 97 360360
factor 1 2 12 97 360360
#| 1:
#| 2: 2
#| 12: 2 2 3
#| 97: 97
#| 360360: 2 2 2 3 3 5 7 11 13

#### factor 18446744073709551615
factor 18446744073709551615
#| 18446744073709551615: 3 5 17 257 641 65537 6700417

#### factor 18446744073709551557
factor 18446744073709551557
#| 18446744073709551557: 18446744073709551557

#### factor 1000000007 1000000014000000049
factor 1000000007 1000000014000000049
#| 1000000007: 1000000007
#| 1000000014000000049: 1000000007 1000000007

#### seq 10 14 | factor
seq 10 14 | factor
#| 10: 2 5
#| 11: 11
#| 12: 2 2 3
#| 13: 13
#| 14: 2 7

#### numbers on several lines
printf '6 10\n15\n' | factor
#| 6: 2 3
#| 10: 2 5
#| 15: 3 5

#### factor x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
factor x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| factor: 'x' is not a valid positive integer
#| 1

#### factor -3 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
factor -3 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| factor: invalid option -- '3'
#| Try 'factor --help' for more information.
#| 1

#### factor 0
factor 0
#| 0:

#### factor +5 ' 7'
factor +5 ' 7'
#| 5: 5
#| 7: 7
