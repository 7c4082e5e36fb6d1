#### printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff a b; echo $?
printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff a b; echo $?
#| 2c2
#| < 2
#| ---
#| > x
#| 1

#### printf '1\n2\n3\n' > a; cp a b; diff a b; echo $?
printf '1\n2\n3\n' > a; cp a b; diff a b; echo $?
#| 0

#### printf '1\n2\n' > a; printf '1\n2\n3\n' > b; diff a b; diff b a
printf '1\n2\n' > a; printf '1\n2\n3\n' > b; diff a b; diff b a
#| 2a3
#| > 3
#| 3d2
#| < 3
#? 1

#### printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -u a b | tail -n +3
printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -u a b | tail -n +3
#| @@ -1,3 +1,3 @@
#|  1
#| -2
#| +x
#|  3

#### printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -c a b | tail -n +3
printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -c a b | tail -n +3
#| ***************
#| *** 1,3 ****
#|   1
#| ! 2
#|   3
#| --- 1,3 ----
#|   1
#| ! x
#|   3

#### printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -u --label A --label B a b
printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -u --label A --label B a b
#| --- A
#| +++ B
#| @@ -1,3 +1,3 @@
#|  1
#| -2
#| +x
#|  3
#? 1

#### printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -y -W 20 a b
printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -y -W 20 a b
#| 1	1
#| 2     |	x
#| 3	3
#? 1

#### printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -y -W 20 --suppress-common-lines a b
printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -y -W 20 --suppress-common-lines a b
#| 2     |	x
#? 1

#### printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -e a b
printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -e a b
#| 2c
#| x
#| .
#? 1

#### printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -q a b; diff -s a a
printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff -q a b; diff -s a a
#| Files a and b differ
#| Files a and a are identical

#### printf 'A\n' > a; printf 'a\n' > b; diff -i a b; echo $?
printf 'A\n' > a; printf 'a\n' > b; diff -i a b; echo $?
#| 0

#### printf 'a  b\n' > a; printf 'a b\n' > b; diff -b a b; echo $?; diff -w a b; echo $?
printf 'a  b\n' > a; printf 'a b\n' > b; diff -b a b; echo $?; diff -w a b; echo $?
#| 0
#| 0

#### printf 'a b \n' > a; printf 'a b\n' > b; diff -Z a b; echo $?
printf 'a b \n' > a; printf 'a b\n' > b; diff -Z a b; echo $?
#| 0

#### printf 'a\n\nb\n' > a; printf 'a\nb\n' > b; diff -B a b; echo $?
printf 'a\n\nb\n' > a; printf 'a\nb\n' > b; diff -B a b; echo $?
#| 0

#### printf 'a' > a; printf 'a\n' > b; diff a b; diff -u a b | tail -n +3
printf 'a' > a; printf 'a\n' > b; diff a b; diff -u a b | tail -n +3
#| 1c1
#| < a
#| \ No newline at end of file
#| ---
#| > a
#| @@ -1 +1 @@
#| -a
#| \ No newline at end of file
#| +a

#### mkdir a b; printf 1 > a/f; printf 2 > b/f; printf 1 > a/g; printf 1 > b/h; diff -r a b
mkdir a b; printf 1 > a/f; printf 2 > b/f; printf 1 > a/g; printf 1 > b/h; diff -r a b
#| diff -r a/f b/f
#| 1c1
#| < 1
#| \ No newline at end of file
#| ---
#| > 2
#| \ No newline at end of file
#| Only in a: g
#| Only in b: h
#? 1

#### mkdir a b; printf 1 > a/f; printf 2 > b/f; printf 1 > a/g; diff -rq a b
mkdir a b; printf 1 > a/f; printf 2 > b/f; printf 1 > a/g; diff -rq a b
#| Files a/f and b/f differ
#| Only in a: g
#? 1

#### mkdir -p a/s b; printf '1\n' > a/f; diff -rN a b; echo $?
mkdir -p a/s b; printf '1\n' > a/f; diff -rN a b; echo $?
#| diff -rN a/f b/f
#| 1d0
#| < 1
#| 1

#### printf '1\n' > a; diff -N a none; echo $?
printf '1\n' > a; diff -N a none; echo $?
#| 1d0
#| < 1
#| 1

#### mkdir d; printf '1\n' > f; printf '2\n' > d/f; diff f d; diff d f
mkdir d; printf '1\n' > f; printf '2\n' > d/f; diff f d; diff d f
#| 1c1
#| < 1
#| ---
#| > 2
#| 1c1
#| < 2
#| ---
#| > 1
#? 1

