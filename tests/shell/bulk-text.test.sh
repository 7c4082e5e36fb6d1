#### sort by two keys, the second backwards as a number
seq 1 300 | awk '{print $1 % 7, $1 % 31, $1}' | sort -k1,1 -k2,2nr | md5sum
#| 1c977a579337839aaba556b2520d4370  -

#### sort by a text and a human number
seq 1 300 | awk '{print "k" $1 % 5, $1 * 37 % 1000 substr("KMG", $1 % 3 + 1, 1)}' | sort -k1,1 -k2,2h | md5sum
#| d21f5ccc6c3b30ca905a54c39c0772d6  -

#### human numbers with signs and fractions
printf '%s\n' 1K -1K 1.5K 2 -2 1M 0 0K -1M 1023 1G .5K | sort -h
#| -1M
#| -1K
#| -2
#| 0
#| 0K
#| 2
#| 1023
#| .5K
#| 1K
#| 1.5K
#| 1M
#| 1G

#### folded and dictionary order
printf '%s\n' b-a ba Ba 'b a' B-a bA aB Ab abcdefghij abcdefghiJ abcdefghi | sort -f
printf '%s\n' b-a ba Ba 'b a' B-a bA -ab a-b ab- | sort -d
printf '%s\n' b-a ba Ba 'b a' B-a bA -ab a-b ab- | sort -df
#| Ab
#| aB
#| abcdefghi
#| abcdefghiJ
#| abcdefghij
#| b a
#| B-a
#| b-a
#| Ba
#| bA
#| ba
#| B-a
#| Ba
#| -ab
#| a-b
#| ab-
#| b a
#| bA
#| b-a
#| ba
#| -ab
#| a-b
#| ab-
#| b a
#| B-a
#| Ba
#| b-a
#| bA
#| ba

#### numbers that no double holds
printf '%s\n' 12345678901234567890 12345678901234567891 9 12345678901234567889 | sort -n
#| 9
#| 12345678901234567889
#| 12345678901234567890
#| 12345678901234567891

#### keys with zero bytes
printf 'a\0b x\na y\na\0a z\n' | sort -k1,1 | od -An -c
#|    a       y  \n   a  \0   a       z  \n   a  \0   b       x  \n

#### unique by a key keeps the first
printf '%s\n' 'b 1' 'a 2' 'b 3' 'a 4' | sort -u -k1,1
#| a 2
#| b 1

#### unique by number
printf '%s\n' 1 01 2 1.0 002 3 | sort -nu
#| 1
#| 2
#| 3

#### stable
printf '%s\n' 'b 1' 'a 2' 'b 0' 'a 1' | sort -s -k1,1
#| a 2
#| a 1
#| b 1
#| b 0

#### reverse by key and as a whole
printf '%s\n' 'b 1' 'a 2' 'b 0' 'a 1' | sort -k1,1r
printf '%s\n' 'b 1' 'a 2' 'b 0' 'a 1' | sort -r -k1,1
#| b 0
#| b 1
#| a 1
#| a 2
#| b 1
#| b 0
#| a 2
#| a 1

#### sort compares beyond eight bytes
printf '%s\n' abcdefghij abcdefghi abcdefgh abcdefghia abcdefg | sort
printf '%s\n' 'abcdefghij 1' 'abcdefghi 2' 'abcdefgh 3' | sort -k1,1
#| abcdefg
#| abcdefgh
#| abcdefghi
#| abcdefghia
#| abcdefghij
#| abcdefgh 3
#| abcdefghi 2
#| abcdefghij 1

#### grep with a repetition over many lines
seq 1 2000 | grep -c '1.*2'
seq 1 2000 | grep -cE '(12|34).*5'
seq 1 2000 | grep -cE '^(1|2)[0-9]$'
seq 1 2000 | grep -cv '[13579]$'
#| 299
#| 23
#| 20
#| 1000

#### grep: what a match must contain
seq 1 2000 | grep -c '12[0-9]'
seq 1 2000 | grep -c '^12'
seq 1 2000 | grep -c '^12*3'
seq 1 2000 | grep -c '12\{1,2\}3'
seq 1 2000 | grep -c 'a\|12'
seq 1 2000 | grep -cx '12.'
seq 1 2000 | grep -n '99[0-5]' | tail -n 2
#| 120
#| 111
#| 123
#| 13
#| 139
#| 10
#| 1994:1994
#| 1995:1995

