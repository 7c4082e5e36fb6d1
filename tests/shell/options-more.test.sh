#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff x y
#| 2c2
#| < b
#| ---
#| > B
#| 3a4
#| > d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -u --label X --label Y x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -u --label X --label Y x y
#| --- X
#| +++ Y
#| @@ -1,3 +1,4 @@
#|  a
#| -b
#| +B
#|  c
#| +d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -c --label X --label Y x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -c --label X --label Y x y
#| *** X
#| --- Y
#| ***************
#| *** 1,3 ****
#|   a
#| ! b
#|   c
#| --- 1,4 ----
#|   a
#| ! B
#|   c
#| + d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -n x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -n x y
#| d2 1
#| a2 1
#| B
#| a3 1
#| d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -e x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -e x y
#| 3a
#| d
#| .
#| 2c
#| B
#| .
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -y -W 40 x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -y -W 40 x y
#| a			a
#| b		   |	B
#| c			c
#| 		   >	d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -D NEW x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -D NEW x y
#| a
#| #ifndef NEW
#| b
#| #else /* NEW */
#| B
#| #endif /* NEW */
#| c
#| #ifdef NEW
#| d
#| #endif /* NEW */
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -i x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -i x y
#| 3a4
#| > d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -q x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -q x y
#| Files x and y differ
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -s x x
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -s x x
#| Files x and x are identical

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -U0 --label X --label Y x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -U0 --label X --label Y x y
#| --- X
#| +++ Y
#| @@ -2 +2 @@
#| -b
#| +B
#| @@ -3,0 +4 @@
#| +d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --normal x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --normal x y
#| 2c2
#| < b
#| ---
#| > B
#| 3a4
#| > d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --line-format='%L' x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --line-format='%L' x y
#| a
#| b
#| B
#| c
#| d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --old-line-format='-%l%c'"'"'\012'"'"'' --new-line-format='+%L' --unchanged-line-format='' x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --old-line-format='-%l%c'"'"'\012'"'"'' --new-line-format='+%L' --unchanged-line-format='' x y
#| -b
#| +B
#| +d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --old-line-format= --unchanged-line-format= --new-line-format='%L' x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --old-line-format= --unchanged-line-format= --new-line-format='%L' x y
#| B
#| d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --unchanged-line-format='=%dn:%L' --old-line-format='<%3dn:%L' --new-line-format='>%L' x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --unchanged-line-format='=%dn:%L' --old-line-format='<%3dn:%L' --new-line-format='>%L' x y
#| =1:a
#| <  2:b
#| >B
#| =3:c
#| >d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --changed-group-format='%<' --unchanged-group-format='' x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --changed-group-format='%<' --unchanged-group-format='' x y
#| b
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --changed-group-format='[%df,%dl %dF,%dL]%c'"'"'\012'"'"'' --unchanged-group-format= x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --changed-group-format='[%df,%dl %dF,%dL]%c'"'"'\012'"'"'' --unchanged-group-format= x y
#| [2,2 2,2]
#| [4,3 4,4]
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -I '^[bB]$' x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -I '^[bB]$' x y
#| 3a4
#| > d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -T x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -T x y
#| 2c2
#| <	b
#| ---
#| >	B
#| 3a4
#| >	d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --suppress-common-lines -y -W 40 x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --suppress-common-lines -y -W 40 x y
#| b		   |	B
#| 		   >	d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --left-column -y -W 40 x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --left-column -y -W 40 x y
#| a		   (
#| b		   |	B
#| c		   (
#| 		   >	d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --from-file=x y y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --from-file=x y y
#| 2c2
#| < b
#| ---
#| > B
#| 3a4
#| > d
#| 2c2
#| < b
#| ---
#| > B
#| 3a4
#| > d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --to-file=x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --to-file=x y
#| 2c2
#| < B
#| ---
#| > b
#| 4d3
#| < d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --color=never x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --color=never x y
#| 2c2
#| < b
#| ---
#| > B
#| 3a4
#| > d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -H x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -H x y
#| 2c2
#| < b
#| ---
#| > B
#| 3a4
#| > d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -d x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff -d x y
#| 2c2
#| < b
#| ---
#| > B
#| 3a4
#| > d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --horizon-lines=3 x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --horizon-lines=3 x y
#| 2c2
#| < b
#| ---
#| > B
#| 3a4
#| > d
#? 1

#### printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --speed-large-files x y
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff --speed-large-files x y
#| 2c2
#| < b
#| ---
#| > B
#| 3a4
#| > d
#? 1

#### printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff -t x y
printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff -t x y
#| 4c4
#| <         b
#| ---
#| >         c
#? 1

#### printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff -p -U1 --label X --label Y x y
printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff -p -U1 --label X --label Y x y
#| --- X
#| +++ Y
#| @@ -3,3 +3,3 @@ f() {
#|  
#| -	b
#| +	c
#|  }
#? 1

#### printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff -F '^f' -U0 --label X --label Y x y
printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff -F '^f' -U0 --label X --label Y x y
#| --- X
#| +++ Y
#| @@ -4 +4 @@ f() {
#| -	b
#| +	c
#? 1

#### printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff --suppress-blank-empty --label X --label Y -u x y
printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff --suppress-blank-empty --label X --label Y -u x y
#| --- X
#| +++ Y
#| @@ -1,5 +1,5 @@
#|  f() {
#|  	a
#|
#| -	b
#| +	c
#|  }
#? 1

#### printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff -E x y
printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff -E x y
#| 4c4
#| < 	b
#| ---
#| > 	c
#? 1

#### printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff -t --tabsize=4 x y
printf 'f() {\n\ta\n\n\tb\n}\n' > x; printf 'f() {\n\ta\n\n\tc\n}\n' > y; diff -t --tabsize=4 x y
#| 4c4
#| <     b
#| ---
#| >     c
#? 1

#### printf 'a b\n' > x; printf 'a  b\n' > y; diff -b x y; echo $?
printf 'a b\n' > x; printf 'a  b\n' > y; diff -b x y; echo $?
#| 0

#### printf 'a b\n' > x; printf 'a  b\n' > y; diff -w x y; echo $?; printf 'a b \n' > z
printf 'a b\n' > x; printf 'a  b\n' > y; diff -w x y; echo $?; printf 'a b \n' > z
#| 0

#### printf 'a b\n' > x; printf 'a  b\n' > y; diff -Z x z; echo $?; printf 'a b\r\n' > c
printf 'a b\n' > x; printf 'a  b\n' > y; diff -Z x z; echo $?; printf 'a b\r\n' > c
#| 2

#### printf 'a b\n' > x; printf 'a  b\n' > y; diff --strip-trailing-cr x c; echo $?; printf 'a b\n\n' > n
printf 'a b\n' > x; printf 'a  b\n' > y; diff --strip-trailing-cr x c; echo $?; printf 'a b\n\n' > n
#| 2

#### printf 'a b\n' > x; printf 'a  b\n' > y; diff -B x n; echo $?
printf 'a b\n' > x; printf 'a  b\n' > y; diff -B x n; echo $?
#| 2

#### mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -r p q
mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -r p q
#| diff -r p/a q/a
#| 1c1
#| < 1
#| ---
#| > 2
#| Only in p: b
#? 1

#### mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -rq p q
mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -rq p q
#| Files p/a and q/a differ
#| Only in p: b
#? 1

#### mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -rN p q
mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -rN p q
#| diff -rN p/a q/a
#| 1c1
#| < 1
#| ---
#| > 2
#| diff -rN p/b q/b
#| 1d0
#| < 3
#? 1

#### mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -r -x a p q; echo a > ex
mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -r -x a p q; echo a > ex
#| Only in p: b

#### mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -r -X ex p q
mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -r -X ex p q
#| diff -r -X ex p/a q/a
#| 1c1
#| < 1
#| ---
#| > 2
#| Only in p: b
#? 1

#### mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -r -S b p q
mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -r -S b p q
#| Only in p: b
#? 1

#### mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff p/a q
mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff p/a q
#| 1c1
#| < 1
#| ---
#| > 2
#? 1

#### mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -r --unidirectional-new-file p q
mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/b; echo x > ex; diff -r --unidirectional-new-file p q
#| diff -r --unidirectional-new-file p/a q/a
#| 1c1
#| < 1
#| ---
#| > 2
#| Only in p: b
#? 1

#### diff 2>&1; echo $?
diff 2>&1; echo $?
#| diff: missing operand after 'diff'
#| diff: Try 'diff --help' for more information.
#| 2

#### diff a 2>&1; echo $?
diff a 2>&1; echo $?
#| diff: missing operand after 'a'
#| diff: Try 'diff --help' for more information.
#| 2

#### diff no1 no2 2>&1; echo $?
diff no1 no2 2>&1; echo $?
#| diff: no1: No such file or directory
#| diff: no2: No such file or directory
#| 2

#### diff a b c 2>&1; echo $?
diff a b c 2>&1; echo $?
#| diff: extra operand 'c'
#| diff: Try 'diff --help' for more information.
#| 2

#### diff --frob a b 2>&1; echo $?
diff --frob a b 2>&1; echo $?
#| diff: unrecognized option '--frob'
#| diff: Try 'diff --help' for more information.
#| 2

#### diff -U x a b 2>&1; echo $?
diff -U x a b 2>&1; echo $?
#| diff: invalid context length 'x'
#| diff: Try 'diff --help' for more information.
#| 2

#### diff -k a b 2>&1; echo $?
diff -k a b 2>&1; echo $?
#| diff: invalid option -- 'k'
#| diff: Try 'diff --help' for more information.
#| 2

#### printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp x y
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp x y
#| x y differ: byte 3, line 2
#? 1

#### printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -l x y
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -l x y
#| 3 142 143
#? 1

#### printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -s x y; echo $?
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -s x y; echo $?
#| 1

#### printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -b x y
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -b x y
#| x y differ: byte 3, line 2 is 142 b 143 c
#? 1

#### printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -n 2 x y; echo $?
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -n 2 x y; echo $?
#| 0

#### printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -i 3 x y; echo $?
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -i 3 x y; echo $?
#| 0

#### printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -i 1:2 x y
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp -i 1:2 x y
#| x y differ: byte 1, line 1
#? 1

#### printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp x no 2>&1; echo $?
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp x no 2>&1; echo $?
#| cmp: no: No such file or directory
#| 2

#### printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp 2>&1; echo $?
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp 2>&1; echo $?
#| cmp: missing operand after 'cmp'
#| cmp: Try 'cmp --help' for more information.
#| 2

#### printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp --frob x y 2>&1; echo $?
printf 'a\nb\n' > x; printf 'a\nc\n' > y; cmp --frob x y 2>&1; echo $?
#| cmp: unrecognized option '--frob'
#| cmp: Try 'cmp --help' for more information.
#| 2

#### printf 'a\0\0bcd\nefgh\0' > f; od f
printf 'a\0\0bcd\nefgh\0' > f; od f
#| 0000000 000141 061000 062143 062412 063546 000150
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -c f
printf 'a\0\0bcd\nefgh\0' > f; od -c f
#| 0000000   a  \0  \0   b   c   d  \n   e   f   g   h  \0
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -An -tx1 f
printf 'a\0\0bcd\nefgh\0' > f; od -An -tx1 f
#|  61 00 00 62 63 64 0a 65 66 67 68 00

#### printf 'a\0\0bcd\nefgh\0' > f; od -Ad -tx2 f
printf 'a\0\0bcd\nefgh\0' > f; od -Ad -tx2 f
#| 0000000 0061 6200 6463 650a 6766 0068
#| 0000012

#### printf 'a\0\0bcd\nefgh\0' > f; od -b f
printf 'a\0\0bcd\nefgh\0' > f; od -b f
#| 0000000 141 000 000 142 143 144 012 145 146 147 150 000
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -x f
printf 'a\0\0bcd\nefgh\0' > f; od -x f
#| 0000000 0061 6200 6463 650a 6766 0068
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -d f
printf 'a\0\0bcd\nefgh\0' > f; od -d f
#| 0000000    97 25088 25699 25866 26470   104
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -o f
printf 'a\0\0bcd\nefgh\0' > f; od -o f
#| 0000000 000141 061000 062143 062412 063546 000150
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -s f
printf 'a\0\0bcd\nefgh\0' > f; od -s f
#| 0000000     97  25088  25699  25866  26470    104
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -i f
printf 'a\0\0bcd\nefgh\0' > f; od -i f
#| 0000000  1644167265  1695179875     6842214
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -l f
printf 'a\0\0bcd\nefgh\0' > f; od -l f
#| 0000000  7280742125606535265              6842214
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -a f
printf 'a\0\0bcd\nefgh\0' > f; od -a f
#| 0000000   a nul nul   b   c   d  nl   e   f   g   h nul
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -h f
printf 'a\0\0bcd\nefgh\0' > f; od -h f
#| 0000000 0061 6200 6463 650a 6766 0068
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -j3 -N4 -c f
printf 'a\0\0bcd\nefgh\0' > f; od -j3 -N4 -c f
#| 0000003   b   c   d  \n
#| 0000007

#### printf 'a\0\0bcd\nefgh\0' > f; od -tx2 --endian=big f
printf 'a\0\0bcd\nefgh\0' > f; od -tx2 --endian=big f
#| 0000000 6100 0062 6364 0a65 6667 6800
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -tx4 --endian=little f
printf 'a\0\0bcd\nefgh\0' > f; od -tx4 --endian=little f
#| 0000000 62000061 650a6463 00686766
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -S 3 f
printf 'a\0\0bcd\nefgh\0' > f; od -S 3 f
#| 0000007 efgh

#### printf 'a\0\0bcd\nefgh\0' > f; od --strings=4 f
printf 'a\0\0bcd\nefgh\0' > f; od --strings=4 f
#| 0000007 efgh

#### printf 'a\0\0bcd\nefgh\0' > f; od -w4 -tx1 f
printf 'a\0\0bcd\nefgh\0' > f; od -w4 -tx1 f
#| 0000000 61 00 00 62
#| 0000004 63 64 0a 65
#| 0000010 66 67 68 00
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -tx1z f
printf 'a\0\0bcd\nefgh\0' > f; od -tx1z f
#| 0000000 61 00 00 62 63 64 0a 65 66 67 68 00              >a..bcd.efgh.<
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -v -tx1 f
printf 'a\0\0bcd\nefgh\0' > f; od -v -tx1 f
#| 0000000 61 00 00 62 63 64 0a 65 66 67 68 00
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -X f
printf 'a\0\0bcd\nefgh\0' > f; od -X f
#| 0000000 62000061 650a6463 00686766
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -D f
printf 'a\0\0bcd\nefgh\0' > f; od -D f
#| 0000000 1644167265 1695179875    6842214
#| 0000014

#### printf 'a\0\0bcd\nefgh\0' > f; od -A z f 2>&1; echo $?
printf 'a\0\0bcd\nefgh\0' > f; od -A z f 2>&1; echo $?
#| od: invalid output address radix 'z'; it must be one character from [doxn]
#| 1

#### printf 'a\0\0bcd\nefgh\0' > f; od -t q f 2>&1; echo $?
printf 'a\0\0bcd\nefgh\0' > f; od -t q f 2>&1; echo $?
#| od: invalid character 'q' in type string 'q'
#| 1

#### printf 'a\0\0bcd\nefgh\0' > f; od nothing 2>&1; echo $?
printf 'a\0\0bcd\nefgh\0' > f; od nothing 2>&1; echo $?
#| od: nothing: No such file or directory
#| 1

#### printf 'a\0\0bcd\nefgh\0' > f; od --endian=foo f 2>&1; echo $?
printf 'a\0\0bcd\nefgh\0' > f; od --endian=foo f 2>&1; echo $?
#| od: invalid argument 'foo' for '--endian'
#| Valid arguments are:
#|   - 'little'
#|   - 'big'
#| Try 'od --help' for more information.
#| 1

#### printf 'a\0\0bcd\nefgh\0' > f; od -j x f 2>&1; echo $?
printf 'a\0\0bcd\nefgh\0' > f; od -j x f 2>&1; echo $?
#| od: invalid -j argument 'x'
#| 1

#### printf 'hello world, hello\n' > f; xxd f
printf 'hello world, hello\n' > f; xxd f
#| 00000000: 6865 6c6c 6f20 776f 726c 642c 2068 656c  hello world, hel
#| 00000010: 6c6f 0a                                  lo.

#### printf 'hello world, hello\n' > f; xxd -p f
printf 'hello world, hello\n' > f; xxd -p f
#| 68656c6c6f20776f726c642c2068656c6c6f0a

#### printf 'hello world, hello\n' > f; xxd -i f
printf 'hello world, hello\n' > f; xxd -i f
#| unsigned char f[] = {
#|   0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x77, 0x6f, 0x72, 0x6c, 0x64, 0x2c,
#|   0x20, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a
#| };
#| unsigned int f_len = 19;

#### printf 'hello world, hello\n' > f; xxd -c 8 f
printf 'hello world, hello\n' > f; xxd -c 8 f
#| 00000000: 6865 6c6c 6f20 776f  hello wo
#| 00000008: 726c 642c 2068 656c  rld, hel
#| 00000010: 6c6f 0a              lo.

#### printf 'hello world, hello\n' > f; xxd -g 1 f
printf 'hello world, hello\n' > f; xxd -g 1 f
#| 00000000: 68 65 6c 6c 6f 20 77 6f 72 6c 64 2c 20 68 65 6c  hello world, hel
#| 00000010: 6c 6f 0a                                         lo.

#### printf 'hello world, hello\n' > f; xxd -l 4 f
printf 'hello world, hello\n' > f; xxd -l 4 f
#| 00000000: 6865 6c6c                                hell

#### printf 'hello world, hello\n' > f; xxd -s 6 f
printf 'hello world, hello\n' > f; xxd -s 6 f
#| 00000006: 776f 726c 642c 2068 656c 6c6f 0a         world, hello.

#### printf 'hello world, hello\n' > f; xxd -u f
printf 'hello world, hello\n' > f; xxd -u f
#| 00000000: 6865 6C6C 6F20 776F 726C 642C 2068 656C  hello world, hel
#| 00000010: 6C6F 0A                                  lo.

#### printf 'hello world, hello\n' > f; xxd -b -l 4 f
printf 'hello world, hello\n' > f; xxd -b -l 4 f
#| 00000000: 01101000 01100101 01101100 01101100                    hell

#### printf 'hello world, hello\n' > f; xxd -e f
printf 'hello world, hello\n' > f; xxd -e f
#| 00000000: 6c6c6568 6f77206f 2c646c72 6c656820  hello world, hel
#| 00000010:   0a6f6c                             lo.

#### printf 'hello world, hello\n' > f; xxd -d f
printf 'hello world, hello\n' > f; xxd -d f
#| 00000000: 6865 6c6c 6f20 776f 726c 642c 2068 656c  hello world, hel
#| 00000016: 6c6f 0a                                  lo.

#### printf 'hello world, hello\n' > f; xxd -o 16 f
printf 'hello world, hello\n' > f; xxd -o 16 f
#| 00000010: 6865 6c6c 6f20 776f 726c 642c 2068 656c  hello world, hel
#| 00000020: 6c6f 0a                                  lo.

#### printf 'hello world, hello\n' > f; xxd -i -C f
printf 'hello world, hello\n' > f; xxd -i -C f
#| unsigned char F[] = {
#|   0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x77, 0x6f, 0x72, 0x6c, 0x64, 0x2c,
#|   0x20, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a
#| };
#| unsigned int F_LEN = 19;

#### printf 'hello world, hello\n' > f; xxd -n name -i f
printf 'hello world, hello\n' > f; xxd -n name -i f
#| unsigned char name[] = {
#|   0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x77, 0x6f, 0x72, 0x6c, 0x64, 0x2c,
#|   0x20, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a
#| };
#| unsigned int name_len = 19;

