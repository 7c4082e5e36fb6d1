#### awk 1: awk  BEGIN   printf  %d %i %o %x %X %u %c %c %e %f %g %s %5
awk 'BEGIN { printf "%d %i %o %x %X %u %c %c %e %f %g %s %5.2f|%-5s|%05d|%+d\n", 1, 2, 8, 255, 255, 3, 65, "BC", 1.5, 1.5, 1e10, "s", 3.14159, "ab", 42, 7 }'
#| 1 2 10 ff FF 3 A B 1.500000e+00 1.500000 1e+10 s  3.14|ab   |00042|+7

#### awk 3: awk  BEGIN   s    hello  print gsub l   L  s  s  print sub L
awk 'BEGIN { s = "hello"; print gsub(/l/, "L", s), s; print sub(/L/, "[&]", s), s; print gsub(/x/, "y", s); print gensub(/(h)(e)/, "\\2\\1", "g", "hehe"), gensub(/e/, "E", 2, "eee") }'
#| 2 heLLo
#| 1 he[L]Lo
#| 0
#| eheh eEe

#### awk 4: awk  BEGIN   n   split a b c  a    print n  a 1  a 3  n   sp
awk 'BEGIN { n = split("a:b:c", a, ":"); print n, a[1], a[3]; n = split("abc", b, ""); print n, b[2]; n = split("a1b22c", c, /[0-9]+/, seps); print n, c[3], seps[2]; delete a; print length(a) }'
#| 3 a c
#| 3 b
#| 3 c 22
#| 0

#### awk 5: awk  BEGIN   print match foobar   o  RSTART  RLENGTH  if  ma
awk 'BEGIN { print match("foobar", /o+/), RSTART, RLENGTH; if (match("key=val", /(.*)=(.*)/, m)) print m[1], m[2], m[1, "start"]; print match("x", /y/), RSTART, RLENGTH }'
#| 2 2 2
#| key val 1
#| 0 0 -1

#### awk 'BEGIN { print int(3.9), int(-3.9), sqrt(16), exp(0), log(1), sin(0), cos(0), atan2(0, 1), 2 ^ 3, 2 ** 3, 7 % 3, -7 % 3, 1 / 4 }'
awk 'BEGIN { print int(3.9), int(-3.9), sqrt(16), exp(0), log(1), sin(0), cos(0), atan2(0, 1), 2 ^ 3, 2 ** 3, 7 % 3, -7 % 3, 1 / 4 }'
#| 3 -3 4 1 0 0 1 0 8 8 1 -1 0.25

#### awk 'BEGIN { srand(1); a = rand(); srand(1); print (a == rand()), srand(5), srand() }'
awk 'BEGIN { srand(1); a = rand(); srand(1); print (a == rand()), srand(5), srand() }'
#| 1 1 5

#### awk 'BEGIN { print systime() > 0, strftime("%Y", 0, 1), mktime("1970 01 02 00 00 00") >= 0, strftime("%F %T", 86400, 1) }'
awk 'BEGIN { print systime() > 0, strftime("%Y", 0, 1), mktime("1970 01 02 00 00 00") >= 0, strftime("%F %T", 86400, 1) }'
#? 1

#### awk 6: awk  BEGIN   print and 12  10  or 12  10  xor 12  10  lshift
awk 'BEGIN { print and(12, 10), or(12, 10), xor(12, 10), lshift(1, 4), rshift(16, 2), compl(0) > 0, strtonum("0x1F"), strtonum("017"), strtonum("12abc") }'
#? 1

#### awk 7: awk  BEGIN   a x    1  a y    2  n   asorti a  b  print n  b
awk 'BEGIN { a["x"] = 1; a["y"] = 2; n = asorti(a, b); print n, b[1], b[2]; c[1] = "z"; c[2] = "b"; asort(c); print c[1], c[2]; for (k in a) s += a[k]; print s; if ("x" in a) print "in"; delete a["x"]; if (!("x" in a)) print "out"; m[1, 2] = 3; for (k in m) { split(k, p, SUBSEP); print p[1], p[2] }; if ((1, 2) in m) print "multi" }'
#| 2 x y
#| b z
#| 3
#| in
#| out
#| 1 2
#| multi

#### awk 8: awk  BEGIN   PROCINFO sorted_in     @ind_str_asc  a b  a a
awk 'BEGIN { PROCINFO["sorted_in"] = "@ind_str_asc"; a["b"]; a["a"]; a["c"]; for (k in a) printf "%s ", k; PROCINFO["sorted_in"] = "@val_num_desc"; v["x"] = 1; v["y"] = 3; v["z"] = 2; for (k in v) printf "%s ", k; print "" }'
#| a b c y z x 

