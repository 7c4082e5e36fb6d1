#### printf 'one\ntwo\nthree\nfour\n' | sed s/o/0/
printf 'one\ntwo\nthree\nfour\n' | sed s/o/0/
#| 0ne
#| tw0
#| three
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed s/o/0/g
printf 'one\ntwo\nthree\nfour\n' | sed s/o/0/g
#| 0ne
#| tw0
#| three
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed s/o/0/2
printf 'one\ntwo\nthree\nfour\n' | sed s/o/0/2
#| one
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed -n p
printf 'one\ntwo\nthree\nfour\n' | sed -n p
#| one
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed -n 2p
printf 'one\ntwo\nthree\nfour\n' | sed -n 2p
#| two

#### printf 'one\ntwo\nthree\nfour\n' | sed -n '2,3p'
printf 'one\ntwo\nthree\nfour\n' | sed -n '2,3p'
#| two
#| three

#### printf 'one\ntwo\nthree\nfour\n' | sed -n '$p'
printf 'one\ntwo\nthree\nfour\n' | sed -n '$p'
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 2d
printf 'one\ntwo\nthree\nfour\n' | sed 2d
#| one
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '$d'
printf 'one\ntwo\nthree\nfour\n' | sed '$d'
#| one
#| two
#| three

#### printf 'one\ntwo\nthree\nfour\n' | sed '/two/d'
printf 'one\ntwo\nthree\nfour\n' | sed '/two/d'
#| one
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '/two/,/four/d'
printf 'one\ntwo\nthree\nfour\n' | sed '/two/,/four/d'
#| one

#### printf 'one\ntwo\nthree\nfour\n' | sed -n '/two/,+1p'
printf 'one\ntwo\nthree\nfour\n' | sed -n '/two/,+1p'
#| two
#| three

#### printf 'one\ntwo\nthree\nfour\n' | sed '1~2d'
printf 'one\ntwo\nthree\nfour\n' | sed '1~2d'
#| two
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed -n '2~2p'
printf 'one\ntwo\nthree\nfour\n' | sed -n '2~2p'
#| two
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '2q'
printf 'one\ntwo\nthree\nfour\n' | sed '2q'
#| one
#| two

#### printf 'one\ntwo\nthree\nfour\n' | sed '2Q'
printf 'one\ntwo\nthree\nfour\n' | sed '2Q'
#| one

#### printf 'one\ntwo\nthree\nfour\n' | sed '/two/q5'
printf 'one\ntwo\nthree\nfour\n' | sed '/two/q5'
#| one
#| two
#? 5

#### printf 'one\ntwo\nthree\nfour\n' | sed -e 's/o/0/' -e 's/e/3/'
printf 'one\ntwo\nthree\nfour\n' | sed -e 's/o/0/' -e 's/e/3/'
#| 0n3
#| tw0
#| thr3e
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/o/0/;s/e/3/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/o/0/;s/e/3/'
#| 0n3
#| tw0
#| thr3e
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed 'y/abco/xyzq/'
printf 'one\ntwo\nthree\nfour\n' | sed 'y/abco/xyzq/'
#| qne
#| twq
#| three
#| fqur

#### printf 'one\ntwo\nthree\nfour\n' | sed '1i\first'
printf 'one\ntwo\nthree\nfour\n' | sed '1i\first'
#| first
#| one
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '1a after'
printf 'one\ntwo\nthree\nfour\n' | sed '1a after'
#| one
#| after
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '2c changed'
printf 'one\ntwo\nthree\nfour\n' | sed '2c changed'
#| one
#| changed
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '$a\last'
printf 'one\ntwo\nthree\nfour\n' | sed '$a\last'
#| one
#| two
#| three
#| four
#| last

#### printf 'one\ntwo\nthree\nfour\n' | sed '/two/i before'
printf 'one\ntwo\nthree\nfour\n' | sed '/two/i before'
#| one
#| before
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '2,3c X'
printf 'one\ntwo\nthree\nfour\n' | sed '2,3c X'
#| one
#| X
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed -n '/o/='
printf 'one\ntwo\nthree\nfour\n' | sed -n '/o/='
#| 1
#| 2
#| 4

