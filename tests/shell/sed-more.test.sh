#### sed 1: seq 5   sed -n  2 4p $
seq 5 | sed -n '2,4p;$='
seq 5 | sed '2~2d'
seq 5 | sed '0~2d'
seq 5 | sed -n '2,+1p'
seq 9 | sed -n '2,~4p'
seq 5 | sed '/2/,/4/d'
seq 5 | sed '0,/1/d'
seq 5 | sed '$!d'
seq 5 | sed -n '/3/!p'
#| 2
#| 3
#| 4
#| 5
#| 1
#| 3
#| 5
#| 1
#| 3
#| 5
#| 2
#| 3
#| 2
#| 3
#| 4
#| 1
#| 5
#| 2
#| 3
#| 4
#| 5
#| 5
#| 1
#| 2
#| 4
#| 5

#### sed 2: echo hello   sed  s l L  s l M 2  s h U  s e L 2 1  y o 0
echo hello | sed 's/l/L/; s/l/M/2; s/h/\U&/; s/\(e\)\(L\)/\2\1/; y/o/0/'
echo hello | sed -E 's/(h)(e)/\2\1/; s/l+/<&>/'
echo aaa | sed 's/a/b/2g'
echo abc | sed 's/b/\n/'
echo 'a/b' | sed 's|/|-|; s,b,c,'
echo Hi | sed 's/h/x/I'
echo 'foo bar' | sed -E 's/\w+/\u&/g; s/(\w+) (\w+)/\U\1\E \l\2/'
#| HLel0
#| eh<ll>o
#| abb
#| a
#| c
#| a-c
#| xi
#| FOO bar

#### sed 3: printf  a nb nc nd n    sed  N s n -
printf 'a\nb\nc\nd\n' | sed 'N;s/\n/-/'
printf 'a\nb\nc\n' | sed '$!N;P;D'
printf 'a\nb\nc\n' | sed -n 'H;${x;s/\n/,/g;p}'
printf 'a\nb\n' | sed 'G'
printf 'a\nb\n' | sed -n '1h;2{x;p}'
printf '1\n2\n3\n' | sed '1!G;h;$!d'
printf 'a\nb\n' | sed 'n;d'
#| a-b
#| c-d
#| a
#| b
#| c
#| ,a,b,c
#| a
#|
#| b
#|
#| a
#| 3
#| 2
#| 1
#| a

#### sed 4: printf  aaa n    sed  x s a b tx
printf 'aaa\n' | sed ':x;s/a/b/;tx'
printf 'a\nb\n' | sed '/a/b end;s/$/!/;:end'
printf 'a\n' | sed 's/x/y/;T;s/a/z/'
seq 5 | sed 3q
seq 5 | sed -n '3{p;q5}'
echo $?
seq 5 | sed 3Q
seq 3 | sed '2{=;l;z}'
printf 'a\tb\\\001\303\251\n' | sed -n l
printf '%080d\n' 0 | sed -n 'l 20'
#| bbb
#| a
#| b!
#| a
#| 1
#| 2
#| 3
#| 3
#| 5
#| 1
#| 2
#| 1
#| 2
#| 2$
#|
#| 3
#| a\tb\\\001\303\251$
#| 0000000000000000000\
#| 0000000000000000000\
#| 0000000000000000000\
#| 0000000000000000000\
#| 0000$

#### sed 5: echo a   sed  s a echo hi e
echo a | sed 's/a/echo hi/e'
echo 'echo run' | sed e
echo x | sed '1e echo before'
printf 'a\0b\0' | sed -z 's/a/x/' | tr '\0' .
echo
printf 'a\n' | sed -u p
printf 'abc\n' | sed --posix 's/b/x/'
printf '#n\np\n' > n
echo z | sed -f n
echo 'a.b*c[d' | sed 's/\./-/; s/\*/+/; s/\[/(/'
echo 'a+b' | sed 's/a\+b/x/; s/+/P/'
echo ab | sed 's/a\|b/x/g; s/x\{2\}/y/; s/y\?/z/'
#| hi
#| run
#| before
#| x
#| x.b.
#| a
#| a
#| axc
#| z
#| a-b+c(d
#| aPb
#| z

#### sed 7: sed 2 1   sed -n 1p   cut -c1-12
sed 2>&1 | sed -n 1p | cut -c1-12
sed p missing 2>&1
echo $?
sed --nope 2>&1 | sed -n 1p
echo $?
sed -i s/a/b/ none 2>&1
echo $?
sed -n 2>&1 | sed -n 1p | cut -c1-12
sed -E 's/(/x/' <<< a 2>&1
sed 's/a/b/' --in-place=.o none 2>&1
sed --help | sed -n 1p | cut -c1-6
#| Usage: sed [
#| sed: can't read missing: No such file or directory
#| 2
#| sed: unrecognized option '--nope'
#| 0
#| sed: can't read none: No such file or directory
#| 2
#| Usage: sed [
#| sed: -e expression #1, char 6: Unmatched ( or \(
#| sed: can't read none: No such file or directory
#| Usage:

#### sed a, i, c with several lines
printf 'a\n' | sed 'a\
x\
y'
printf 'a\n' | sed 'i before'
printf 'a\nb\n' | sed '1c changed'
printf 'a\nb\nc\n' | sed '1,2c\both'
printf 'a\n' | sed '$a end'
printf 'a\n' | sed -e 'a one' -e 'a two'
printf 'a' | sed 'a x'
#| a
#| x
#| y
#| before
#| a
#| changed
#| b
#| both
#| c
#| a
#| end
#| a
#| one
#| two
#| a
#| x

#### sed reads and writes files
echo x > f; echo y > g
sed -i 's/x/z/' f; cat f
sed -i.bak 's/z/w/' f; cat f f.bak
sed -n 'wout
p' g; cat out
sed 'r f' g
printf 'l1\nl2\n' > r; printf '1\n2\n3\n' | sed 'R r'
sed -s -n '$p;1F' f g
sed -n '$=' f g
echo a | sed 'w /dev/stdout'
printf 'a\n' | sed 's/a/b/w out2'; cat out2
echo 'p;p' > s; echo x | sed -n -f s
sed --expression='s/x/1/' --quiet -e p <<< x
#| z
#| w
#| z
#| y
#| y
#| y
#| w
#| 1
#| l1
#| 2
#| l2
#| 3
#| w
#| f
#| y
#| g
#| 2
#| a
#| a
#| b
#| b
#| x
#| x
#| 1

#### sed expressions
echo abc | sed 's/[[:alpha:]]/x/2; s/[^x]$/y/; s/^./z/'
echo 'a b' | sed 's/\s/_/; s/\bb/c/; s/\</</; s/\W/W/'
echo "x'y" | sed "s/'/\"/"
echo aXb | sed 's/X/\x41/; s/\x41/\o102/; s/B/\d067/; s/C/\t/' | od -An -c
echo 'a&b' | sed 's/&/\&amp;/'
printf 'a\nb\n' | sed 's/a/1\
2/'
echo ab | sed 's/a*/x/g'; echo baac | sed 's/a*/x/g'
echo hello | sed 's/\(l\)\1/LL/'; echo aa | sed -E 's/(a)\1/b/'
printf 'one\ntwo\n' | sed 's/^/> /;s/$/ </'
printf 'a\nb\n' | sed -E ':a;N;$!ba;s/\n/+/g'
#| zxy
#| Wa_b
#| x"y
#|    a  \t   b  \n
#| a&amp;b
#| 1
#| 2
#| b
#| xbx
#| xbxcx
#| heLLo
#| b
#| > one <
#| > two <
#| a+b
