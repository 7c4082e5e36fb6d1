#### lines in another order: which of them stay
seq 6 > a; seq 6 -1 1 > b; diff a b; diff b a; diff -u --label a --label b a b; printf '%s\n' c a b d > x; printf '%s\n' a b c d > y; diff x y; diff y x
#| 1,5d0
#| < 1
#| < 2
#| < 3
#| < 4
#| < 5
#| 6a2,6
#| > 5
#| > 4
#| > 3
#| > 2
#| > 1
#| 1,5d0
#| < 6
#| < 5
#| < 4
#| < 3
#| < 2
#| 6a2,6
#| > 2
#| > 3
#| > 4
#| > 5
#| > 6
#| --- a
#| +++ b
#| @@ -1,6 +1,6 @@
#| -1
#| -2
#| -3
#| -4
#| -5
#|  6
#| +5
#| +4
#| +3
#| +2
#| +1
#| 1d0
#| < c
#| 3a3
#| > c
#| 0a1
#| > c
#| 3d3
#| < c
#? 1

#### edits of scrambled lines are those of GNU diff
scramble() { awk -v s="$1" -v n="$2" -v m="$3" 'BEGIN { for (i = 0; i < n; i++) { s = (s * 1103515245 + 12345) % 2147483648; print "line " int(s / 65536) % m } }'; }
for i in 1 2 3 4 5 6 7 8; do scramble $i 30 12 > a; scramble $((i + 50)) 34 12 > b; diff a b | cksum; diff -u --label a --label b a b | cksum; diff -d a b | cksum; diff -U1 --label a --label b a b | cksum; done
#| 3565904723 422
#| 994091953 437
#| 3565904723 422
#| 994091953 437
#| 96500478 476
#| 3039894977 462
#| 96500478 476
#| 3039894977 462
#| 2178392370 437
#| 1921894020 427
#| 2178392370 437
#| 1921894020 427
#| 3209966686 453
#| 873617649 455
#| 3209966686 453
#| 873617649 455
#| 4220483241 500
#| 1181991409 455
#| 4220483241 500
#| 1181991409 455
#| 704782584 481
#| 627430279 459
#| 682324958 479
#| 627430279 459
#| 1819890263 506
#| 711362165 480
#| 1819890263 506
#| 711362165 480
#| 1774205534 457
#| 1266631070 456
#| 1774205534 457
#| 1266631070 456

#### edits of scrambled lines, one written out
scramble() { awk -v s="$1" -v n="$2" -v m="$3" 'BEGIN { for (i = 0; i < n; i++) { s = (s * 1103515245 + 12345) % 2147483648; print int(s / 65536) % m } }'; }
scramble 3 14 5 > a; scramble 77 16 5 > b; diff a b; diff -u --label a --label b a b
#| 1a2
#| > 0
#| 2a4,7
#| > 4
#| > 3
#| > 0
#| > 0
#| 6d10
#| < 1
#| 7a12,13
#| > 3
#| > 4
#| 9,10d14
#| < 0
#| < 0
#| 12,13d15
#| < 1
#| < 0
#| --- a
#| +++ b
#| @@ -1,14 +1,16 @@
#|  2
#| +0
#|  2
#| +4
#| +3
#| +0
#| +0
#|  2
#|  1
#|  3
#| -1
#|  0
#| +3
#| +4
#|  4
#| -0
#| -0
#|  3
#| -1
#| -0
#|  3
#? 1

#### a block moved, a function inserted among others that look alike
cat > a <<'A'
int f() {
  return 1;
}

int g() {
  return 2;
}

int h() {
  return 3;
}
A
sed '4a\
int between() {\
  return 9;\
}\
' a > b; diff a b; diff -u --label a --label b b a; { sed -n '5,8p' a; sed -n '1,4p' a; sed -n '9,$p' a; } > c; diff a c; diff -u --label a --label c a c
#| 4a5,8
#| > int between() {
#| >   return 9;
#| > }
#| > 
#| --- a
#| +++ b
#| @@ -2,10 +2,6 @@
#|    return 1;
#|  }
#|  
#| -int between() {
#| -  return 9;
#| -}
#| -
#|  int g() {
#|    return 2;
#|  }
#| 1,4d0
#| < int f() {
#| <   return 1;
#| < }
#| < 
#| 6a3,6
#| > }
#| > 
#| > int f() {
#| >   return 1;
#| --- a
#| +++ c
#| @@ -1,11 +1,11 @@
#| -int f() {
#| -  return 1;
#| -}
#| -
#|  int g() {
#|    return 2;
#|  }
#|  
#| +int f() {
#| +  return 1;
#| +}
#| +
#|  int h() {
#|    return 3;
#|  }
#? 1