#### printf 'one\ntwo\nthree\nfour\n' | sed '='
printf 'one\ntwo\nthree\nfour\n' | sed '='
#| 1
#| one
#| 2
#| two
#| 3
#| three
#| 4
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 'N;s/\n/-/'
printf 'one\ntwo\nthree\nfour\n' | sed 'N;s/\n/-/'
#| one-two
#| three-four

#### printf 'one\ntwo\nthree\nfour\n' | sed '$!N;s/\n/ /'
printf 'one\ntwo\nthree\nfour\n' | sed '$!N;s/\n/ /'
#| one two
#| three four

#### printf 'one\ntwo\nthree\nfour\n' | sed '1!G;h;$!d'
printf 'one\ntwo\nthree\nfour\n' | sed '1!G;h;$!d'
#| four
#| three
#| two
#| one

#### printf 'one\ntwo\nthree\nfour\n' | sed 'G'
printf 'one\ntwo\nthree\nfour\n' | sed 'G'
#| one
#|
#| two
#|
#| three
#|
#| four
#|

#### printf 'one\ntwo\nthree\nfour\n' | sed -n '$='
printf 'one\ntwo\nthree\nfour\n' | sed -n '$='
#| 4

#### printf 'one\ntwo\nthree\nfour\n' | sed 'n;d'
printf 'one\ntwo\nthree\nfour\n' | sed 'n;d'
#| one
#| three

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/\(o\)\(n\)/\2\1/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/\(o\)\(n\)/\2\1/'
#| noe
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed -E 's/(o)(n)/\2\1/'
printf 'one\ntwo\nthree\nfour\n' | sed -E 's/(o)(n)/\2\1/'
#| noe
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed -E 's/[aeiou]+/<&>/g'
printf 'one\ntwo\nthree\nfour\n' | sed -E 's/[aeiou]+/<&>/g'
#| <o>n<e>
#| tw<o>
#| thr<ee>
#| f<ou>r

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/.*/\U&/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/.*/\U&/'
#| ONE
#| TWO
#| THREE
#| FOUR

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/^./\u&/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/^./\u&/'
#| One
#| Two
#| Three
#| Four

#### printf 'one\ntwo\nthree\nfour\n' | sed -E 's/(.)(.*)/\u\1\L\2/'
printf 'one\ntwo\nthree\nfour\n' | sed -E 's/(.)(.*)/\u\1\L\2/'
#| One
#| Two
#| Three
#| Four

#### printf 'one\ntwo\nthree\nfour\n' | sed 's|o|/|'
printf 'one\ntwo\nthree\nfour\n' | sed 's|o|/|'
#| /ne
#| tw/
#| three
#| f/ur

#### printf 'one\ntwo\nthree\nfour\n' | sed '/one/!d'
printf 'one\ntwo\nthree\nfour\n' | sed '/one/!d'
#| one

#### printf 'one\ntwo\nthree\nfour\n' | sed '2,$s/o/0/'
printf 'one\ntwo\nthree\nfour\n' | sed '2,$s/o/0/'
#| one
#| tw0
#| three
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed '/t/{s/t/T/;s/e/E/g}'
printf 'one\ntwo\nthree\nfour\n' | sed '/t/{s/t/T/;s/e/E/g}'
#| one
#| Two
#| ThrEE
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed ':a;s/o/0/;ta'
printf 'one\ntwo\nthree\nfour\n' | sed ':a;s/o/0/;ta'
#| 0ne
#| tw0
#| three
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed '/two/{n;d}'
printf 'one\ntwo\nthree\nfour\n' | sed '/two/{n;d}'
#| one
#| two
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed -s 1d
printf 'one\ntwo\nthree\nfour\n' | sed -s 1d
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/o/0/w out' ; cat out
printf 'one\ntwo\nthree\nfour\n' | sed 's/o/0/w out' ; cat out
#| 0ne
#| tw0
#| three
#| f0ur
#| 0ne
#| tw0
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed -n '/two/w out' -e p ; cat out
printf 'one\ntwo\nthree\nfour\n' | sed -n '/two/w out' -e p ; cat out
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed 'l'
printf 'one\ntwo\nthree\nfour\n' | sed 'l'
#| one$
#| one
#| two$
#| two
#| three$
#| three
#| four$
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed -n 'l'
printf 'one\ntwo\nthree\nfour\n' | sed -n 'l'
#| one$
#| two$
#| three$
#| four$

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/two/a\nb/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/two/a\nb/'
#| one
#| a
#| b
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/e/\t/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/e/\t/'
#| on	
#| two
#| thr	e
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '/two/r /dev/null'
printf 'one\ntwo\nthree\nfour\n' | sed '/two/r /dev/null'
#| one
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/x*/-/g'
printf 'one\ntwo\nthree\nfour\n' | sed 's/x*/-/g'
#| -o-n-e-
#| -t-w-o-
#| -t-h-r-e-e-
#| -f-o-u-r-

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/o$/0/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/o$/0/'
#| one
#| tw0
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/O/0/I'
printf 'one\ntwo\nthree\nfour\n' | sed 's/O/0/I'
#| 0ne
#| tw0
#| three
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/O/0/Ig'
printf 'one\ntwo\nthree\nfour\n' | sed 's/O/0/Ig'
#| 0ne
#| tw0
#| three
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed '1,2!d'
printf 'one\ntwo\nthree\nfour\n' | sed '1,2!d'
#| one
#| two

