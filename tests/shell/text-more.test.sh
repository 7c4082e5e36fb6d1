#### text 1: printf  3 c n1 a n2 b n    f
printf '3 c\n1 a\n2 b\n' > f
sort -k2 f
sort -k1,1n -r f
sort -t' ' -k2r f
sort -u f f | wc -l
sort -c f
echo $?
sort -C f
echo $?
sort -o out f
cat out
sort -m f out | wc -l
printf '10\n9\n1e2\n' | sort -g
printf '1K\n2M\n3\n' | sort -h
printf 'Feb\nJan\n' | sort -M
printf 'v1.10\nv1.9\n' | sort -V
printf 'b\nA\na\n' | sort -f
printf ' b\na\n' | sort -b
printf 'a-b\nab\n' | sort -d
printf 'b\0a\0' | sort -z | tr '\0' ,
printf '1\n1\n2\n' | sort -n -u
printf 'a 2\na 1\n' | sort -s -k1,1
printf '2\n1\n' | sort --parallel=2 -S 1M
printf 'a\nb\n' | sort -R | wc -l
sort -k 1.2,1.3 f
sort -k1,1 -k2,2nr f
sort -n -k 2 -t: /dev/null
#| 1 a
#| 2 b
#| 3 c
#| 1 a
#| 2 b
#| 3 c
#| 3 c
#| 2 b
#| 1 a
#| 3
#| 1
#| 1
#| 1 a
#| 2 b
#| 3 c
#| 6
#| 9
#| 10
#| 1e2
#| 3
#| 1K
#| 2M
#| Jan
#| Feb
#| v1.9
#| v1.10
#| A
#| a
#| b
#| a
#|  b
#| a-b
#| ab
#| a,b,1
#| 2
#| a 2
#| a 1
#| 1
#| 2
#| 2
#| 1 a
#| 2 b
#| 3 c
#| 1 a
#| 2 b
#| 3 c

#### text 2: printf  a na nb nc nc n    f
printf 'a\na\nb\nc\nc\n' > f
uniq f
uniq -c f
uniq -d f
uniq -u f
uniq -D f
uniq -i f
uniq -f 1 f
uniq -s 1 f
uniq -w 1 f
uniq --group f
uniq --group=both f
uniq -D --all-repeated=separate f
uniq f out
cat out
uniq -z f | wc -c
uniq -c -D f 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p
#| a
#| b
#| c
#|       2 a
#|       1 b
#|       2 c
#| a
#| c
#| b
#| a
#| a
#| c
#| c
#| a
#| b
#| c
#| a
#| a
#| a
#| b
#| c
#| a
#| a
#|
#| b
#|
#| c
#| c
#|
#| a
#| a
#|
#| b
#|
#| c
#| c
#|
#| a
#| a
#|
#| c
#| c
#| a
#| b
#| c
#| 11
#| uniq: printing all duplicated lines and repeat counts is meaningless

#### text 3: printf  a b c n    cut -d    -f2
printf 'a b c\n' | cut -d' ' -f2
printf 'a:b:c\n' | cut -d: -f1,3
printf 'a:b:c\n' | cut -d: -f2- --output-delimiter=+
printf 'abcdef\n' | cut -c2-4
printf 'abcdef\n' | cut -b1,3-
printf 'x\n' | cut -d: -f2
printf 'x\n' | cut -s -d: -f2
printf 'a:b:c\n' | cut --complement -d: -f2
printf 'a\0b\0' | cut -z -c1 | tr '\0' .
printf 'éa\n' | cut -c1 | od -An -c
cut 2>&1 | sed -n 1p
cut -d ab -f1 2>&1 | sed -n 1p
cut -f '' 2>&1 | sed -n 1p
cut -f 1- -s 2>&1 < /dev/null
cut -c1 -d: 2>&1 | sed -n 1p
cut -c1 -s 2>&1 | sed -n 1p
cut -f -  2>&1 | sed -n 1p
#| b
#| a:c
#| b+c
#| bcd
#| acdef
#| x
#| a:c
#| a.b. 303  \n
#| cut: you must specify a list of bytes, characters, or fields
#| cut: the delimiter must be a single character
#| cut: fields are numbered from 1
#| cut: an input delimiter may be specified only when operating on fields
#| cut: suppressing non-delimited lines makes sense
#| cut: invalid range with no endpoint: -