#### printf 'hello world, hello\n' > f; xxd -ps f
printf 'hello world, hello\n' > f; xxd -ps f
#| 68656c6c6f20776f726c642c2068656c6c6f0a

#### printf 'hello world, hello\n' > f; xxd -p f | xxd -r -p
printf 'hello world, hello\n' > f; xxd -p f | xxd -r -p
#| hello world, hello

#### printf 'hello world, hello\n' > f; xxd f | xxd -r
printf 'hello world, hello\n' > f; xxd f | xxd -r
#| hello world, hello

#### head -c 100 /dev/zero > z; xxd -a z; xxd z | wc -l; printf x >> z; xxd -a z
head -c 100 /dev/zero > z; xxd -a z; xxd z | wc -l; printf x >> z; xxd -a z
#| 00000000: 0000 0000 0000 0000 0000 0000 0000 0000  ................
#| *
#| 00000060: 0000 0000                                ....
#| 7
#| 00000000: 0000 0000 0000 0000 0000 0000 0000 0000  ................
#| *
#| 00000060: 0000 0000 78                             ....x

#### head -c 48 /dev/zero | xxd -a
head -c 48 /dev/zero | xxd -a
#| 00000000: 0000 0000 0000 0000 0000 0000 0000 0000  ................
#| 00000010: 0000 0000 0000 0000 0000 0000 0000 0000  ................
#| 00000020: 0000 0000 0000 0000 0000 0000 0000 0000  ................

#### head -c 32 /dev/zero | xxd -a
head -c 32 /dev/zero | xxd -a
#| 00000000: 0000 0000 0000 0000 0000 0000 0000 0000  ................
#| 00000010: 0000 0000 0000 0000 0000 0000 0000 0000  ................

#### head -c 64 /dev/zero | xxd -a
head -c 64 /dev/zero | xxd -a
#| 00000000: 0000 0000 0000 0000 0000 0000 0000 0000  ................
#| *
#| 00000030: 0000 0000 0000 0000 0000 0000 0000 0000  ................

#### printf 'hello world, hello\n' > f; hexdump f
printf 'hello world, hello\n' > f; hexdump f
#| 0000000 6568 6c6c 206f 6f77 6c72 2c64 6820 6c65
#| 0000010 6f6c 000a                              
#| 0000013

#### printf 'hello world, hello\n' > f; hexdump -C f
printf 'hello world, hello\n' > f; hexdump -C f
#| 00000000  68 65 6c 6c 6f 20 77 6f  72 6c 64 2c 20 68 65 6c  |hello world, hel|
#| 00000010  6c 6f 0a                                          |lo.|
#| 00000013

#### printf 'hello world, hello\n' > f; hexdump -b f
printf 'hello world, hello\n' > f; hexdump -b f
#| 0000000 150 145 154 154 157 040 167 157 162 154 144 054 040 150 145 154
#| 0000010 154 157 012                                                    
#| 0000013

#### printf 'hello world, hello\n' > f; hexdump -c f
printf 'hello world, hello\n' > f; hexdump -c f
#| 0000000   h   e   l   l   o       w   o   r   l   d   ,       h   e   l
#| 0000010   l   o  \n                                                    
#| 0000013

#### printf 'hello world, hello\n' > f; hexdump -d f
printf 'hello world, hello\n' > f; hexdump -d f
#| 0000000   25960   27756   08303   28535   27762   11364   26656   27749
#| 0000010   28524   00010                                                
#| 0000013

#### printf 'hello world, hello\n' > f; hexdump -o f
printf 'hello world, hello\n' > f; hexdump -o f
#| 0000000  062550  066154  020157  067567  066162  026144  064040  066145
#| 0000010  067554  000012                                                
#| 0000013

#### printf 'hello world, hello\n' > f; hexdump -x f
printf 'hello world, hello\n' > f; hexdump -x f
#| 0000000    6568    6c6c    206f    6f77    6c72    2c64    6820    6c65
#| 0000010    6f6c    000a                                                
#| 0000013

#### printf 'hello world, hello\n' > f; hexdump -n 4 -C f
printf 'hello world, hello\n' > f; hexdump -n 4 -C f
#| 00000000  68 65 6c 6c                                       |hell|
#| 00000004

#### printf 'hello world, hello\n' > f; hexdump -s 6 -C f
printf 'hello world, hello\n' > f; hexdump -s 6 -C f
#| 00000006  77 6f 72 6c 64 2c 20 68  65 6c 6c 6f 0a           |world, hello.|
#| 00000013

#### printf 'hello world, hello\n' > f; hexdump -v -C f
printf 'hello world, hello\n' > f; hexdump -v -C f
#| 00000000  68 65 6c 6c 6f 20 77 6f  72 6c 64 2c 20 68 65 6c  |hello world, hel|
#| 00000010  6c 6f 0a                                          |lo.|
#| 00000013

#### printf 'hello world, hello\n' > f; hexdump -e '4/1 "%02x " "\n"' f; hd f
printf 'hello world, hello\n' > f; hexdump -e '4/1 "%02x " "\n"' f; hd f
#| 68 65 6c 6c
#| 6f 20 77 6f
#| 72 6c 64 2c
#| 20 68 65 6c
#| 6c 6f 0a   
#| 00000000  68 65 6c 6c 6f 20 77 6f  72 6c 64 2c 20 68 65 6c  |hello world, hel|
#| 00000010  6c 6f 0a                                          |lo.|
#| 00000013

#### printf 'hello world, hello\n' > f; hexdump nothing 2>&1; echo $?
printf 'hello world, hello\n' > f; hexdump nothing 2>&1; echo $?
#| hexdump: nothing: No such file or directory
#| hexdump: all input file arguments failed
#| 1

#### printf 'hello world, hello\n' > f; hexdump --frob 2>&1 | head -1
printf 'hello world, hello\n' > f; hexdump --frob 2>&1 | head -1
#| hexdump: unrecognized option '--frob'

#### printf 'abcd\0ef\0ghijk\n' > f; strings f
printf 'abcd\0ef\0ghijk\n' > f; strings f
#| abcd
#| ghijk

#### printf 'abcd\0ef\0ghijk\n' > f; strings -n 2 f
printf 'abcd\0ef\0ghijk\n' > f; strings -n 2 f
#| abcd
#| ef
#| ghijk

#### printf 'abcd\0ef\0ghijk\n' > f; strings -3 f
printf 'abcd\0ef\0ghijk\n' > f; strings -3 f
#| abcd
#| ghijk

#### printf 'abcd\0ef\0ghijk\n' > f; strings -t d f
printf 'abcd\0ef\0ghijk\n' > f; strings -t d f
#|       0 abcd
#|       8 ghijk

#### printf 'abcd\0ef\0ghijk\n' > f; strings -t x f
printf 'abcd\0ef\0ghijk\n' > f; strings -t x f
#|       0 abcd
#|       8 ghijk

#### printf 'abcd\0ef\0ghijk\n' > f; strings -o f
printf 'abcd\0ef\0ghijk\n' > f; strings -o f
#|       0 abcd
#|      10 ghijk

#### printf 'abcd\0ef\0ghijk\n' > f; strings -f f
printf 'abcd\0ef\0ghijk\n' > f; strings -f f
#| f: abcd
#| f: ghijk

#### printf 'abcd\0ef\0ghijk\n' > f; strings -a f
printf 'abcd\0ef\0ghijk\n' > f; strings -a f
#| abcd
#| ghijk

#### printf 'abcd\0ef\0ghijk\n' > f; strings -s , f; printf 'a\0b\0c\0d\0e\0' > w
printf 'abcd\0ef\0ghijk\n' > f; strings -s , f; printf 'a\0b\0c\0d\0e\0' > w
#|- abcd,ghijk,

#### printf 'abcd\0ef\0ghijk\n' > f; strings -e l w; printf '\0a\0b\0c\0d' > v
printf 'abcd\0ef\0ghijk\n' > f; strings -e l w; printf '\0a\0b\0c\0d' > v

#### printf 'abcd\0ef\0ghijk\n' > f; strings -e b v
printf 'abcd\0ef\0ghijk\n' > f; strings -e b v
#? 1

#### printf 'abcd\0ef\0ghijk\n' > f; strings -w f
printf 'abcd\0ef\0ghijk\n' > f; strings -w f
#| abcd
#| ghijk
#|

#### printf 'abcd\0ef\0ghijk\n' > f; strings nothing 2>&1; echo $?
printf 'abcd\0ef\0ghijk\n' > f; strings nothing 2>&1; echo $?
#| strings: 'nothing': No such file
#| 1

#### printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base16 f
printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base16 f
#| aGVsbG8=
#| aGV
#| sbG
#| 8=
#| helloNBSWY3DP
#| hello68656C6C6F

#### printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base64url f
printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base64url f
#| aGVsbG8=
#| aGV
#| sbG
#| 8=
#| helloNBSWY3DP
#| helloaGVsbG8=

#### printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base32hex f
printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base32hex f
#| aGVsbG8=
#| aGV
#| sbG
#| 8=
#| helloNBSWY3DP
#| helloD1IMOR3F

#### printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base2msbf f
printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base2msbf f
#| aGVsbG8=
#| aGV
#| sbG
#| 8=
#| helloNBSWY3DP
#| hello0110100001100101011011000110110001101111

#### printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base2lsbf f
printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base2lsbf f
#| aGVsbG8=
#| aGV
#| sbG
#| 8=
#| helloNBSWY3DP
#| hello0001011010100110001101100011011011110110

#### printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base2lsbf f | basenc --base2lsbf -d
printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --base2lsbf f | basenc --base2lsbf -d
#| aGVsbG8=
#| aGV
#| sbG
#| 8=
#| helloNBSWY3DP
#|- hellohello

#### printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; printf 12345678 | basenc --z85
printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; printf 12345678 | basenc --z85
#| aGVsbG8=
#| aGV
#| sbG
#| 8=
#| helloNBSWY3DP
#| hellof!$Kwh8WxM

#### printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; printf 12345678 | basenc --z85 | basenc --z85 -d
printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; printf 12345678 | basenc --z85 | basenc --z85 -d
#| aGVsbG8=
#| aGV
#| sbG
#| 8=
#| helloNBSWY3DP
#|- hello12345678

#### printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --z85 f 2>&1; echo $?
printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc --z85 f 2>&1; echo $?
#| aGVsbG8=
#| aGV
#| sbG
#| 8=
#| helloNBSWY3DP
#| hellobasenc: invalid input (length must be multiple of 4 characters)
#| 1

#### printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc f 2>&1; echo $?; echo 'aGVs!bG8=' | base64 -d 2>&1; echo $?; echo 'aGVs!bG8=' | base64 -di; base64 --base32 f 2>&1; echo $?; base64 -w x f 2>&1; echo $?; base64 nothing 2>&1; echo $?; base64 a b 2>&1; echo $?
printf 'hello' > f; base64 f; base64 -w 3 f; base64 f | base64 -d; base32 f; base32 f | base32 -d; basenc f 2>&1; echo $?; echo 'aGVs!bG8=' | base64 -d 2>&1; echo $?; echo 'aGVs!bG8=' | base64 -di; base64 --base32 f 2>&1; echo $?; base64 -w x f 2>&1; echo $?; base64 nothing 2>&1; echo $?; base64 a b 2>&1; echo $?
#| aGVsbG8=
#| aGV
#| sbG
#| 8=
#| helloNBSWY3DP
#| hellobasenc: missing encoding type
#| Try 'basenc --help' for more information.
#| 1
#| helbase64: invalid input
#| 1
#| hellobase64: unrecognized option '--base32'
#| Try 'base64 --help' for more information.
#| 1
#| base64: invalid wrap size: 'x'
#| 1
#| base64: nothing: No such file or directory
#| 1
#| base64: extra operand 'b'
#| Try 'base64 --help' for more information.
#| 1

#### echo hi > f; md5sum f; sha1sum f; sha256sum f; sha512sum f; sha224sum f; sha384sum f; b2sum f; b2sum -l 128 f; b2sum -l 128 --tag f
echo hi > f; md5sum f; sha1sum f; sha256sum f; sha512sum f; sha224sum f; sha384sum f; b2sum f; b2sum -l 128 f; b2sum -l 128 --tag f
#| 764efa883dda1e11db47671c4a3bbd9e  f
#| 55ca6286e3e4f4fba5d0448333fa99fc5a404a73  f
#| 98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4  f
#| d78abb0542736865f94704521609c230dac03a2f369d043ac212d6933b91410e06399e37f9c5cc88436a31737330c1c8eccb2c2f9f374d62f716432a32d50fac  f
#| 0689e590864cee67b037c8f4c390a75a192bb01160cc9c21374afb12  f
#| 4284b5694ca6c0d2cf4789a0b95ac8025c818de52304364be7cd2981b2d2edc685b322277ec25819962413d8c9b2c1f5  f
#| 7ea59e7a000ec003846b6607dfd5f9217b681dc1a81b0789b464c3995105d93083f7f0a86fca01a1bed27e9f9303ae58d01746e3b20443480bea56198e65bfc5  f
#| d34d45c68b57eca5c771e244c320c794  f
#| BLAKE2b-128 (f) = d34d45c68b57eca5c771e244c320c794

#### echo hi > f; md5sum --tag f
echo hi > f; md5sum --tag f
#| MD5 (f) = 764efa883dda1e11db47671c4a3bbd9e

#### echo hi > f; md5sum -b f
echo hi > f; md5sum -b f
#| 764efa883dda1e11db47671c4a3bbd9e *f

#### echo hi > f; md5sum -z f | od -c | tail -2
echo hi > f; md5sum -z f | od -c | tail -2
#| 0000040           f  \0
#| 0000044

#### echo hi > f; md5sum < f
echo hi > f; md5sum < f
#| 764efa883dda1e11db47671c4a3bbd9e  -

#### echo hi > f; md5sum f > s
echo hi > f; md5sum f > s

#### echo hi > f; md5sum -c s
echo hi > f; md5sum -c s
#? 1

#### echo hi > f; md5sum --quiet -c s
echo hi > f; md5sum --quiet -c s
#? 1

#### echo hi > f; md5sum --status -c s; echo bad >> f
echo hi > f; md5sum --status -c s; echo bad >> f

#### echo hi > f; md5sum -c s 2>&1; echo $?
echo hi > f; md5sum -c s 2>&1; echo $?
#| md5sum: s: No such file or directory
#| 1

#### echo hi > f; md5sum -c --quiet s 2>&1
echo hi > f; md5sum -c --quiet s 2>&1
#| md5sum: s: No such file or directory
#? 1

#### echo hi > f; md5sum -c --status s; echo $?; echo foo >> s
echo hi > f; md5sum -c --status s; echo $?; echo foo >> s
#| 1

#### echo hi > f; md5sum -c -w s 2>&1
echo hi > f; md5sum -c -w s 2>&1
#| md5sum: s: No such file or directory
#? 1

#### echo hi > f; md5sum -c --strict s 2>&1; echo $?
echo hi > f; md5sum -c --strict s 2>&1; echo $?
#| md5sum: s: No such file or directory
#| 1

#### echo hi > f; md5sum nothing 2>&1; echo $?
echo hi > f; md5sum nothing 2>&1; echo $?
#| md5sum: nothing: No such file or directory
#| 1

#### echo hi > f; md5sum --quiet f 2>&1; echo $?
echo hi > f; md5sum --quiet f 2>&1; echo $?
#| md5sum: the --quiet option is meaningful only when verifying checksums
#| Try 'md5sum --help' for more information.
#| 1

#### echo hi > f; md5sum --tag -t f 2>&1; echo $?
echo hi > f; md5sum --tag -t f 2>&1; echo $?
#| md5sum: --tag does not support --text mode
#| Try 'md5sum --help' for more information.
#| 1

#### echo hi > f; md5sum -l 8 f 2>&1; echo $?; b2sum -l 7 f 2>&1; echo $?; b2sum -l 1024 f 2>&1; echo $?
echo hi > f; md5sum -l 8 f 2>&1; echo $?; b2sum -l 7 f 2>&1; echo $?; b2sum -l 1024 f 2>&1; echo $?
#| md5sum: invalid option -- 'l'
#| Try 'md5sum --help' for more information.
#| 1
#| b2sum: invalid length: '7'
#| b2sum: length is not a multiple of 8
#| 1
#| b2sum: invalid length: '1024'
#| b2sum: maximum digest length for 'BLAKE2b' is 512 bits
#| 1

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum f
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum f
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| 1479881546 3 f

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum < f
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum < f
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| 1479881546 3

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a md5 f
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a md5 f
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| MD5 (f) = 764efa883dda1e11db47671c4a3bbd9e

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a sha256 --untagged f
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a sha256 --untagged f
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| 98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4  f

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a bsd f
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a bsd f
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| 32856     1 f

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a sysv f
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a sysv f
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| 219 1 f

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a crc f
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a crc f
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| 1479881546 3 f

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a sm3 f
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a sm3 f
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| SM3 (f) = 2934aeb13ac00cce1ec3ae6a023744450c93852811eee4c2e33cf42605d39a82

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a blake2b -l 64 f
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a blake2b -l 64 f
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| BLAKE2b-64 (f) = 1b364565c8dbb082

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a md5 f > w
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a md5 f > w
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -c w
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -c w
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#? 1

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a foo f 2>&1 | head -1
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -a foo f 2>&1 | head -1
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| cksum: invalid argument 'foo' for '--algorithm'

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -l 8 f 2>&1; echo $?
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -l 8 f 2>&1; echo $?
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| cksum: --length is only supported with --algorithm=blake2b
#| 1

#### echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -z f | od -c | tail -2; sum f; sum -s f; sum -r f
echo hi > f; b2sum -l 64 f > s; b2sum -c s; md5sum --tag f > t; md5sum -c t; echo 'x  nothing' > u; md5sum -c u 2>&1; echo $?; md5sum --ignore-missing -c t; cksum -z f | od -c | tail -2; sum f; sum -s f; sum -r f
#| f: OK
#| f: OK
#| md5sum: u: no properly formatted checksum lines found
#| 1
#| f: OK
#| 0000000   1   4   7   9   8   8   1   5   4   6       3       f  \0
#| 0000017
#| 32856     1 f
#| 219 1 f
#| 32856     1 f

#### echo a | tee f; cat f
echo a | tee f; cat f
#| a
#| a

#### echo b | tee -a f > /dev/null; cat f
echo b | tee -a f > /dev/null; cat f
#| b

#### echo a | tee -p f
echo a | tee -p f
#| a

#### echo a | tee --output-error=warn f
echo a | tee --output-error=warn f
#| a

#### echo a | tee --output-error=foo f 2>&1; echo $?
echo a | tee --output-error=foo f 2>&1; echo $?
#| tee: invalid argument 'foo' for '--output-error'
#| Valid arguments are:
#|   - 'warn'
#|   - 'warn-nopipe'
#|   - 'exit'
#|   - 'exit-nopipe'
#| Try 'tee --help' for more information.
#| 1

#### echo a | tee -i f
echo a | tee -i f
#| a

#### echo a | tee no/f 2>&1; echo $?
echo a | tee no/f 2>&1; echo $?
#| tee: no/f: No such file or directory
#| a
#| 1

#### tee --frob 2>&1 < /dev/null; echo $?
tee --frob 2>&1 < /dev/null; echo $?
#| tee: unrecognized option '--frob'
#| Try 'tee --help' for more information.
#| 1

#### printf 'a b\nc\n' > f; xargs < f
printf 'a b\nc\n' > f; xargs < f
#| a b c

#### printf 'a b\nc\n' > f; xargs -n1 < f
printf 'a b\nc\n' > f; xargs -n1 < f
#| a
#| b
#| c