#### printf 'one\ntwo\nthree\nfour\n' | sed '0,/o/d'
printf 'one\ntwo\nthree\nfour\n' | sed '0,/o/d'
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '2,1p'
printf 'one\ntwo\nthree\nfour\n' | sed '2,1p'
#| one
#| two
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '/one/,2d'
printf 'one\ntwo\nthree\nfour\n' | sed '/one/,2d'
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '2,/three/d'
printf 'one\ntwo\nthree\nfour\n' | sed '2,/three/d'
#| one
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 'x;p;x'
printf 'one\ntwo\nthree\nfour\n' | sed 'x;p;x'
#|
#| one
#|
#| two
#|
#| three
#|
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '1h;2G'
printf 'one\ntwo\nthree\nfour\n' | sed '1h;2G'
#| one
#| two
#| one
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 'D'
printf 'one\ntwo\nthree\nfour\n' | sed 'D'

#### printf 'one\ntwo\nthree\nfour\n' | sed '$!N;P;D'
printf 'one\ntwo\nthree\nfour\n' | sed '$!N;P;D'
#| one
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/o/&&/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/o/&&/'
#| oone
#| twoo
#| three
#| foour

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/o/\&/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/o/\&/'
#| &ne
#| tw&
#| three
#| f&ur

#### printf 'one\ntwo\nthree\nfour\n' | sed -z 's/\n/,/g'
printf 'one\ntwo\nthree\nfour\n' | sed -z 's/\n/,/g'
#|- one,two,three,four,

#### printf 'one\ntwo\nthree\nfour\n' | sed --expression=2d
printf 'one\ntwo\nthree\nfour\n' | sed --expression=2d
#| one
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed -n -e 2p -e 3p
printf 'one\ntwo\nthree\nfour\n' | sed -n -e 2p -e 3p
#| two
#| three

#### printf 'one\ntwo\nthree\nfour\n' | sed '/o/s//0/'
printf 'one\ntwo\nthree\nfour\n' | sed '/o/s//0/'
#| 0ne
#| tw0
#| three
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/a/b/e' < /dev/null
printf 'one\ntwo\nthree\nfour\n' | sed 's/a/b/e' < /dev/null

#### printf 'one\ntwo\nthree\nfour\n' | sed '#comment' -e 1d
printf 'one\ntwo\nthree\nfour\n' | sed '#comment' -e 1d
#? 2