#### grep at line starts across blocks
seq 1 30000 | grep '^2999'
seq 1 30000 | grep -c '^3'
#| 2999
#| 29990
#| 29991
#| 29992
#| 29993
#| 29994
#| 29995
#| 29996
#| 29997
#| 29998
#| 29999
#| 1112

#### grep without case
printf '%s\n' ABC abc aBd xABCx | grep -i 'ab[cd]'
yes 'Hello World 42' | head -n 200 | grep -ic 'hello.*w'
#| ABC
#| abc
#| aBd
#| xABCx
#| 200

#### grep and text that is not ASCII
for i in $(seq 1 50); do printf 'naïve café %d\nplain %d\n' $i $i; done | grep -c 'caf.'
for i in $(seq 1 50); do printf 'naïve café %d\nplain %d\n' $i $i; done | grep -c 'caf. [0-9]*5$'
for i in $(seq 1 50); do printf 'ÄB %d\n' $i; done | grep -ic 'äb.*1'
#| 50
#| 5
#| 14

#### grep: lines longer than most
for i in $(seq 1 50); do printf '%0300d end\n%d\n' $i $i; done | grep -c '1.*end'
#| 14

#### grep: a class that could cross lines
printf 'a\nb\na b\n' | grep -c 'a[^x]*b'
for i in $(seq 1 60); do printf 'a\nb\na b\n'; done | grep -c 'a[^x]*b'
#| 1
#| 60

#### grep: words and only matches
yes 'foo foobar bar_foo foo' | head -n 100 | grep -ow 'foo' | wc -l
#| 200

#### grep: after and before with numbers
seq 1 500 | grep -n -A1 -B1 '25[0]'
#| 249-249
#| 250:250
#| 251-251

#### grep: backtracking that would explode
for i in $(seq 1 40); do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done | grep -cE 'a?a?a?a*[b]'
for i in $(seq 1 100); do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done | grep -cE '[a-z]*[bc]'
#| 0
#| 0
#? 1

#### awk: arrays that grow, shrink and grow
awk 'BEGIN { for (i = 0; i < 5000; i++) a[i] = i; for (i = 0; i < 5000; i += 3) delete a[i]; for (i = 0; i < 100; i++) a["k" i] = i; n = 0; for (k in a) n++; s = 0; for (k in a) s += a[k]; print n, length(a), s; print (3 in a), (4 in a), ("k5" in a), ("k500" in a) }'
#| 3433 3433 8336617
#| 0 1 1 0

#### awk: delete the whole and fill again
awk 'BEGIN { for (r = 0; r < 3; r++) { delete a; for (i = 0; i < 50; i++) a[i] = r; } print length(a), a[49]; delete a; print length(a) }'
#| 50 2
#| 0

#### awk: integers come in order
awk 'BEGIN { for (i = 20; i > 0; i--) a[i]; for (k in a) printf "%s ", k; print "" }'
#| 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 

#### awk: elements are references while others come
awk 'BEGIN { a[1] = 5; a[1] += (a[2] = 7) + (a[3] = 8); print a[1]; x["a"] = x["b"] = x["c"]++ + 1; print x["a"], x["b"], x["c"] }'
#| 20
#| 1 1 1

#### awk: arrays of arrays
awk 'BEGIN { for (i = 0; i < 30; i++) a[i % 3][i] = i; for (i = 0; i < 3; i++) print length(a[i]), a[i][i + 27]; delete a[1]; print length(a) }'
#| 10 27
#| 10 28
#| 10 29
#| 2

#### awk: an element removed while its key is looked at
awk 'BEGIN { a["x"] = 1; a["y"] = 2; for (k in a) delete a[k]; print length(a); a["z"]; for (k in a) print k }'
#| 0
#| z

#### awk: split again and again
seq 1 500 | awk '{ n = split("a b c d " $1, p); s += n; t = p[5] } END { print s, t }'
#| 2500 500