#### printf '\0a' > a; printf '\0b' > b; diff a b; diff -a a b | cat -v
printf '\0a' > a; printf '\0b' > b; diff a b; diff -a a b | cat -v
#| Binary files a and b differ
#| 1c1
#| < ^@a
#| \ No newline at end of file
#| ---
#| > ^@b
#| \ No newline at end of file

#### seq 20 > a; seq 20 | sed 's/^5$/five/; s/^15$/fifteen/' > b; diff -U1 a b | tail -n +3
seq 20 > a; seq 20 | sed 's/^5$/five/; s/^15$/fifteen/' > b; diff -U1 a b | tail -n +3
#| @@ -4,3 +4,3 @@
#|  4
#| -5
#| +five
#|  6
#| @@ -14,3 +14,3 @@
#|  14
#| -15
#| +fifteen
#|  16

#### seq 20 > a; seq 20 | sed 's/^5$/five/; s/^15$/fifteen/' > b; diff -C 1 a b | tail -n +3
seq 20 > a; seq 20 | sed 's/^5$/five/; s/^15$/fifteen/' > b; diff -C 1 a b | tail -n +3
#| ***************
#| *** 4,6 ****
#|   4
#| ! 5
#|   6
#| --- 4,6 ----
#|   4
#| ! five
#|   6
#| ***************
#| *** 14,16 ****
#|   14
#| ! 15
#|   16
#| --- 14,16 ----
#|   14
#| ! fifteen
#|   16

#### seq 5 > a; seq 2 6 > b; diff -u0 a b | tail -n +3
seq 5 > a; seq 2 6 > b; diff -u0 a b | tail -n +3
#| @@ -1 +0,0 @@
#| -1
#| @@ -5,0 +5 @@
#| +6

#### printf '1\n2\n' > a; printf '2\n1\n' > b; diff --normal a b; diff --minimal a b | wc -l
printf '1\n2\n' > a; printf '2\n1\n' > b; diff --normal a b; diff --minimal a b | wc -l
#| 1d0
#| < 1
#| 2a2
#| > 1
#| 4

#### printf 'a\r\n' > a; printf 'a\n' > b; diff --strip-trailing-cr a b; echo $?
printf 'a\r\n' > a; printf 'a\n' > b; diff --strip-trailing-cr a b; echo $?
#| 0

#### printf '1\n' > a; printf '2\n' > b; diff --color=never a b; diff --brief a b
printf '1\n' > a; printf '2\n' > b; diff --color=never a b; diff --brief a b
#| 1c1
#| < 1
#| ---
#| > 2
#| Files a and b differ
#? 1

#### printf '1\n' | diff - /dev/null; echo $?
printf '1\n' | diff - /dev/null; echo $?
#| 1d0
#| < 1
#| 1

#### diff a 2>&1; echo $?
diff a 2>&1; echo $?
#| diff: missing operand after 'a'
#| diff: Try 'diff --help' for more information.
#| 2

#### diff a b 2>&1; echo $?
diff a b 2>&1; echo $?
#| diff: a: No such file or directory
#| diff: b: No such file or directory
#| 2

#### diff a b c 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
diff a b c 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| diff: extra operand 'c'
#| diff: Try 'diff --help' for more information.
#| 2

#### printf 'f() {\n1\n2\n3\n4\n5\nx\n}\n' > a; sed s/x/y/ a > b; diff -p -U1 a b | tail -n +3
printf 'f() {\n1\n2\n3\n4\n5\nx\n}\n' > a; sed s/x/y/ a > b; diff -p -U1 a b | tail -n +3
#| @@ -6,3 +6,3 @@ f() {
#|  5
#| -x
#| +y
#|  }

#### printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff --unified=0 a b | tail -n +3; diff --context=0 a b | tail -n +3
printf '1\n2\n3\n' > a; printf '1\nx\n3\n' > b; diff --unified=0 a b | tail -n +3; diff --context=0 a b | tail -n +3
#| @@ -2 +2 @@
#| -2
#| +x
#| ***************
#| *** 2 ****
#| ! 2
#| --- 2 ----
#| ! x

#### mkdir a b; touch a/x.o b/y.c; diff -r -x '*.o' a b
mkdir a b; touch a/x.o b/y.c; diff -r -x '*.o' a b
#| Only in b: y.c
#? 1