#### printf 'one\ntwo\nthree\nfour\n' | sed '3s/e*$/!/'
printf 'one\ntwo\nthree\nfour\n' | sed '3s/e*$/!/'
#| one
#| two
#| thr!
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 'b;d'
printf 'one\ntwo\nthree\nfour\n' | sed 'b;d'
#| one
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 'bend;d;:end'
printf 'one\ntwo\nthree\nfour\n' | sed 'bend;d;:end'
#| one
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 't;s/o/0/'
printf 'one\ntwo\nthree\nfour\n' | sed 't;s/o/0/'
#| 0ne
#| tw0
#| three
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/o/0/p'
printf 'one\ntwo\nthree\nfour\n' | sed 's/o/0/p'
#| 0ne
#| 0ne
#| tw0
#| tw0
#| three
#| f0ur
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed -n 's/o/0/p'
printf 'one\ntwo\nthree\nfour\n' | sed -n 's/o/0/p'
#| 0ne
#| tw0
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed -n 's/o/0/gp'
printf 'one\ntwo\nthree\nfour\n' | sed -n 's/o/0/gp'
#| 0ne
#| tw0
#| f0ur

#### printf 'one\ntwo\nthree\nfour\n' | sed '$!d'
printf 'one\ntwo\nthree\nfour\n' | sed '$!d'
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed '/^t/d'
printf 'one\ntwo\nthree\nfour\n' | sed '/^t/d'
#| one
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/[^o]//g'
printf 'one\ntwo\nthree\nfour\n' | sed 's/[^o]//g'
#| o
#| o
#|
#| o

#### printf 'one\ntwo\nthree\nfour\n' | sed '10q'
printf 'one\ntwo\nthree\nfour\n' | sed '10q'
#| one
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/one/1/;t;s/$/!/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/one/1/;t;s/$/!/'
#| 1
#| two!
#| three!
#| four!

#### printf 'one\ntwo\nthree\nfour\n' | sed -E 's/o|e/_/g'
printf 'one\ntwo\nthree\nfour\n' | sed -E 's/o|e/_/g'
#| _n_
#| tw_
#| thr__
#| f_ur

#### printf 'one\ntwo\nthree\nfour\n' | sed '/t..ee/d'
printf 'one\ntwo\nthree\nfour\n' | sed '/t..ee/d'
#| one
#| two
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed --quiet 1p
printf 'one\ntwo\nthree\nfour\n' | sed --quiet 1p
#| one

