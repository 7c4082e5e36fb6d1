#### echo 'a b'  c
echo 'a b'  c
#| a b c

#### echo "a   b"
echo "a   b"
#| a   b

#### echo a\ b
echo a\ b
#| a b

#### echo "\$x \` \" \\ \n"
echo "\$x \` \" \\ \n"
#| $x ` " \ \n

#### echo $'a\tb\n\x41\101\u00e9'
echo $'a\tb\n\x41\101\u00e9'
#| a	b
#| AAé

#### printf '[%s]' ''; echo
printf '[%s]' ''; echo
#| []

#### x='*'; echo \"$x\"
x='*'; echo \"$x\"
#| "*"

#### echo a'b'\"c\"d
echo a'b'\"c\"d
#| ab"c"d

#### echo 'multi; line'
echo 'multi
line'
#| multi
#| line

#### echo one \; two
echo one \
two
#| one two

#### echo \"$(echo \"nested \\\"q\\\"\")\"
echo \"$(echo \"nested \\\"q\\\"\")\"
#| ""nested \"q\"""

#### echo "a'b"
echo "a'b"
#| a'b

#### echo \*
echo \*
#| *

#### echo '\n'
echo '\n'
#| \n

#### echo $'it\'s'
echo $'it\'s'
#| it's

#### echo \~
echo \~
#| ~

#### echo \"~\"
echo \"~\"
#| "~"

#### printf '%s\n' a'' ''b
printf '%s\n' a'' ''b
#| a
#| b

#### echo \"\"a\"\"
echo \"\"a\"\"
#| ""a""
