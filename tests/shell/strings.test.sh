#### printf 'abc\0defgh\0ij\n' | strings
printf 'abc\0defgh\0ij\n' | strings
#| defgh

#### printf 'abcdef\0gh\0' | strings -n 2
printf 'abcdef\0gh\0' | strings -n 2
#| abcdef
#| gh

#### printf '\001\002hello\003' | strings
printf '\001\002hello\003' | strings
#| hello

#### printf 'abcdef\0ghijk' | strings -t x
printf 'abcdef\0ghijk' | strings -t x
#|       0 abcdef
#|       7 ghijk

#### printf 'abcdef\0ghijk' | strings -t d
printf 'abcdef\0ghijk' | strings -t d
#|       0 abcdef
#|       7 ghijk

#### printf 'abcdef\0ghijk' | strings -t o
printf 'abcdef\0ghijk' | strings -t o
#|       0 abcdef
#|       7 ghijk

#### printf 'abcdef\0ghijk' | strings -o
printf 'abcdef\0ghijk' | strings -o
#|       0 abcdef
#|       7 ghijk

#### printf 'abcdef\0ghijk' > f; strings -f f
printf 'abcdef\0ghijk' > f; strings -f f
#| f: abcdef
#| f: ghijk

#### printf 'abcdef\0ghijk' > f; strings -6 f
printf 'abcdef\0ghijk' > f; strings -6 f
#| abcdef

#### strings missing 2>&1; echo $?
strings missing 2>&1; echo $?
#| strings: 'missing': No such file
#| 1

#### printf 'ab\tcd ef\n' | strings
printf 'ab\tcd ef\n' | strings
#| ab	cd ef

#### strings -n 0 /dev/null 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
strings -n 0 /dev/null 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| strings: invalid minimum string length 0
#| 1

#### printf 'abcdef' > f; strings -a f -
printf 'abcdef' > f; strings -a f -
#| abcdef