#### printf 'a b\nc\n' > f; xargs -L1 < f
printf 'a b\nc\n' > f; xargs -L1 < f
#| a b
#| c

#### printf 'a b\nc\n' > f; xargs -I{} echo '[{}]' < f
printf 'a b\nc\n' > f; xargs -I{} echo '[{}]' < f
#| [a b]
#| [c]

#### printf 'a b\nc\n' > f; xargs -d '\n' -n1 < f
printf 'a b\nc\n' > f; xargs -d '\n' -n1 < f
#| a b
#| c

#### printf 'a b\nc\n' > f; printf 'a\0b' | xargs -0
printf 'a b\nc\n' > f; printf 'a\0b' | xargs -0
#| a b

#### printf 'a b\nc\n' > f; xargs -a f echo
printf 'a b\nc\n' > f; xargs -a f echo
#| a b c

#### printf 'a b\nc\n' > f; xargs -t < f 2>&1
printf 'a b\nc\n' > f; xargs -t < f 2>&1
#| echo a b c
#| a b c

#### printf 'a b\nc\n' > f; echo | xargs -r echo x
printf 'a b\nc\n' > f; echo | xargs -r echo x

#### printf 'a b\nc\n' > f; xargs -P2 -n1 echo < f | sort
printf 'a b\nc\n' > f; xargs -P2 -n1 echo < f | sort
#| a
#| b
#| c

#### printf 'a b\nc\n' > f; xargs -s 20 < f
printf 'a b\nc\n' > f; xargs -s 20 < f
#| a b c

#### printf 'a b\nc\n' > f; printf 'a\nSTOP\nb\n' | xargs -E STOP
printf 'a b\nc\n' > f; printf 'a\nSTOP\nb\n' | xargs -E STOP
#| a

#### printf 'a b\nc\n' > f; xargs -x -n1 -s 20 < f
printf 'a b\nc\n' > f; xargs -x -n1 -s 20 < f
#| a
#| b
#| c

#### printf 'a b\nc\n' > f; xargs --max-args=1 < f
printf 'a b\nc\n' > f; xargs --max-args=1 < f
#| a
#| b
#| c

#### printf 'a b\nc\n' > f; xargs -i echo '<{}>' < f
printf 'a b\nc\n' > f; xargs -i echo '<{}>' < f
#| <a b>
#| <c>

#### printf 'a b\nc\n' > f; xargs -n x < f 2>&1; echo $?
printf 'a b\nc\n' > f; xargs -n x < f 2>&1; echo $?
#| xargs: invalid number "x" for -n option
#| Try 'xargs --help' for more information.
#| 1

#### printf 'a b\nc\n' > f; xargs -n 0 < f 2>&1; echo $?
printf 'a b\nc\n' > f; xargs -n 0 < f 2>&1; echo $?
#| xargs: value 0 for -n option should be >= 1
#| Try 'xargs --help' for more information.
#| 1

#### printf 'a b\nc\n' > f; xargs false < f; echo $?
printf 'a b\nc\n' > f; xargs false < f; echo $?
#| 123

#### printf 'a b\nc\n' > f; xargs nosuchcmd < f 2>/dev/null; echo $?
printf 'a b\nc\n' > f; xargs nosuchcmd < f 2>/dev/null; echo $?
#| 127

#### printf 'a b\nc\n' > f; xargs --frob < f 2>&1; echo $?
printf 'a b\nc\n' > f; xargs --frob < f 2>&1; echo $?
#| xargs: unrecognized option '--frob'
#| Try 'xargs --help' for more information.
#| 1

#### printf 'a b\nc\n' > f; xargs -d ab < f 2>&1; echo $?
printf 'a b\nc\n' > f; xargs -d ab < f 2>&1; echo $?
#| xargs: Invalid input delimiter specification ab: the delimiter must be either a single character or an escape sequence starting with \.
#| 1

#### printf 'a b\nc\n' > f; xargs -a no 2>&1; echo $?
printf 'a b\nc\n' > f; xargs -a no 2>&1; echo $?
#| xargs: Cannot open input file 'no': No such file or directory
#| 1

#### printf 'a b\nc\n' > f; xargs sh -c 'exit 255' < f 2>&1; echo $?
printf 'a b\nc\n' > f; xargs sh -c 'exit 255' < f 2>&1; echo $?
#| xargs: sh: exited with status 255; aborting
#| 124

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -newer d/old | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -newer d/old | sort
#| d
#| d/big
#| d/e
#| d/l
#| d/new

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -newermt 2002-01-01 -type f | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -newermt 2002-01-01 -type f | sort
#| d/big
#| d/new

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -not -newer d/old
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -not -newer d/old
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type f -size +2k
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type f -size +2k
#| d/big

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -size -1k -type f | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -size -1k -type f | sort
#| d/new
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -perm 755 -type d | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -perm 755 -type d | sort
#| d
#| d/e

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -perm -u+w -type f | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -perm -u+w -type f | sort
#| d/big
#| d/new
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -maxdepth 1 -type d | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -maxdepth 1 -type d | sort
#| d
#| d/e

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -mindepth 1 -type d
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -mindepth 1 -type d
#| d/e

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name 'o*'
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name 'o*'
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -iname 'O*'
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -iname 'O*'
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -path '*/e'
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -path '*/e'
#| d/e

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -regex '.*/[no].*' | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -regex '.*/[no].*' | sort
#| d/new
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -regextype posix-extended -regex '.*/(new|old)' | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -regextype posix-extended -regex '.*/(new|old)' | sort
#| d/new
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type l
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type l
#| d/l

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -xtype f | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -xtype f | sort
#| d/big
#| d/l
#| d/new
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -lname 'o*'
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -lname 'o*'
#| d/l

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -empty -type d
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -empty -type d
#| d/e

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type f -printf '%f %s\n' | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type f -printf '%f %s\n' | sort
#| big 3000
#| new 0
#| old 0

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name old -printf '%p %P %h %y %m\n'
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name old -printf '%p %P %h %y %m\n'
#| d/old old d f 644

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type f -exec echo {} \; | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type f -exec echo {} \; | sort
#| d/big
#| d/new
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name e -exec echo {} +
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name e -exec echo {} +
#| d/e

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name e -execdir echo {} \;
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name e -execdir echo {} \;
#| ./e

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name old -print0 | od -c | head -1
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name old -print0 | od -c | head -1
#| 0000000   d   /   o   l   d  \0

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -depth -name 'e*'
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -depth -name 'e*'
#| d/e

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name e -prune -o -type f -print | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name e -prune -o -type f -print | sort
#| d/big
#| d/new
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type f -name new -delete
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type f -name new -delete

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -quit
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -quit

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -newerma d/old -type f | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -newerma d/old -type f | sort
#| d/big
#| d/new

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -neweram d/old -type f | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -neweram d/old -type f | sort
#| d/big
#| d/new

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -mtime +1000
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -mtime +1000
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -mmin -60 -type f | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -mmin -60 -type f | sort
#| d/big
#| d/new

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -links 1 -type f | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -links 1 -type f | sort
#| d/big
#| d/new
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -user "$(id -u)" -name old
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -user "$(id -u)" -name old
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -samefile d/old
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -samefile d/old
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -readable -name old
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -readable -name old
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find -L d -type l
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find -L d -type l

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find -H d -name old
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find -H d -name old
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find -P d -name old
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find -P d -name old
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -true -name old
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -true -name old
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name old -fprint out
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name old -fprint out

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -inum 0
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -inum 0

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -writable -name old
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -writable -name old
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d \( -name old -o -name new \) -a -type f | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d \( -name old -o -name new \) -a -type f | sort
#| d/new
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -ls | wc -l
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -ls | wc -l
#| 6

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name old -fprintf out '%f\n'
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -name old -fprintf out '%f\n'

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -daystart -mtime 0 -type f | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -daystart -mtime 0 -type f | sort
#| d/big
#| d/new

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type f,l | sort
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -type f,l | sort
#| d/big
#| d/l
#| d/new
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -uid "$(id -u)" -name old
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -uid "$(id -u)" -name old
#| d/old

#### mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -wholename d/old
mkdir -p d/e; touch -d 2001-01-01 d/old; touch d/new; printf 'x%.0s' {1..3000} > d/big; chmod 755 d/e; ln -s old d/l; find d -wholename d/old
#| d/old

#### find nothing 2>&1; echo $?
find nothing 2>&1; echo $?
#| find: 'nothing': No such file or directory
#| 1

#### find . -frob 2>&1; echo $?
find . -frob 2>&1; echo $?
#| find: unknown predicate `-frob'
#| 1

#### find . -type z 2>&1; echo $?
find . -type z 2>&1; echo $?
#| find: Unknown argument to -type: z
#| 1

#### find . -name 2>&1; echo $?
find . -name 2>&1; echo $?
#| find: missing argument to `-name'
#| 1

#### find . -size x 2>&1; echo $?
find . -size x 2>&1; echo $?
#| find: invalid -size type `x'
#| 1

#### find . -maxdepth x 2>&1; echo $?
find . -maxdepth x 2>&1; echo $?
#| find: Expected a positive decimal integer argument to -maxdepth, but got 'x'
#| 1

#### find . -newerxy f 2>&1 | head -1
find . -newerxy f 2>&1 | head -1
#| find: invalid predicate `-newerxy'

#### find . -mtime x 2>&1; echo $?
find . -mtime x 2>&1; echo $?
#| find: invalid argument `x' to `-mtime'
#| 1

#### find . -user nosuchuser 2>&1; echo $?
find . -user nosuchuser 2>&1; echo $?
#| find: 'nosuchuser' is not the name of a known user
#| 1

#### find . '(' 2>&1; echo $?
find . '(' 2>&1; echo $?
#| find: invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra predicate after '('
#| 1

#### find . -exec echo 2>&1; echo $?
find . -exec echo 2>&1; echo $?
#| find: missing argument to `-exec'
#| 1