#### base64 wraps
seq 1 100 | base64
seq 1 100 | base64 -w 10 | tail -n 2
seq 1 100 | base64 -w 0
printf 'a' | base64; printf 'ab' | base64; printf 'abc' | base64; printf '' | base64
#| MQoyCjMKNAo1CjYKNwo4CjkKMTAKMTEKMTIKMTMKMTQKMTUKMTYKMTcKMTgKMTkKMjAKMjEKMjIK
#| MjMKMjQKMjUKMjYKMjcKMjgKMjkKMzAKMzEKMzIKMzMKMzQKMzUKMzYKMzcKMzgKMzkKNDAKNDEK
#| NDIKNDMKNDQKNDUKNDYKNDcKNDgKNDkKNTAKNTEKNTIKNTMKNTQKNTUKNTYKNTcKNTgKNTkKNjAK
#| NjEKNjIKNjMKNjQKNjUKNjYKNjcKNjgKNjkKNzAKNzEKNzIKNzMKNzQKNzUKNzYKNzcKNzgKNzkK
#| ODAKODEKODIKODMKODQKODUKODYKODcKODgKODkKOTAKOTEKOTIKOTMKOTQKOTUKOTYKOTcKOTgK
#| OTkKMTAwCg==
#| OTkKMTAwCg
#| ==
#| MQoyCjMKNAo1CjYKNwo4CjkKMTAKMTEKMTIKMTMKMTQKMTUKMTYKMTcKMTgKMTkKMjAKMjEKMjIKMjMKMjQKMjUKMjYKMjcKMjgKMjkKMzAKMzEKMzIKMzMKMzQKMzUKMzYKMzcKMzgKMzkKNDAKNDEKNDIKNDMKNDQKNDUKNDYKNDcKNDgKNDkKNTAKNTEKNTIKNTMKNTQKNTUKNTYKNTcKNTgKNTkKNjAKNjEKNjIKNjMKNjQKNjUKNjYKNjcKNjgKNjkKNzAKNzEKNzIKNzMKNzQKNzUKNzYKNzcKNzgKNzkKODAKODEKODIKODMKODQKODUKODYKODcKODgKODkKOTAKOTEKOTIKOTMKOTQKOTUKOTYKOTcKOTgKOTkKMTAwCg==YQ==
#| YWI=
#| YWJj

#### base64 and back
seq 1 5000 | base64 | base64 -d | md5sum
seq 1 5000 | base32 | base32 -d | md5sum
#| a5a208cd26b07cadade3450fe14d1d93  -
#| a5a208cd26b07cadade3450fe14d1d93  -

#### base64: what is no base64
printf 'YWJj!' | base64 -d
#|- abc
#? 1

#### base64: garbage ignored
printf 'YW!J\nj' | base64 -di; echo
#| abc

#### xxd
seq 1 20 | xxd
seq 1 20 | xxd -p
seq 1 5 | xxd -b
seq 1 9 | xxd -e
seq 1 9 | xxd -g1 -c8 -u
printf 'abc' | xxd -i
seq 1 20 | xxd -s 10 -l 20
#| 00000000: 310a 320a 330a 340a 350a 360a 370a 380a  1.2.3.4.5.6.7.8.
#| 00000010: 390a 3130 0a31 310a 3132 0a31 330a 3134  9.10.11.12.13.14
#| 00000020: 0a31 350a 3136 0a31 370a 3138 0a31 390a  .15.16.17.18.19.
#| 00000030: 3230 0a                                  20.
#| 310a320a330a340a350a360a370a380a390a31300a31310a31320a31330a
#| 31340a31350a31360a31370a31380a31390a32300a
#| 00000000: 00110001 00001010 00110010 00001010 00110011 00001010  1.2.3.
#| 00000006: 00110100 00001010 00110101 00001010                    4.5.
#| 00000000: 0a320a31 0a340a33 0a360a35 0a380a37  1.2.3.4.5.6.7.8.
#| 00000010:     0a39                             9.
#| 00000000: 31 0A 32 0A 33 0A 34 0A  1.2.3.4.
#| 00000008: 35 0A 36 0A 37 0A 38 0A  5.6.7.8.
#| 00000010: 39 0A                    9.
#|   0x61, 0x62, 0x63
#| 0000000a: 360a 370a 380a 390a 3130 0a31 310a 3132  6.7.8.9.10.11.12
#| 0000001a: 0a31 330a                                .13.

#### xxd and back
seq 1 200 | xxd | xxd -r | md5sum
#| 304f7b9574921ad21a2bc72f200483d7  -

