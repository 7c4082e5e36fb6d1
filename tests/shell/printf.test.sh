#### printf "%s %d\n" a 5
printf "%s %d\n" a 5
#| a 5

#### printf "%5s|%-5s|\n" a b
printf "%5s|%-5s|\n" a b
#|     a|b    |

#### printf "%05.2f\n" 3.14159
printf "%05.2f\n" 3.14159
#| 03.14

#### printf "%x %X %o\n" 255 255 8
printf "%x %X %o\n" 255 255 8
#| ff FF 10

#### printf "%c%c\n" abc d
printf "%c%c\n" abc d
#| ad

#### printf "%s\n" a b c
printf "%s\n" a b c
#| a
#| b
#| c

#### printf "%q\n" "a b" "it's"
printf "%q\n" "a b" "it's"
#| a\ b
#| it\'s

#### printf "%b" "a\tb\n"
printf "%b" "a\tb\n"
#| a	b

#### printf "%%\n"
printf "%%\n"
#| %

#### printf "%d\n" "'A"
printf "%d\n" "'A"
#| 65

#### printf -v x "%03d" 7; echo $x
printf -v x "%03d" 7; echo $x
#| 007

#### printf "%e\n" 12345.678
printf "%e\n" 12345.678
#| 1.234568e+04

#### printf "%s-%s\n" a b c
printf "%s-%s\n" a b c
#| a-b
#| c-

#### printf "%*d|\n" 5 42
printf "%*d|\n" 5 42
#|    42|

#### printf "%.3s|\n" abcdef
printf "%.3s|\n" abcdef
#| abc|

#### printf "%d\n" 0x10 010
printf "%d\n" 0x10 010
#| 16
#| 8

#### printf "%+d % d\n" 5 5
printf "%+d % d\n" 5 5
#| +5  5

#### printf "%i\n" abc 2>/dev/null; echo $?
printf "%i\n" abc 2>/dev/null; echo $?
#| 0
#| 1

#### printf "\x41\101\n"
printf "\x41\101\n"
#| AA

#### printf "%u\n" 42
printf "%u\n" 42
#| 42

#### printf "%g\n" 0.0001 1e10
printf "%g\n" 0.0001 1e10
#| 0.0001
#| 1e+10

#### printf "no newline"
printf "no newline"
#|- no newline

#### printf "%s" ; echo
printf "%s" ; echo
#|

#### printf "%(%Y)T\n" 0
printf "%(%Y)T\n" 0
#| 1970