#### awk 9: awk  function f a  b    a 1    5  b   6  return a 1    b   B
awk 'function f(a, b) { a[1] = 5; b = 6; return a[1] + b } BEGIN { x[1] = 1; y = 2; print f(x, y), x[1], y } function g(n) { return n <= 1 ? 1 : n * g(n - 1) } BEGIN { print g(10); h = "g"; print @h(5) }'
#| 11 5 2
#| 3628800
#| 120

#### printf 'a b\nc d\n' | awk '{ $2 = "x"; print; print NF; $5 = "e"; print; NF = 2; print; $0 = "p q r"; print $2, NF }'
printf 'a b\nc d\n' | awk '{ $2 = "x"; print; print NF; $5 = "e"; print; NF = 2; print; $0 = "p q r"; print $2, NF }'
#| a x
#| 2
#| a x   e
#| a x
#| q 3
#| c x
#| 2
#| c x   e
#| c x
#| q 3

#### awk 10: printf  a b n    awk -F  -v OFS -   $1   $1  print
printf 'a:b\n' | awk -F: -v OFS=- '{ $1 = $1; print }'
printf 'a1b2c\n' | awk -F'[0-9]' '{ print $2, NF }'
printf 'a\tb c\n' | awk -F'\t' '{ print $2 }'
printf 'aXXb\n' | awk -FXX '{ print $2 }'
printf 'abc\n' | awk -F '' '{ print $2, NF }'
printf 'a  b\n' | awk -F' ' '{ print NF }'
#| a-b
#| b 3
#| b c
#| b
#| b 3
#| 2

#### printf 'a,"b,c",d\n' | awk -v FPAT='([^,]+)|("[^"]+")' '{ print NF, $2 }'; printf 'abcdef\n' | awk -v FIELDWIDTHS='2 3 *' '{ print $1, $2, $3 }'
printf 'a,"b,c",d\n' | awk -v FPAT='([^,]+)|("[^"]+")' '{ print NF, $2 }'; printf 'abcdef\n' | awk -v FIELDWIDTHS='2 3 *' '{ print $1, $2, $3 }'
#| 3 "b,c"
#| ab cde f

#### awk 11: printf  p1 l1 np1 l2 n n np2 l1 n    awk -v RS    print NR
printf 'a;b;c' | awk -v RS=';' '{ print }'
printf 'a1b22c' | awk -v RS='[0-9]+' '{ print $0, RT }'
#| a
#| b
#| c
#| a 1
#| b 22
#| c 

#### awk 12: printf  1 n2 n3 n4 n    awk  NR   2  NR   3
printf '1\n2\n3\n4\n' | awk 'NR == 2, NR == 3'
printf '1\n2\n3\n' | awk '/2/ { next } { print } END { print NR, FNR }'
printf '1\n2\n3\n' | awk 'NR == 2 { exit 3 } { print } END { print "end" }'
echo $?
#| 2
#| 3
#| 1
#| 3
#| 3 3
#| 1
#| end
#| 3

#### awk 13: printf  1 n2 n3 n4 n    awk  NR   1   getline  print   NR
printf '1\n2\n3\n4\n' | awk 'NR == 1 { getline; print } NR == 3 { getline x; print x, $0 }'
echo data > f
awk 'BEGIN { while ((getline line < "f") > 0) print line; close("f"); getline < "f"; print $0; print (getline < "none") }'
awk 'BEGIN { "echo hi" | getline x; print x; close("echo hi"); while (("echo a; echo b" | getline y) > 0) print y }'
#| 2
#| 4 3
#| data
#| data
#| -1
#| hi
#| a
#| b

#### awk 15: printf  x n    a
printf 'x\n' > a
printf 'y\nz\n' > b
awk '{ print v, $0 }' v=1 a v=2 b
awk 'BEGIN { print ARGC, ARGV[1], ARGV[2]; ARGV[1] = "" } { print }' a b
#| 1 x
#| 2 y
#| 2 z
#| 3 a b
#| y
#| z

#### awk 16: awk  BEGIN   i   5  print i   i  i--  --i  i   2  i -  1  i
awk 'BEGIN { i = 5; print i++, ++i, i--, --i; i += 2; i -= 1; i *= 3; i /= 2; i %= 5; i ^= 2; print i; print !0, !1, -"3", +"4x", 1 " " 2, 1 < 2, "a" < "b", "10" < "9", 10 < 9, 1 == 1.0, "a" ~ /a/, "a" !~ "b", (1 ? "y" : "n"), 1 && 0, 1 || 0; print 1==1 ? "t" : "f"; print length() }'
#| 5 7 7 5
#| 16
#| 1 0 -3 4 1 2 1 1 1 0 1 1 1 y 0 1
#| t
#| 0