#### text 4: echo hello   tr a-y b-z
echo hello | tr a-y b-z
echo hello | tr -d l
echo hello | tr -s l
echo hello | tr -c 'a-z\n' X
echo hello | tr -cd lo
echo
echo abc | tr abc x
echo abc | tr -t abc x
echo 'a b' | tr '[:lower:]' '[:upper:]'
echo a | tr '\141' '\n' | wc -l
echo 'a-b' | tr - _
echo aaa | tr 'a' '[x*2]'
tr 2>&1 | sed -n 1p
tr a 2>&1 < /dev/null | sed "s/[‘’]/'/g" | sed -n 1p
tr z-a x 2>&1 < /dev/null | sed "s/[‘’]/'/g"
tr '[:nope:]' x 2>&1 < /dev/null | sed "s/[‘’]/'/g"
tr -d a b 2>&1 < /dev/null | sed "s/[‘’]/'/g" | sed -n 1p
echo aabb | tr -ds a b
echo 'x[y' | tr '[' '('
tr 'a' '' 2>&1 < /dev/null | sed "s/[‘’]/'/g"
echo ab | tr '[:alpha:]' '[:digit:]' 2>&1 | sed "s/[‘’]/'/g"
echo a1 | tr '[=a=]' b
echo é | tr -d a
#| ifmmp
#| heo
#| helo
#| hello
#| llo
#| xxx
#| xbc
#| A B
#| 2
#| a_b
#| xxx
#| tr: missing operand
#| tr: missing operand after 'a'
#| tr: range-endpoints of 'z-a' are in reverse collating sequence order
#| tr: invalid character class 'nope'
#| tr: extra operand 'b'
#| b
#| x(y
#| tr: when not truncating set1, string2 must be non-empty
#| tr: when translating, the only character classes that may appear in
#| string2 are 'upper' and 'lower'
#| b1
#| é

#### text 5: printf  a nb nc n    nl
printf 'a\nb\nc\n' | nl
printf 'a\n\nb\n' | nl -ba
printf 'a\n' | nl -n ln -w 3 -s:
printf 'a\nb\n' | nl -v 5 -i 2
printf 'a\n' | nl -nrz
printf '\\:\\:\\:\nh\n\\:\\:\nb\n\\:\nf\n' | nl -h a -f a
printf 'x\ny\n' | nl -bp^x
printf 'a\nb\n' | paste -s
printf 'a\nb\nc\n' | paste -d, - -
printf '1\n2\n' > f
printf 'a\n' > g
paste f g
paste -d '\0' f g
paste -s -d '+\n' f
paste -z f g | tr '\0' Z
paste missing 2>&1
printf 'k 1\nl 2\n' > a
printf 'k x\nm y\n' > b
join a b
join -a1 -e - -o 0,1.2,2.2 a b
join -v2 a b
join -1 2 -2 2 a b
join -t' ' -j1 a b
join -i a b
join --header a b
join -o auto -a2 a b
join missing a 2>&1
echo $?
comm a b
comm -12 a b
comm -3 a b
comm --total a b
comm --output-delimiter=, a b
comm -z a b | tr '\0' Z | head -c 20
printf 'b\na\n' | comm --nocheck-order - a > /dev/null
echo $?
#|      1	a
#|      2	b
#|      3	c
#|      1	a
#|      2	
#|      3	b
#| 1  :a
#|      5	a
#|      7	b
#| 000001	a
#|
#|      1	h
#|
#|      1	b
#|
#|      1	f
#|      1	x
#|        y
#| a	b
#| a,b
#| c,
#| 1	a
#| 2	
#| 1a
#| 2
#| 1+2
#| 1
#| 2
#| 	a
#| Zpaste: missing: No such file or directory
#| k 1 x
#| k 1 x
#| l 2 -
#| m y
#| k 1 x
#| k 1 x
#| k 1 x
#| k 1 x
#| m  y
#| join: missing: No such file or directory
#| 1
#| k 1
#| 	k x
#| l 2
#| 	m y
#| k 1
#| 	k x
#| l 2
#| 	m y
#| k 1
#| 	k x
#| l 2
#| 	m y
#| 2	2	0	total
#| k 1
#| ,k x
#| l 2
#| ,m y
#| k 1
#| l 2
#| Z	k x
#| m y
#| Z0