#### find . -perm xyz 2>&1; echo $?
find . -perm xyz 2>&1; echo $?
#| find: invalid mode 'xyz'
#| 1

#### find . -regextype foo 2>&1 | head -1
find . -regextype foo 2>&1 | head -1
#| find: Unknown regular expression type 'foo'; valid types are 'findutils-default', 'ed', 'emacs', 'gnu-awk', 'grep', 'posix-awk', 'awk', 'posix-basic', 'posix-egrep', 'egrep', 'posix-extended', 'posix-minimal-basic', 'sed'.

#### env -i A=1 env
env -i A=1 env
#| A=1

#### env -u HOME printenv HOME; echo $?
env -u HOME printenv HOME; echo $?
#| 1

#### env A=1 printenv A
env A=1 printenv A
#| 1

#### env -C / pwd
env -C / pwd
#| /

#### env -S 'printf %s-%s a b'
env -S 'printf %s-%s a b'
#|- a-b

#### env -0 -i A=1 | od -c
env -0 -i A=1 | od -c
#| 0000000   A   =   1  \0
#| 0000004

#### env --unset=HOME printenv HOME
env --unset=HOME printenv HOME
#? 1

#### env nosuchcmd 2>&1; echo $?
env nosuchcmd 2>&1; echo $?
#| env: 'nosuchcmd': No such file or directory
#| 127

#### env -C no pwd 2>&1; echo $?
env -C no pwd 2>&1; echo $?
#| env: cannot change directory to 'no': No such file or directory
#| 125

#### env --frob 2>&1; echo $?
env --frob 2>&1; echo $?
#| env: unrecognized option '--frob'
#| Try 'env --help' for more information.
#| 125

#### env -u = true 2>&1; echo $?
env -u = true 2>&1; echo $?
#| env: cannot unset '=': Invalid argument
#| 125

#### env -i
env -i

#### env - A=2 env; printenv NOSUCH; echo $?; A=1 printenv -0 A | od -c
env - A=2 env; printenv NOSUCH; echo $?; A=1 printenv -0 A | od -c
#| A=2
#| 1
#| 0000000   1  \0
#| 0000002

#### env --ignore-environment B=2 env
env --ignore-environment B=2 env
#| B=2

#### timeout 5 echo hi
timeout 5 echo hi
#| hi

#### timeout 0.1 sleep 5; echo $?
timeout 0.1 sleep 5; echo $?
#| 124

#### timeout -s KILL 0.1 sleep 5; echo $?
timeout -s KILL 0.1 sleep 5; echo $?
#| 137

#### timeout --preserve-status 0.1 sleep 5; echo $?
timeout --preserve-status 0.1 sleep 5; echo $?
#| 143

#### timeout -k 1 0.1 sleep 5; echo $?
timeout -k 1 0.1 sleep 5; echo $?
#| 124

#### timeout --foreground 5 true; echo $?
timeout --foreground 5 true; echo $?
#| 0

#### timeout -v 0.1 sleep 5 2>&1
timeout -v 0.1 sleep 5 2>&1
#| timeout: sending signal TERM to command 'sleep'
#? 124

#### timeout 2>&1; echo $?
timeout 2>&1; echo $?
#| Try 'timeout --help' for more information.
#| 125

#### timeout 1 2>&1; echo $?
timeout 1 2>&1; echo $?
#| Try 'timeout --help' for more information.
#| 125

#### timeout x true 2>&1; echo $?
timeout x true 2>&1; echo $?
#| timeout: invalid time interval 'x'
#| Try 'timeout --help' for more information.
#| 125

#### timeout -s FOO 1 true 2>&1; echo $?
timeout -s FOO 1 true 2>&1; echo $?
#| timeout: 'FOO': invalid signal
#| Try 'timeout --help' for more information.
#| 125

#### timeout 1 nosuchcmd 2>/dev/null; echo $?
timeout 1 nosuchcmd 2>/dev/null; echo $?
#| 127

#### timeout --frob 1 true 2>&1; echo $?
timeout --frob 1 true 2>&1; echo $?
#| timeout: unrecognized option '--frob'
#| Try 'timeout --help' for more information.
#| 125

#### timeout 1m true; echo $?
timeout 1m true; echo $?
#| 0

#### date -u -d @0
date -u -d @0
#| Thu Jan  1 00:00:00 UTC 1970

#### date -u -d '2001-02-03 04:05:06' +%F_%T
date -u -d '2001-02-03 04:05:06' +%F_%T
#| 2001-02-03_04:05:06

#### date -u -d @0 -I
date -u -d @0 -I
#| 1970-01-01

#### date -u -d @0 -Iseconds
date -u -d @0 -Iseconds
#| 1970-01-01T00:00:00+00:00

#### date -u -d @0 --iso-8601=hours
date -u -d @0 --iso-8601=hours
#| 1970-01-01T00+00:00

#### date -u -d @0 -R
date -u -d @0 -R
#| Thu, 01 Jan 1970 00:00:00 +0000

#### date -u -d @0 --rfc-3339=seconds
date -u -d @0 --rfc-3339=seconds
#| 1970-01-01 00:00:00+00:00

#### date -u -d @0 --rfc-3339=date; printf '2001-01-01\n2002-02-02\n' > f
date -u -d @0 --rfc-3339=date; printf '2001-01-01\n2002-02-02\n' > f
#| 1970-01-01

#### date -u -f f +%Y; touch -d '2001-02-03 UTC' g
date -u -f f +%Y; touch -d '2001-02-03 UTC' g

#### date -u -r g +%F
date -u -r g +%F
#? 1

#### date -d foo 2>&1; echo $?
date -d foo 2>&1; echo $?
#| date: invalid date 'foo'
#| 1

#### date -Ifoo 2>&1; echo $?
date -Ifoo 2>&1; echo $?
#| date: invalid argument 'foo' for '--iso-8601'
#| Valid arguments are:
#|   - 'hours'
#|   - 'minutes'
#|   - 'date'
#|   - 'seconds'
#|   - 'ns'
#| Try 'date --help' for more information.
#| 1

#### date --rfc-3339=foo 2>&1; echo $?
date --rfc-3339=foo 2>&1; echo $?
#| date: invalid argument 'foo' for '--rfc-3339'
#| Valid arguments are:
#|   - 'date'
#|   - 'seconds'
#|   - 'ns'
#| Try 'date --help' for more information.
#| 1

#### date -u -d @0 +%a +%b 2>&1; echo $?
date -u -d @0 +%a +%b 2>&1; echo $?
#| date: extra operand '+%b'
#| Try 'date --help' for more information.
#| 1

#### date --frob 2>&1; echo $?
date --frob 2>&1; echo $?
#| date: unrecognized option '--frob'
#| Try 'date --help' for more information.
#| 1

#### date -r nothing 2>&1; echo $?
date -r nothing 2>&1; echo $?
#| date: nothing: No such file or directory
#| 1

#### date -u +%Y -d @0
date -u +%Y -d @0
#| 1970

#### date --utc --date=@86400 +%j
date --utc --date=@86400 +%j
#| 002

#### basename /a/b.c .c
basename /a/b.c .c
#| b

#### basename -a /a/b /c/d
basename -a /a/b /c/d
#| b
#| d

#### basename -s .c a.c b.c
basename -s .c a.c b.c
#| a
#| b

#### basename -z a | od -c
basename -z a | od -c
#| 0000000   a  \0
#| 0000002

#### basename 2>&1; echo $?
basename 2>&1; echo $?
#| basename: missing operand
#| Try 'basename --help' for more information.
#| 1

#### basename a b c 2>&1; echo $?
basename a b c 2>&1; echo $?
#| basename: extra operand 'c'
#| Try 'basename --help' for more information.
#| 1

#### basename --frob 2>&1; echo $?; dirname /a/b c; dirname -z a/b | od -c; dirname 2>&1; echo $?
basename --frob 2>&1; echo $?; dirname /a/b c; dirname -z a/b | od -c; dirname 2>&1; echo $?
#| basename: unrecognized option '--frob'
#| Try 'basename --help' for more information.
#| 1
#| /a
#| .
#| 0000000   a  \0
#| 0000002
#| dirname: missing operand
#| Try 'dirname --help' for more information.
#| 1

#### mktemp -u XXXXXX | wc -c
mktemp -u XXXXXX | wc -c
#| 7

#### mktemp -d | sed 's|.*/tmp|tmp|' | cut -c1-4
mktemp -d | sed 's|.*/tmp|tmp|' | cut -c1-4
#| tmp.

#### mktemp --suffix=.t aXXXX | cut -c1,6-
mktemp --suffix=.t aXXXX | cut -c1,6-
#| a.t

#### mktemp -p . xXXX | cut -c1-3
mktemp -p . xXXX | cut -c1-3
#| ./x

#### mktemp -t yXXX | sed 's|.*/||' | cut -c1
mktemp -t yXXX | sed 's|.*/||' | cut -c1
#| y

#### mktemp aX 2>&1; echo $?
mktemp aX 2>&1; echo $?
#| mktemp: too few X's in template 'aX'
#| 1

#### mktemp a b 2>&1; echo $?
mktemp a b 2>&1; echo $?
#| mktemp: too many templates
#| Try 'mktemp --help' for more information.
#| 1

#### mktemp -q /no/aXXX; echo $?
mktemp -q /no/aXXX; echo $?
#| 1

#### mktemp /no/aXXX 2>&1 | sed 's/a...:/a:/'
mktemp /no/aXXX 2>&1 | sed 's/a...:/a:/'
#| mktemp: failed to create file via template '/no/aXXX': No such file or directory

#### mktemp --suffix=a/b aXXX 2>&1; echo $?
mktemp --suffix=a/b aXXX 2>&1; echo $?
#| mktemp: invalid suffix 'a/b', contains directory separator
#| 1

#### mktemp --tmpdir=. zXXX | cut -c1-3
mktemp --tmpdir=. zXXX | cut -c1-3
#| ./z