#### awk 17: awk  BEGIN   while  i   3    if  i   1    i  continue   prin
awk 'BEGIN { while (i < 3) { if (i == 1) { i++; continue } print i; i++ } do { j++ } while (j < 3); print j; for (;;) { if (k++ > 2) break }; print k; switch ("b") { case "a": print 1; case /b/: print 2; case "c": print 3; break; default: print 4 } }'
#|
#| 2
#| 3
#| 4
#| 2
#| 3

#### awk 18: awk  BEGIN   print  a tb c d e x41 101 n  print  con   cat
awk 'BEGIN { print "a\tb\"c\\d\/e\x41\101\n"; print "con" "cat"; print -1 " " -1; print 1e3, 0x10, 1e300 * 1e300, log(-1); print 100000 * 100000, 0.1 + 0.2, 1e6, 1e16, 123456789.123; OFMT = "%.2f"; print 3.14159; CONVFMT = "%.1f"; x = 3.14159 ""; print x }' 2>/dev/null
#| a	b"c\d/eAA
#|
#| concat
#| -1-1
#| 1000 16 +inf -nan
#| 10000000000 0.3 1000000 10000000000000000 1.23457e+08
#| 3.14
#| 3.1

#### awk 19: awk  BEGIN   x a 1    5  x a 2    6  for  k in x a  s   x a
awk 'BEGIN { IGNORECASE = 1; print ("ABC" ~ /abc/) }'
#| 1

#### awk 20: awk  BEGIN   print 1 0   2 1
echo $?
echo $?
echo ${PIPESTATUS[0]}
awk 'BEGIN { a[1] = 1; a = 2 }' 2>&1
awk 'BEGIN { a = 1; a[1] = 2 }' 2>&1
awk 2>&1 | sed -n 1p | cut -c1-10
awk -f none 2>&1
echo $?
#| 0
#| 0
#| 0
#| awk: cmd. line:1: fatal: attempt to use array `a' in a scalar context
#| awk: cmd. line:1: fatal: attempt to use scalar `a' as an array
#| Usage: awk
#| awk: fatal: cannot open source file `none' for reading: No such file or directory
#| 2

#### awk 21: echo  BEGIN   print  from file      p
echo 'BEGIN { print "from file" }' > p
awk -f p
echo 'function f(x) { return x * 2 }' > lib
awk -f lib --source 'BEGIN { print f(4) }' 2>&1
awk -v 'a=x\ty' 'BEGIN { print a }'
awk -- 'BEGIN { print 1 }'
printf 'a b\n' | awk '{ print > "/dev/null" } { print NF }'
printf 'x y\n' | awk --field-separator=' ' --assign v=3 '{ print v, $2 }'
awk 'BEGIN { printf "a" "b" "\n"; print("p", "q"); print (1, 2) in a; getline; print "got " $0 }' <<< input
awk 'BEGIN{ORS="|"; OFS="-"; print "a","b"; print "c"}'
echo
#| from file
#| 8
#| x	y
#| 1
#| 2
#| 3 y
#| ab
#| p q
#| 0
#| got input
#| a-b|c|

#### awk 22: printf  %s n  3 1 2   awk   a NR    $1   END   n   asort a
printf '%s\n' 3 1 2 | awk '{ a[NR] = $1 } END { n = asort(a, b, "@val_num_desc"); for (i = 1; i <= n; i++) print b[i] }'
printf 'k 1\nj 2\nk 3\n' | awk '{ s[$1] += $2 } END { for (k in s) print k, s[k] | "sort" }'
printf 'a\nb\na\n' | awk '!seen[$0]++'
seq 5 | awk '{ s += $1 } END { print s / NR }'
seq 3 | awk 'ORS = NR % 2 ? " " : "\n"'
echo
echo 'a b c' | awk '{ for (i = NF; i > 0; i--) printf "%s%s", $i, i > 1 ? OFS : ORS }'
seq 10 | awk 'NR % 3 == 0'
printf 'a=1\n' | awk -F= '$1 == "a" { print $2 }'
awk 'BEGIN { while (("printf \"1\\n2\\n\"" | getline x) > 0) n++; print n, x }'
#| 3
#| 2
#| 1
#| j 2
#| k 4
#| a
#| b
#| 3
#| 1 2
#| 3 
#| 3
#| 6
#| 9
#| 1
#| 2 2

#### a width that is too large is an error, not a shorter text
awk 'BEGIN { x = sprintf("%1000000000d", 1); print length(x) }' 2>/dev/null; echo $?; awk 'BEGIN { printf "%.*f", 1e300, 1 }' 2>/dev/null; echo $?; awk 'BEGIN { printf "%*d|%-*d|%.*f\n", 5, 1, 3, 2, 1, 3.14159 }'
#~ gawk makes the text, as long as there is memory
#| 2
#| 2
#|     1|2  |3.1

#### deep recursion works as far as the stack goes
awk 'function f(n) { return n ? f(n - 1) + 1 : 0 } BEGIN { print f(2500) }'
#| 2500