#### text 6: printf  abcdefgh n    fold -w 3
printf 'abcdefgh\n' | fold -w 3
printf 'ab cd ef\n' | fold -s -w 4
printf 'a\tb\n' | fold -w 4
printf 'ééé\n' | fold -b -w 2 | wc -l
printf 'a\tb\n' | expand
printf 'a\tb\n' | expand -t 4
printf '\ta\tb\n' | expand -i
printf 'a\tb\tc\n' | expand -t 2,6
printf '        a\n' | unexpand | od -An -c
printf 'a       b\n' | unexpand -a | od -An -c
printf '    a\n' | unexpand -t 4 --first-only | od -An -c
expand -t 4,2 2>&1 < /dev/null | sed "s/[‘’]/'/g"
expand -t 0 2>&1 < /dev/null | sed "s/[‘’]/'/g"
printf 'abc\n' | rev
printf 'éa\n' | rev
printf 'a b\nc\n' | tac
printf 'a,b,c' | tac -s,
printf 'axbxc' | tac -b -s x
echo
printf 'a1b2' | tac -r -s '[0-9]'
echo
seq 3 | shuf | sort
shuf -e a b | sort
shuf -i 1-3 | sort
shuf -n 0 -e a
seq 5 | shuf -n 2 | wc -l
shuf -r -n 3 -e x
shuf -i 1-3 -n 5 | wc -l
shuf -i x 2>&1 | sed "s/[‘’]/'/g"
shuf -e a -o out
cat out
shuf -z -e a | od -An -c
#| abc
#| def
#| gh
#| ab 
#| cd 
#| ef
#| a
#| 	
#| b
#| 3
#| a       b
#| a   b
#|         a	b
#| a b   c
#|   \t   a  \n
#|    a  \t   b  \n
#|   \t   a  \n
#| expand: tab sizes must be ascending
#| expand: tab size cannot be 0
#| cba
#| aé
#| c
#| a b
#| cb,a,xcxba
#| b2a1
#| 1
#| 2
#| 3
#| a
#| b
#| 1
#| 2
#| 3
#| 2
#| x
#| x
#| x
#| 3
#| shuf: invalid input range: 'x'
#| a
#|    a  \0