#### blank lines and braces in a rewritten file do not tear it apart
for i in 1 2 3 4 5 6 7 8 9; do printf 'old %d {\n\n}\n\n' $i; done > a; for i in 1 2 3 4 5 6 7 8 9; do printf 'new %d {\n  body\n\n}\n\n' $i; done > b; diff a b | cksum; diff a b | head -12; diff -d a b | cksum; { head -8 a; cat b; tail -8 a; } > c; diff a c | cksum; diff -u --label a --label c c a | cksum
#| 2268737209 371
#| 1c1,2
#| < old 1 {
#| ---
#| > new 1 {
#| >   body
#| 5c6,7
#| < old 2 {
#| ---
#| > new 2 {
#| >   body
#| 9c11,12
#| < old 3 {
#| 2268737209 371
#| 2755694726 324
#| 620523531 298

#### large files with scattered changes
seq 1 3000 > a; awk 'NR % 97 == 0 { next } NR % 53 == 0 { print "changed " $0; next } NR % 211 == 0 { print; print "added" ; next } { print }' a > b; diff a b | cksum; diff -u --label a --label b a b | cksum; diff -u0 --label a --label b a b 2>/dev/null | cksum; awk '{ print int($1 / 7) }' a > c; awk '{ print int(($1 * 3) % 500) }' a > d; diff c d | cksum; sort -R a >/dev/null; awk '{ print ($1 * 7919) % 3001 }' a > e; diff a e | cksum; diff -U2 --label a --label e e a | cksum
#| 2673107555 2653
#| 1002608679 6259
#| 1673013775 3149
#| 2059153928 34839
#| 1295271811 40169
#| 1722832289 33578

#### changes slide down, and back to face a change of the other file
printf '%s\n' a b a b c > x; printf '%s\n' a b c > y; diff x y; diff y x; printf '%s\n' 1 '' 2 '' 3 > x; printf '%s\n' 1 '' 9 '' 2 '' 3 > y; diff x y; printf '%s\n' a x a y a > x; printf '%s\n' a z a y a > y; diff x y; printf '%s\n' q q q w q > x; printf '%s\n' q w q q > y; diff x y
#| 3,4d2
#| < a
#| < b
#| 2a3,4
#| > a
#| > b
#| 2a3,4
#| > 9
#| > 
#| 2c2
#| < x
#| ---
#| > z
#| 2,3d1
#| < q
#| < q
#| 4a3
#| > q
#? 1

#### diff in colours
printf '%s\n' a b c > x; printf '%s\n' b c d > y; diff --color=always x y | cat -v; diff -u --color=always --label x --label y x y | cat -v; diff -c --color=always --label x --label y x y | cat -v; diff -y -W 20 --color=always x y | cat -v; diff --color=never x y; diff --color x y; diff --color=auto x y
#| ^[[36m1d0^[[0m
#| ^[[31m< a^[[0m
#| ^[[36m3a3^[[0m
#| ^[[32m> d^[[0m
#| ^[[1m--- x^[[0m
#| ^[[1m+++ y^[[0m
#| ^[[36m@@ -1,3 +1,3 @@^[[0m
#| ^[[31m-a^[[0m
#|  b
#|  c
#| ^[[32m+d^[[0m
#| ^[[1m*** x^[[0m
#| ^[[1m--- y^[[0m
#| ***************
#| ^[[36m*** 1,3 ****^[[0m
#| ^[[31m- a^[[0m
#| ^[[31m  b^[[0m
#| ^[[31m  c^[[0m
#| ^[[36m--- 1,3 ----^[[0m
#| ^[[32m  b^[[0m
#| ^[[32m  c^[[0m
#| ^[[32m+ d^[[0m
#| ^[[31ma     <
#| ^[[0mb	b
#| c	c
#| ^[[32m      >	d
#| ^[[0m1d0
#| < a
#| 3a3
#| > d
#| 1d0
#| < a
#| 3a3
#| > d
#| 1d0
#| < a
#| 3a3
#| > d
#? 1