#### mktemp --frob 2>&1; echo $?
mktemp --frob 2>&1; echo $?
#| mktemp: unrecognized option '--frob'
#| Try 'mktemp --help' for more information.
#| 1

#### echo hello > f; dd if=f of=g bs=2 count=1 status=none; cat g
echo hello > f; dd if=f of=g bs=2 count=1 status=none; cat g
#|- he

#### echo hello > f; dd if=f skip=2 bs=1 status=none
echo hello > f; dd if=f skip=2 bs=1 status=none
#| llo

#### echo hello > f; dd if=f conv=ucase status=none
echo hello > f; dd if=f conv=ucase status=none
#| HELLO

#### echo hello > f; dd if=f bs=1 seek=2 of=h status=none; od -c h
echo hello > f; dd if=f bs=1 seek=2 of=h status=none; od -c h
#| 0000000  \0  \0   h   e   l   l   o  \n
#| 0000010

#### echo hello > f; dd if=f conv=swab status=none
echo hello > f; dd if=f conv=swab status=none
#| ehll
#|- o

#### echo hello > f; dd if=f count=3 iflag=count_bytes status=none
echo hello > f; dd if=f count=3 iflag=count_bytes status=none
#|- hel

#### echo hello > f; dd if=f status=noxfer 2>&1 > /dev/null
echo hello > f; dd if=f status=noxfer 2>&1 > /dev/null
#| 0+1 records in
#| 0+1 records out

#### echo hello > f; dd if=no 2>&1; echo $?
echo hello > f; dd if=no 2>&1; echo $?
#| dd: failed to open 'no': No such file or directory
#| 1

#### echo hello > f; dd foo=1 2>&1; echo $?
echo hello > f; dd foo=1 2>&1; echo $?
#| dd: unrecognized operand 'foo=1'
#| Try 'dd --help' for more information.
#| 1

#### echo hello > f; dd bs=x 2>&1; echo $?
echo hello > f; dd bs=x 2>&1; echo $?
#| dd: invalid number: 'x'
#| 1

#### echo hello > f; dd conv=foo 2>&1; echo $?
echo hello > f; dd conv=foo 2>&1; echo $?
#| dd: invalid conversion: 'foo'
#| Try 'dd --help' for more information.
#| 1

#### echo hello > f; dd --frob 2>&1; echo $?
echo hello > f; dd --frob 2>&1; echo $?
#| dd: unrecognized option '--frob'
#| Try 'dd --help' for more information.
#| 1

#### echo hello > f; dd if=f of=g conv=notrunc oflag=append status=none; wc -c < g
echo hello > f; dd if=f of=g conv=notrunc oflag=append status=none; wc -c < g
#| 6

#### truncate -s 5 f; wc -c < f; truncate -s +3 f
truncate -s 5 f; wc -c < f; truncate -s +3 f
#| 5

#### truncate -s 5 f; wc -c < f; truncate -s -2 f
truncate -s 5 f; wc -c < f; truncate -s -2 f
#| 5

#### truncate -s 5 f; wc -c < f; truncate -s '<4' f
truncate -s 5 f; wc -c < f; truncate -s '<4' f
#| 5

#### truncate -s 5 f; wc -c < f; truncate -s %10 f
truncate -s 5 f; wc -c < f; truncate -s %10 f
#| 5

#### truncate -s 5 f; wc -c < f; truncate -r f g
truncate -s 5 f; wc -c < f; truncate -r f g
#| 5

#### truncate -s 5 f; wc -c < g; truncate -c -s 1 no; ls; truncate -s x f 2>&1; echo $?; truncate f 2>&1; echo $?; truncate -s 1 2>&1; echo $?; truncate -s 1K f
truncate -s 5 f; wc -c < g; truncate -c -s 1 no; ls; truncate -s x f 2>&1; echo $?; truncate f 2>&1; echo $?; truncate -s 1 2>&1; echo $?; truncate -s 1K f
#| f
#| truncate: Invalid number: 'x'
#| 1
#| truncate: you must specify either '--size' or '--reference'
#| Try 'truncate --help' for more information.
#| 1
#| truncate: missing file operand
#| Try 'truncate --help' for more information.
#| 1

#### truncate -s 5 f; wc -c < f; truncate -o -s 1 f
truncate -s 5 f; wc -c < f; truncate -o -s 1 f
#| 5

#### truncate -s 5 f; wc -c < f
truncate -s 5 f; wc -c < f
#| 5

#### getopt ab: -a -b x y
getopt ab: -a -b x y
#|  -a -b x -- y

#### getopt -o ab: -l long,arg: -- -a --long --arg=v z
getopt -o ab: -l long,arg: -- -a --long --arg=v z
#|  -a --long --arg 'v' -- 'z'

#### getopt -o a -- -z 2>&1; echo $?
getopt -o a -- -z 2>&1; echo $?
#| getopt: invalid option -- 'z'
#|  --
#| 1

#### getopt -q -o a -- -z; echo $?
getopt -q -o a -- -z; echo $?
#|  --
#| 1

#### getopt -T; echo $?
getopt -T; echo $?
#| 4

#### getopt -u -o a -- -a 'x y'
getopt -u -o a -- -a 'x y'
#|  -a -- x y

#### getopt -n prog -o a -- -z 2>&1
getopt -n prog -o a -- -z 2>&1
#| prog: invalid option -- 'z'
#|  --
#? 1

#### getopt -a -o a -l foo -- -foo
getopt -a -o a -l foo -- -foo
#|  --foo --

#### getopt -s sh -o a -- -a
getopt -s sh -o a -- -a
#|  -a --

#### getopt 2>&1 | head -1; echo ${PIPESTATUS[0]}
getopt 2>&1 | head -1; echo ${PIPESTATUS[0]}
#| getopt: missing optstring argument
#| 2

#### getopt --frob 2>&1 | head -1
getopt --frob 2>&1 | head -1
#| getopt: unrecognized option '--frob'

#### uname -s
uname -s
#| Linux

#### uname -o
uname -o
#| GNU/Linux

#### uname -m | wc -l
uname -m | wc -l
#| 1

#### uname --kernel-name
uname --kernel-name
#| Linux

#### uname x 2>&1; echo $?
uname x 2>&1; echo $?
#| uname: extra operand 'x'
#| Try 'uname --help' for more information.
#| 1

#### uname --frob 2>&1; echo $?
uname --frob 2>&1; echo $?
#| uname: unrecognized option '--frob'
#| Try 'uname --help' for more information.
#| 1

#### nproc --frob 2>&1; echo $?
nproc --frob 2>&1; echo $?
#| nproc: unrecognized option '--frob'
#| Try 'nproc --help' for more information.
#| 1

#### nproc x 2>&1; echo $?
nproc x 2>&1; echo $?
#| nproc: extra operand 'x'
#| Try 'nproc --help' for more information.
#| 1

#### arch --frob 2>&1; echo $?
arch --frob 2>&1; echo $?
#| arch: unrecognized option '--frob'
#| Try 'arch --help' for more information.
#| 1

#### arch x 2>&1; echo $?
arch x 2>&1; echo $?
#| arch: extra operand 'x'
#| Try 'arch --help' for more information.
#| 1

#### whoami x 2>&1; echo $?
whoami x 2>&1; echo $?
#| whoami: extra operand 'x'
#| Try 'whoami --help' for more information.
#| 1

#### id --frob 2>&1; echo $?
id --frob 2>&1; echo $?
#| id: unrecognized option '--frob'
#| Try 'id --help' for more information.
#| 1

#### id -u -g 2>&1; echo $?
id -u -g 2>&1; echo $?
#| id: cannot print "only" of more than one choice
#| 1

#### id -n 2>&1; echo $?
id -n 2>&1; echo $?
#| id: cannot print only names or real IDs in default format
#| 1

#### id -z 2>&1; echo $?
id -z 2>&1; echo $?
#| id: option --zero not permitted in default format
#| 1

#### id nosuchuser 2>&1; echo $?
id nosuchuser 2>&1; echo $?
#| id: 'nosuchuser': no such user
#| 1

#### sync --frob 2>&1; echo $?
sync --frob 2>&1; echo $?
#| sync: unrecognized option '--frob'
#| Try 'sync --help' for more information.
#| 1

#### sync nothing 2>&1; echo $?
sync nothing 2>&1; echo $?
#| sync: error opening 'nothing': No such file or directory
#| 1

#### tty --frob 2>&1; echo $?
tty --frob 2>&1; echo $?
#| tty: unrecognized option '--frob'
#| Try 'tty --help' for more information.
#| 2

#### link 2>&1; echo $?
link 2>&1; echo $?
#| link: missing operand
#| Try 'link --help' for more information.
#| 1

#### unlink 2>&1; echo $?
unlink 2>&1; echo $?
#| unlink: missing operand
#| Try 'unlink --help' for more information.
#| 1

#### mkfifo 2>&1; echo $?
mkfifo 2>&1; echo $?
#| mkfifo: missing operand
#| Try 'mkfifo --help' for more information.
#| 1

#### tsort --frob 2>&1; echo $?
tsort --frob 2>&1; echo $?
#| tsort: unrecognized option '--frob'
#| Try 'tsort --help' for more information.
#| 1

#### factor x 2>&1; echo $?
factor x 2>&1; echo $?
#| factor: 'x' is not a valid positive integer
#| 1

#### sleep 2>&1; echo $?
sleep 2>&1; echo $?
#| sleep: missing operand
#| Try 'sleep --help' for more information.
#| 1

#### sleep x 2>&1; echo $?
sleep x 2>&1; echo $?
#| sleep: invalid time interval 'x'
#| Try 'sleep --help' for more information.
#| 1

#### expr 2>&1; echo $?
expr 2>&1; echo $?
#| expr: missing operand
#| Try 'expr --help' for more information.
#| 2

#### expr 1 + 2>&1; echo $?
expr 1 + 2>&1; echo $?
#| expr: syntax error: missing argument after '+'
#| 2

#### nohup 2>&1; echo $?
nohup 2>&1; echo $?
#| nohup: missing operand
#| Try 'nohup --help' for more information.
#| 125

