#### expr 1 + 2
expr 1 + 2
#| 3

#### expr 7 - 9
expr 7 - 9
#| -2

#### expr 6 \* 7
expr 6 \* 7
#| 42

#### expr 17 / 5
expr 17 / 5
#| 3

#### expr -17 / 5
expr -17 / 5
#| -3

#### expr 17 % 5
expr 17 % 5
#| 2

#### expr -17 % 5
expr -17 % 5
#| -2

#### expr 2 + 3 \* 4
expr 2 + 3 \* 4
#| 14

#### expr \( 2 + 3 \) \* 4
expr \( 2 + 3 \) \* 4
#| 20

#### expr 99999999999999999999 + 1
expr 99999999999999999999 + 1
#| 100000000000000000000

#### expr 9223372036854775807 \* 9223372036854775807
expr 9223372036854775807 \* 9223372036854775807
#| 85070591730234615847396907784232501249

#### expr 1 \< 2; expr 2 \< 1; echo $?
expr 1 \< 2; expr 2 \< 1; echo $?
#| 1
#| 0
#| 1

#### expr a \< b
expr a \< b
#| 1

#### expr 10 \> 9
expr 10 \> 9
#| 1

#### expr abc = abc; expr abc != abc; echo $?
expr abc = abc; expr abc != abc; echo $?
#| 1
#| 0
#| 1

#### expr 1 = 01
expr 1 = 01
#| 1

#### expr 1 \<= 1; expr 1 \>= 2
expr 1 \<= 1; expr 1 \>= 2
#| 1
#| 0
#? 1

#### expr a \| b; expr '' \| b; expr 0 \| 0; echo $?
expr a \| b; expr '' \| b; expr 0 \| 0; echo $?
#| a
#| b
#| 0
#| 1

#### expr a \& b; expr '' \& b; echo $?
expr a \& b; expr '' \& b; echo $?
#| a
#| 0
#| 1

#### expr abcdef : abc
expr abcdef : abc
#| 3

#### expr abcdef : '\(b\)'; echo $?
expr abcdef : '\(b\)'; echo $?
#|
#| 1

#### expr abcdef : '.*\(d.\)'
expr abcdef : '.*\(d.\)'
#| de

#### expr abc : x; echo $?
expr abc : x; echo $?
#| 0
#| 1

#### expr match abcdef 'a.*'
expr match abcdef 'a.*'
#| 6

#### expr match abc '\(b\)'
expr match abc '\(b\)'
#|
#? 1

#### expr substr abcdef 2 3
expr substr abcdef 2 3
#| bcd

#### expr substr abc 0 1; expr substr abc 2 99; expr substr abc x 1
expr substr abc 0 1; expr substr abc 2 99; expr substr abc x 1
#|
#| bc
#|
#? 1

#### expr index abcdef dc
expr index abcdef dc
#| 3

#### expr index abc xyz; echo $?
expr index abc xyz; echo $?
#| 0
#| 1

#### expr length abcdef
expr length abcdef
#| 6

#### expr length é
expr length é
#| 1

#### expr substr aébc 2 2
expr substr aébc 2 2
#| éb

#### expr index aéb éb
expr index aéb éb
#| 2

#### expr length + 1
expr length + 1
#| 1

#### expr + length
expr + length
#| length

#### expr 0; echo $?
expr 0; echo $?
#| 0
#| 1

#### expr ''; echo $?
expr ''; echo $?
#|
#| 1

#### expr 1 + a 2>&1; echo $?
expr 1 + a 2>&1; echo $?
#| expr: non-integer argument
#| 2

#### expr 1 / 0 2>&1; echo $?
expr 1 / 0 2>&1; echo $?
#| expr: division by zero
#| 2

#### expr 1 % 0 2>&1; echo $?
expr 1 % 0 2>&1; echo $?
#| expr: division by zero
#| 2

#### expr 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
expr 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| expr: missing operand
#| Try 'expr --help' for more information.
#| 2

#### expr 1 + 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
expr 1 + 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| expr: syntax error: missing argument after '+'
#| 2

#### expr 1 2 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
expr 1 2 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| expr: syntax error: unexpected argument '2'
#| 2

#### expr \( 1 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
expr \( 1 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| expr: syntax error: expecting ')' after '1'
#| 2

#### expr \) 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
expr \) 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| expr: syntax error: unexpected ')'
#| 2

#### expr a : '\(' 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
expr a : '\(' 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| expr: Unmatched ( or \(
#| 2

#### expr -- 1 + 1
expr -- 1 + 1
#| 2

#### expr 3 - -4
expr 3 - -4
#| 7

#### numbers of any size
expr 99999999999999999999 \* 99999999999999999999; expr -99999999999999999999 \* 99999999999999999999999999999999999999999 / 7; expr 99999999999999999999999999999999999999999999999 \> 5; expr 007 + 010; expr substr abcdef 2 99999999999999999999999999
#| 9999999999999999999800000000000000000001
#| -1428571428571428571414285714285714285714271428571428571428571
#| 1
#| 17
#| bcdef