#### cat with numbers
seq 999998 1000001 | cat -n
yes | head -n 12 | cat -n | tail -n 4
printf 'a\n\nb\n' | cat -b
#|      1	999998
#|      2	999999
#|      3	1000000
#|      4	1000001
#|      9	y
#|     10	y
#|     11	y
#|     12	y
#|      1	a
#|
#|      2	b

#### seq
seq 5; seq 2 3 12; seq 3 -1 1; seq -w 8 11; seq -w -1 1; seq -s, 4; seq 1 0; seq 0.5 0.5 2; seq -5 -3
#| 1
#| 2
#| 3
#| 4
#| 5
#| 2
#| 5
#| 8
#| 11
#| 3
#| 2
#| 1
#| 08
#| 09
#| 10
#| 11
#| -1
#| 00
#| 01
#| 1,2,3,4
#| 0.5
#| 1.0
#| 1.5
#| 2.0
#| -5
#| -4
#| -3

#### seq with large numbers
seq 999999999998 1000000000001
seq 9007199254740992 9007199254740993
#| 999999999998
#| 999999999999
#| 1000000000000
#| 1000000000001
#| 9007199254740992
#| 9007199254740993

#### cmp
printf 'abc\ndef\n' > a; printf 'abc\ndxf\n' > b; printf 'abc\nde' > c
cmp a b; cmp a c; cmp -l a b; cmp -b a b; cmp -s a b; echo $?; cmp a a; echo $?
cmp -n 5 a b; echo $?; cmp -i 6 a b; echo $?; cmp a < b; cmp a nothing
#| a b differ: byte 6, line 2
#| 6 145 170
#| a b differ: byte 6, line 2 is 145 e 170 x
#| 1
#| 0
#| 0
#| 0
#| a - differ: byte 6, line 2
#? 2

#### cmp: large files
seq 1 20000 > a; (seq 1 19999; echo x) > b; cmp a b; cmp a <(seq 1 20000); echo $?; cmp a <(seq 1 10)
: > e; cmp a e
#| a b differ: byte 108889, line 20000
#| 0
#? 1

#### shuf draws each once
seq 1 100 | shuf | sort -n | md5sum; seq 1 100 | md5sum
seq 1 100 | shuf -n 5 | sort -u | wc -l
shuf -i 1-10 | sort -n | tr '\n' ' '; shuf -e a b c | sort | tr '\n' ' '; shuf -n 0 -e a
shuf -rn 20 -e x | uniq -c
#| d632eba71107bf7bc3ec423eab256d78  -
#| d632eba71107bf7bc3ec423eab256d78  -
#| 5
#| 1 2 3 4 5 6 7 8 9 10 a b c      20 x

#### mapfile
seq 1 2000 | { mapfile -t a; echo ${#a[@]} ${a[0]} ${a[1999]}; }
printf 'a\nb' | { mapfile a; declare -p a; }
declare -i n; mapfile -t n < <(printf '1+1\n2+2\n'); echo "${n[@]}"
a=(x y z); mapfile -t -O 1 a < <(echo Q); echo "${a[@]}"
readonly r=1; mapfile r < /dev/null; echo $?
#| 2000 1 2000
#| declare -a a=([0]=$'a\n' [1]="b")
#| 2 4
#| x Q z
#| 1

#### wc counts
seq 1 20000 | wc -l; printf 'a\nb' | wc -l; printf '' | wc -l; seq 1 100 | tail -n 3 | wc
#| 20000
#| 1
#| 0
#|       3       3      10

#### tail keeps enough
seq 1 50000 | tail -n 20001 | head -n 1; seq 1 50000 | tail -n 1; printf 'a\nb' | tail -n 1; echo
#| 30000
#| 50000
#| b

#### getopt, the old form
getopt a -- -a b c
getopt ab: -a -b x y
getopt 'a' -a -- -a
#|  -- -a b c
#|  -a -b x -- y
#|  -a -- -a

#### patch: a hunk far from where it says
printf '%s\n' x 1 2 3 4 5 6 > f
patch -s f <<'END'
--- a/f
+++ b/f
@@ -50,5 +50,4 @@
 1
 2
-3
 4
 5
END
cat f
#| x
#| 1
#| 2
#| 4
#| 5
#| 6

#### patch: names in quotes
echo hello > 'fruit bat'
patch <<'END'
--- "fruit bat"
+++ /dev/null
@@ -1 +0,0 @@
-hello
END
ls
#| patching file 'fruit bat'
