#### a paragraph is filled, not only cut
printf 'hello world this is some text\n' | fmt -w 10
#| hello
#| world
#| this is
#| some text

#### lines are joined
printf 'one\ntwo\nthree\n\nfour\nfive\n' | fmt
#| one two three
#|
#| four five

#### the default width
for i in 1 2 3 4 5 6; do echo "the quick brown fox jumps over the lazy dog number $i and goes on."; done | fmt
#| the quick brown fox jumps over the lazy dog number 1 and goes on.
#| the quick brown fox jumps over the lazy dog number 2 and goes on.
#| the quick brown fox jumps over the lazy dog number 3 and goes on.
#| the quick brown fox jumps over the lazy dog number 4 and goes on.
#| the quick brown fox jumps over the lazy dog number 5 and goes on.
#| the quick brown fox jumps over the lazy dog number 6 and goes on.

#### a narrow column
for i in 1 2 3 4; do echo "A sentence here.  Another (with parentheses), and punctuation; see?"; done | fmt -w 30
#| A sentence here.  Another
#| (with parentheses),
#| and punctuation; see?
#| A sentence here.  Another
#| (with parentheses),
#| and punctuation; see?
#| A sentence here.  Another
#| (with parentheses),
#| and punctuation; see?
#| A sentence here.  Another
#| (with parentheses), and
#| punctuation; see?

#### the goal
for i in 1 2 3 4; do echo "some words of different lengths make a ragged paragraph"; done | fmt -w 40 -g 35
#| some words of different lengths
#| make a ragged paragraph some words
#| of different lengths make a ragged
#| paragraph some words of different
#| lengths make a ragged paragraph some
#| words of different lengths make a
#| ragged paragraph

#### only a goal
for i in 1 2 3; do echo "some words of different lengths make a ragged paragraph"; done | fmt -g 20
#| some words of different
#| lengths make a ragged
#| paragraph some words of
#| different lengths make
#| a ragged paragraph some
#| words of different lengths
#| make a ragged paragraph

#### the old form of a width
echo "aaa bbb ccc ddd eee fff ggg hhh iii jjj" | fmt -20
#| aaa bbb ccc ddd eee
#| fff ggg hhh iii jjj

#### an indentation begins a paragraph
printf 'one two\n  three four\n  five\nsix\n' | fmt
#| one two
#|   three four five
#| six

#### tabs stay tabs
printf '\thello world\n' | fmt
#| 	hello world

#### blanks before a tab
printf '   \thello world\n\tand more\n' | fmt
#| 	hello world and more

#### split only
printf 'short\nlines\na line that is longer than the others here\n' | fmt -s -w 20
#| short
#| lines
#| a line that is
#| longer than the
#| others here

#### crown margin
printf '  first line of it\n    second line\n    third line\nnext paragraph\n' | fmt -c -w 30
#|   first line of it second
#|     line third line
#| next paragraph

#### tagged paragraph
printf 'tag  first line of it\n     second line\n     third line\n\nalone with many words that must be broken\n' | fmt -t -w 30
#| tag  first line of it second
#|      line third line
#|
#| alone with many words that
#|      must be broken

#### uniform spacing
printf 'a   b    c.   d     e\nf.\ng\n' | fmt -u
#| a b c.  d e f.  g

#### spacing is kept
printf 'a   b    c.   d     e\nf.\ng\n' | fmt
#| a   b    c.   d     e f.  g

#### a prefix
printf '# one two three four five\n# six\nplain line stays\n#\n# seven\n' | fmt -p '#' -w 20
#| # one two three
#| # four five six
#| plain line stays
#| #
#| # seven

#### a prefix with blanks
printf '  > one two three four five six seven\n  > eight\nother\n' | fmt -p '> ' -w 25
#|   > one two three four
#|   > five six seven eight
#| other

#### a very long paragraph
seq 1 3000 | fmt | tail -n 3
#| 2963 2964 2965 2966 2967 2968 2969 2970 2971 2972 2973 2974 2975 2976
#| 2977 2978 2979 2980 2981 2982 2983 2984 2985 2986 2987 2988 2989 2990
#| 2991 2992 2993 2994 2995 2996 2997 2998 2999 3000

#### long words stand alone
printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b cccccccccccccccccccccccccccccc d\n' | fmt -w 12
#| aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
#| b
#| cccccccccccccccccccccccccccccc
#| d

#### sentences at the ends of lines
printf 'One.\nTwo!\nThree?\n(Four.)\nfive\n' | fmt
#| One.  Two!  Three?  (Four.)  five

#### no newline at the end
printf 'one\ntwo' | fmt
#| one two

#### blank lines and white space
printf '\n\n  \n a\n\n\n' | fmt | cat -A
#| $
#| $
#| $
#|  a$
#| $
#| $

#### carriage returns
printf 'a b\r\nc d\r\n' | fmt | od -c
#| 0000000   a       b  \r       c       d  \r  \n
#| 0000012

#### a width that is none
fmt -w x < /dev/null
#? 1

#### a goal beyond the width
fmt -w 10 -g 20 < /dev/null
#? 1

#### a file that is not there
fmt nothing
#? 1