#### nice -n x true 2>&1; echo $?
nice -n x true 2>&1; echo $?
#| nice: invalid adjustment 'x'
#| 125

#### yes --frob 2>&1; echo $?
yes --frob 2>&1; echo $?
#| yes: unrecognized option '--frob'
#| Try 'yes --help' for more information.
#| 1

#### true --frob; echo $?
true --frob; echo $?
#| 0

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf t.tar d
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf t.tar d

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf t.tar
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf t.tar
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar -tvf t.tar | wc -l
mkdir d; echo 1 > d/a; echo 2 > d/b; tar -tvf t.tar | wc -l
#| 0

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar -xf t.tar -C . --strip-components=1; ls
mkdir d; echo 1 > d/a; echo 2 > d/b; tar -xf t.tar -C . --strip-components=1; ls
#| d

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar -xOf t.tar d/a
mkdir d; echo 1 > d/a; echo 2 > d/b; tar -xOf t.tar d/a
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar czf t.tgz d
mkdir d; echo 1 > d/a; echo 2 > d/b; tar czf t.tgz d

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tzf t.tgz
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tzf t.tgz
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar -caf t.tar.xz d
mkdir d; echo 1 > d/a; echo 2 > d/b; tar -caf t.tar.xz d

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf t.tar.xz
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf t.tar.xz
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf - d | tar tf - | sort
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf - d | tar tf - | sort
#| d/
#| d/a
#| d/b

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf x.tar --exclude=b d
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf x.tar --exclude=b d

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf x.tar
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf x.tar
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; printf 'd/a\0' | tar cf n.tar --null -T -
mkdir d; echo 1 > d/a; echo 2 > d/b; printf 'd/a\0' | tar cf n.tar --null -T -

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf n.tar
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf n.tar
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf m.tar --mode=600 d/a
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf m.tar --mode=600 d/a

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tvf m.tar | cut -c1-10
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tvf m.tar | cut -c1-10

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf o.tar --owner=root --group=root d/a
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf o.tar --owner=root --group=root d/a

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tvf o.tar | cut -d' ' -f2
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tvf o.tar | cut -d' ' -f2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar --transform='s/a/z/' -cf p.tar d/a
mkdir d; echo 1 > d/a; echo 2 > d/b; tar --transform='s/a/z/' -cf p.tar d/a

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf p.tar
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf p.tar
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar --transform='s/A/q/i' -cf p.tar d/a
mkdir d; echo 1 > d/a; echo 2 > d/b; tar --transform='s/A/q/i' -cf p.tar d/a

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar rf t.tar d/a
mkdir d; echo 1 > d/a; echo 2 > d/b; tar rf t.tar d/a

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf t.tar | wc -l
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf t.tar | wc -l
#| 0

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cvf v.tar d | sort
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cvf v.tar d | sort
#| d/
#| d/a
#| d/b

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar xvf t.tar d/a | head -1
mkdir d; echo 1 > d/a; echo 2 > d/b; tar xvf t.tar d/a | head -1

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar -xkf t.tar 2>&1 | head -1
mkdir d; echo 1 > d/a; echo 2 > d/b; tar -xkf t.tar 2>&1 | head -1
#| tar: t.tar: Cannot open: No such file or directory

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar --skip-old-files -xf t.tar; echo $?
mkdir d; echo 1 > d/a; echo 2 > d/b; tar --skip-old-files -xf t.tar; echo $?
#| 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar xf t.tar --wildcards '*/b'
mkdir d; echo 1 > d/a; echo 2 > d/b; tar xf t.tar --wildcards '*/b'
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf - --no-recursion d | tar tf -; mkdir -p d/.git
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf - --no-recursion d | tar tf -; mkdir -p d/.git
#| d/

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf g.tar --exclude-vcs d
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf g.tar --exclude-vcs d

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf g.tar
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf g.tar
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf s.tar --sort=name d
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf s.tar --sort=name d

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf s.tar
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf s.tar
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar -cf h.tar -H ustar d/a
mkdir d; echo 1 > d/a; echo 2 > d/b; tar -cf h.tar -H ustar d/a

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf h.tar
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf h.tar
#? 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf 2>&1 | head -1
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf 2>&1 | head -1
#| tar: Old option 'f' requires an argument.

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar 2>&1; echo $?
mkdir d; echo 1 > d/a; echo 2 > d/b; tar 2>&1; echo $?
#| tar: You must specify one of the '-Acdtrux', '--delete' or '--test-label' options
#| Try 'tar --help' or 'tar --usage' for more information.
#| 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar xf nothing.tar 2>&1; echo $?
mkdir d; echo 1 > d/a; echo 2 > d/b; tar xf nothing.tar 2>&1; echo $?
#| tar: nothing.tar: Cannot open: No such file or directory
#| tar: Error is not recoverable: exiting now
#| 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf e.tar 2>&1; echo $?
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf e.tar 2>&1; echo $?
#| tar: Cowardly refusing to create an empty archive
#| Try 'tar --help' or 'tar --usage' for more information.
#| 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf t.tar nosuch 2>&1; echo $?
mkdir d; echo 1 > d/a; echo 2 > d/b; tar tf t.tar nosuch 2>&1; echo $?
#| tar: t.tar: Cannot open: No such file or directory
#| tar: Error is not recoverable: exiting now
#| 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar --frob 2>&1; echo $?
mkdir d; echo 1 > d/a; echo 2 > d/b; tar --frob 2>&1; echo $?
#| tar: unrecognized option '--frob'
#| Try 'tar --help' or 'tar --usage' for more information.
#| 64

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cxf t.tar 2>&1; echo $?
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cxf t.tar 2>&1; echo $?
#| tar: You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option
#| Try 'tar --help' or 'tar --usage' for more information.
#| 2

#### mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf q.tar nothing 2>&1; echo $?
mkdir d; echo 1 > d/a; echo 2 > d/b; tar cf q.tar nothing 2>&1; echo $?
#| tar: nothing: Cannot stat: No such file or directory
#| tar: Exiting with failure status due to previous errors
#| 2

#### echo hello > f; gzip -k f; ls
echo hello > f; gzip -k f; ls
#| f
#| f.gz

#### echo hello > f; gzip -dc f.gz
echo hello > f; gzip -dc f.gz
#? 1

#### echo hello > f; gzip -l f.gz | wc -l
echo hello > f; gzip -l f.gz | wc -l
#| 0

#### echo hello > f; gzip -t f.gz; echo $?; gunzip -f f.gz; ls
echo hello > f; gzip -t f.gz; echo $?; gunzip -f f.gz; ls
#| 1
#| f

#### echo hello > f; gzip -c f | zcat
echo hello > f; gzip -c f | zcat
#| hello

#### echo hello > f; gzip -9 -k -S .z f; ls
echo hello > f; gzip -9 -k -S .z f; ls
#| f
#| f.z

#### echo hello > f; gzip -f f; ls
echo hello > f; gzip -f f; ls
#| f.gz

#### echo hello > f; gzip nothing 2>&1; echo $?
echo hello > f; gzip nothing 2>&1; echo $?
#| gzip: nothing: No such file or directory
#| 1

#### echo hello > f; gzip -d nothing.gz 2>&1; echo $?; mkdir d
echo hello > f; gzip -d nothing.gz 2>&1; echo $?; mkdir d
#| gzip: nothing.gz: No such file or directory
#| 1

#### echo hello > f; gzip d 2>&1; echo $?
echo hello > f; gzip d 2>&1; echo $?
#| gzip: d: No such file or directory
#| 1

#### echo hello > f; echo foo | gzip -d 2>&1; echo $?
echo hello > f; echo foo | gzip -d 2>&1; echo $?
#|
#| gzip: stdin: not in gzip format
#| 1

#### echo hello > f; gzip --frob 2>&1; echo $?
echo hello > f; gzip --frob 2>&1; echo $?
#| gzip: unrecognized option '--frob'
#| Try `gzip --help' for more information.
#| 1

#### echo hello > f; gzip -n -k f; ls
echo hello > f; gzip -n -k f; ls
#| f
#| f.gz

#### echo hello > f; gzip -rk d; echo $?
echo hello > f; gzip -rk d; echo $?
#| 1

#### echo hello > f; gzip --fast -c f | gzip -dc
echo hello > f; gzip --fast -c f | gzip -dc
#| hello

#### echo hello > f; gzip --best -c f | gzip -d
echo hello > f; gzip --best -c f | gzip -d
#| hello

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -l z.zip | tail -1
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -l z.zip | tail -1
#|         6                     1 file

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -p z.zip
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -p z.zip
#| hello

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -q -d o z.zip; cat o/d/f; zip -qr r.zip d
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -q -d o z.zip; cat o/d/f; zip -qr r.zip d
#| hello

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -Z1 r.zip; zip -qrD n.zip d
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -Z1 r.zip; zip -qrD n.zip d

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -Z1 n.zip; zip -qj j.zip d/f
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -Z1 n.zip; zip -qj j.zip d/f

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -Z1 j.zip; zip -qr x.zip d -x 'd/f'
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -Z1 j.zip; zip -qr x.zip d -x 'd/f'

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -Z1 x.zip; zip -qm m.zip d/f; ls d
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -Z1 x.zip; zip -qm m.zip d/f; ls d

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -oq z.zip; echo $?
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -oq z.zip; echo $?
#| 0

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -nq z.zip; echo $?
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -nq z.zip; echo $?
#| 0

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -tq z.zip
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -tq z.zip
#| No errors detected in compressed data of z.zip.

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip nothing.zip 2>&1; echo $?
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip nothing.zip 2>&1; echo $?
#| unzip:  cannot find or open nothing.zip, nothing.zip.zip or nothing.zip.ZIP.
#| 9

#### mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -j -q -d k z.zip; ls k
mkdir d; echo hello > d/f; zip -q z.zip d/f; unzip -j -q -d k z.zip; ls k
#| f