#### text 7: printf  abc    od
printf 'abc' | od
printf 'abc' | od -c
printf 'abc' | od -An -tx1
printf 'abc' | od -b
printf 'abcd' | od -x
printf 'abcdefgh' | od -tx4 -An
printf 'abcd' | od -td1 -An
printf 'abcd' | od -ta -An
printf 'abc' | od -Ax -tx1z
printf 'abcdef' | od -j2 -N2 -c
yes | head -c 64 | od
yes | head -c 64 | od -v | wc -l
printf 'abcd' | od -w2 -c
printf '\0\0\200\077' | od -An -tf4
printf 'ab' | od -tu2 -An
printf 'ab' | od -to2 -An
printf 'abc' | xxd
printf 'abc' | xxd -p
printf '616263' | xxd -r -p
printf 'abc' | xxd -r 2>&1
printf 'abc' | xxd | xxd -r
printf 'abc' | xxd -b
printf 'abcdefgh' | xxd -c 4
printf 'abc' | xxd -u
printf 'abc' | xxd -i
printf 'abcdef' | xxd -s 2 -l 2
printf 'abcd' | xxd -g 1
printf 'abcd' | xxd -e
printf 'abc' > f
xxd -i f
printf 'abc' | base64
printf 'YWJj' | base64 -d
echo
seq 30 | base64 -w 20
seq 30 | base64 -w 0 | wc -l
printf 'Y*W' | base64 -d 2>&1
echo $?
printf 'Y*WJj' | base64 -di
echo
printf abc | base32
printf 'MFRGG===' | base32 -d
echo
printf abc | basenc --base16
printf 616263 | basenc --base16 -d 2>&1
echo
printf abc | basenc --base64url
printf abc | basenc --base32hex
base64 -w x 2>&1 < /dev/null | sed "s/[‘’]/'/g"
#| 0000000 061141 000143
#| 0000003
#| 0000000   a   b   c
#| 0000003
#|  61 62 63
#| 0000000 141 142 143
#| 0000003
#| 0000000 6261 6463
#| 0000004
#|  64636261 68676665
#|    97   98   99  100
#|    a   b   c   d
#| 000000 61 62 63                                         >abc<
#| 000003
#| 0000002   c   d
#| 0000004
#| 0000000 005171 005171 005171 005171 005171 005171 005171 005171
#| *
#| 0000100
#| 5
#| 0000000   a   b
#| 0000002   c   d
#| 0000004
#|                1
#|  25185
#|  061141
#| 00000000: 6162 63                                  abc
#| 616263
#| abcabc00000000: 01100001 01100010 01100011                             abc
#| 00000000: 6162 6364  abcd
#| 00000004: 6566 6768  efgh
#| 00000000: 6162 63                                  abc
#|   0x61, 0x62, 0x63
#| 00000002: 6364                                     cd
#| 00000000: 61 62 63 64                                      abcd
#| 00000000: 64636261                             abcd
#| unsigned char f[] = {
#|   0x61, 0x62, 0x63
#| };
#| unsigned int f_len = 3;
#| YWJj
#| abc
#| MQoyCjMKNAo1CjYKNwo4
#| CjkKMTAKMTEKMTIKMTMK
#| MTQKMTUKMTYKMTcKMTgK
#| MTkKMjAKMjEKMjIKMjMK
#| MjQKMjUKMjYKMjcKMjgK
#| MjkKMzAK
#| 0
#| base64: invalid input
#| 1
#| abc
#| MFRGG===
#| abc
#| 616263
#| abc
#| YWJj
#| C5H66===
#| base64: invalid wrap size: 'x'

#### text 8: seq 3   xargs
seq 3 | xargs
seq 4 | xargs -n 2
seq 3 | xargs -I{} echo a{}
printf 'a b\0c' | xargs -0 -n1 echo
printf 'a,b' | xargs -d,
echo "'a b' c\\ d" | xargs -n1
seq 2 | xargs -t echo 2>&1
echo | xargs echo x
printf '' | xargs -r echo x
seq 3 | xargs -L 1 echo l
seq 2 | xargs -I% sh -c 'exit %'
echo $?
echo $?
echo a | xargs sh -c 'exit 255' 2>&1
echo $?
seq 3 | xargs -P 2 -n 1 echo | sort
echo $?
seq 5 | xargs -s 20 echo 2>&1 | sed -n 1p
echo 'a END b' | xargs -E END
printf 'x y' > f
xargs -a f echo
seq 3 | xargs --max-args=2 --verbose 2>/dev/null
xargs -n x 2>&1 < /dev/null | sed "s/[‘’]/'/g" | sed -n 1p
xargs --nope 2>&1 < /dev/null | sed -n 1p
seq 3 | xargs -x -n 1 -s 5 2>&1 | sed -n 1p
#| 1 2 3
#| 1 2
#| 3 4
#| a1
#| a2
#| a3
#| a b
#| c
#| a b
#| a b
#| c d
#| echo 1 2
#| 1 2
#| x
#| l 1
#| l 2
#| l 3
#| 123
#| 0
#| xargs: sh: exited with status 255; aborting
#| 124
#| 1
#| 2
#| 3
#| 0
#| 1 2 3 4 5
#| a
#| x y
#| 1 2
#| 3
#| xargs: invalid number "x" for -n option
#| xargs: unrecognized option '--nope'
#| xargs: argument line too long