#### printf 'one\ntwo\nthree\nfour\n' | sed -E '/^(one|two)$/d'
printf 'one\ntwo\nthree\nfour\n' | sed -E '/^(one|two)$/d'
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed k
printf 'one\ntwo\nthree\nfour\n' | sed k
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/a'
printf 'one\ntwo\nthree\nfour\n' | sed 's/a'
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/(/x/'
printf 'one\ntwo\nthree\nfour\n' | sed 's/(/x/'
#| one
#| two
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed -E 's/(/x/'
printf 'one\ntwo\nthree\nfour\n' | sed -E 's/(/x/'
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed 'y/a/bc/'
printf 'one\ntwo\nthree\nfour\n' | sed 'y/a/bc/'
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed '1,d'
printf 'one\ntwo\nthree\nfour\n' | sed '1,d'
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed '}'
printf 'one\ntwo\nthree\nfour\n' | sed '}'
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed '{p'
printf 'one\ntwo\nthree\nfour\n' | sed '{p'
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed --bad
printf 'one\ntwo\nthree\nfour\n' | sed --bad
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed 's/a/b/q'
printf 'one\ntwo\nthree\nfour\n' | sed 's/a/b/q'
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed -n
printf 'one\ntwo\nthree\nfour\n' | sed -n
#? 1

#### printf 'one\ntwo\nthree\nfour\n' | sed '5!s/$/./'
printf 'one\ntwo\nthree\nfour\n' | sed '5!s/$/./'
#| one.
#| two.
#| three.
#| four.

#### printf 'one\ntwo\nthree\nfour\n' | sed 'a\'$'\n''text'
printf 'one\ntwo\nthree\nfour\n' | sed 'a\'$'\n''text'
#| one
#| text
#| two
#| text
#| three
#| text
#| four
#| text

#### printf 'one\ntwo\nthree\nfour\n' | sed '1{h;d};G'
printf 'one\ntwo\nthree\nfour\n' | sed '1{h;d};G'
#| two
#| one
#| three
#| one
#| four
#| one

#### printf 'one\ntwo\nthree\nfour\n' | sed '/three/e echo hi'
printf 'one\ntwo\nthree\nfour\n' | sed '/three/e echo hi'
#| one
#| two
#| hi
#| three
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 'F'
printf 'one\ntwo\nthree\nfour\n' | sed 'F'
#| -
#| one
#| -
#| two
#| -
#| three
#| -
#| four

#### printf 'one\ntwo\nthree\nfour\n' | sed 'z;s/^$/empty/'
printf 'one\ntwo\nthree\nfour\n' | sed 'z;s/^$/empty/'
#| empty
#| empty
#| empty
#| empty

#### printf 'one\ntwo\nthree\nfour\n' | sed '2!{s/^/> /}'
printf 'one\ntwo\nthree\nfour\n' | sed '2!{s/^/> /}'
#| > one
#| two
#| > three
#| > four

#### printf 'a\nb\n' > f; sed -i s/a/x/ f; cat f
printf 'a\nb\n' > f; sed -i s/a/x/ f; cat f
#| x
#| b

#### printf 'a\n' > f; sed -i.bak s/a/x/ f; cat f f.bak
printf 'a\n' > f; sed -i.bak s/a/x/ f; cat f f.bak
#| x
#| a

#### sed p missing; echo $?
sed p missing; echo $?
#| 2

#### printf 'a\n' > f; printf 'b\n' > g; sed -n '$p' f g
printf 'a\n' > f; printf 'b\n' > g; sed -n '$p' f g
#| b

#### printf 'a\n' > f; printf 'b\n' > g; sed -s -n '$p' f g
printf 'a\n' > f; printf 'b\n' > g; sed -s -n '$p' f g
#| a
#| b

#### printf 's/a/b/\n' > s; echo a | sed -f s
printf 's/a/b/\n' > s; echo a | sed -f s
#| b

#### printf 'no newline' | sed s/no/yes/
printf 'no newline' | sed s/no/yes/
#|- yes newline

#### printf 'a\nb' | sed -n '$p'
printf 'a\nb' | sed -n '$p'
#|- b

#### printf 'x\n' > r; printf 'a\nb\n' | sed '1r r'
printf 'x\n' > r; printf 'a\nb\n' | sed '1r r'
#| a
#| x
#| b

#### printf 'a\nb\n' | sed '/a/R /dev/null'
printf 'a\nb\n' | sed '/a/R /dev/null'
#| a
#| b

#### sed
sed
#? 1

#### printf 'a b  c\n' | sed -E 's/ +/,/g'
printf 'a b  c\n' | sed -E 's/ +/,/g'
#| a,b,c

#### echo 'path/to' | sed 's/\//:/g'
echo 'path/to' | sed 's/\//:/g'
#| path:to

#### echo abc | sed 's/b*/X/2'
echo abc | sed 's/b*/X/2'
#| aXc

#### echo hello | sed -E 's/(l+)/[\1]/'
echo hello | sed -E 's/(l+)/[\1]/'
#| he[ll]o

#### echo aaa | sed 's/a/b/2g'
echo aaa | sed 's/a/b/2g'
#| abb

#### printf '1\n2\n3\n4\n5\n' | sed -n '2{p;q}'
printf '1\n2\n3\n4\n5\n' | sed -n '2{p;q}'
#| 2

#### printf 'k=v\n' | sed -n 's/^k=//p'
printf 'k=v\n' | sed -n 's/^k=//p'
#| v

#### echo foo.bar | sed 's/\./_/'
echo foo.bar | sed 's/\./_/'
#| foo_bar

#### echo 'a.b' | sed 's/[.]/-/'
echo 'a.b' | sed 's/[.]/-/'
#| a-b

#### echo 'tab' | sed 's/a/\x41/'
echo 'tab' | sed 's/a/\x41/'
#| tAb

#### seq 5 | sed -n '/2/,/4/{//!p}'
seq 5 | sed -n '/2/,/4/{//!p}'
#| 3

#### seq 3 | sed '1!{h;d}'
seq 3 | sed '1!{h;d}'
#| 1

#### seq 6 | sed 'N;N;s/\n/,/g'
seq 6 | sed 'N;N;s/\n/,/g'
#| 1,2,3
#| 4,5,6

#### seq 5 | sed '$!{h;d};x;G'
seq 5 | sed '$!{h;d};x;G'
#| 4
#| 5

