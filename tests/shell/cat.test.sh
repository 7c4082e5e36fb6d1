#### printf 'a\n\n\nb\tc\n\001x\n' | cat -n
printf 'a\n\n\nb\tc\n\001x\n' | cat -n
#|      1	a
#|      2	
#|      3	
#|      4	b	c
#|      5	x

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -b
printf 'a\n\n\nb\tc\n\001x\n' | cat -b
#|      1	a
#|
#|
#|      2	b	c
#|      3	x

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -s
printf 'a\n\n\nb\tc\n\001x\n' | cat -s
#| a
#|
#| b	c
#| x

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -E
printf 'a\n\n\nb\tc\n\001x\n' | cat -E
#| a$
#| $
#| $
#| b	c$
#| x$

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -T
printf 'a\n\n\nb\tc\n\001x\n' | cat -T
#| a
#|
#|
#| b^Ic
#| x

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -A
printf 'a\n\n\nb\tc\n\001x\n' | cat -A
#| a$
#| $
#| $
#| b^Ic$
#| ^Ax$

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -v
printf 'a\n\n\nb\tc\n\001x\n' | cat -v
#| a
#|
#|
#| b	c
#| ^Ax

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -e
printf 'a\n\n\nb\tc\n\001x\n' | cat -e
#| a$
#| $
#| $
#| b	c$
#| ^Ax$

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -t
printf 'a\n\n\nb\tc\n\001x\n' | cat -t
#| a
#|
#|
#| b^Ic
#| ^Ax

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -sn
printf 'a\n\n\nb\tc\n\001x\n' | cat -sn
#|      1	a
#|      2	
#|      3	b	c
#|      4	x

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -nb
printf 'a\n\n\nb\tc\n\001x\n' | cat -nb
#|      1	a
#|
#|
#|      2	b	c
#|      3	x

#### printf 'a\n\n\nb\tc\n\001x\n' | cat -bE
printf 'a\n\n\nb\tc\n\001x\n' | cat -bE
#|      1	a$
#| $
#| $
#|      2	b	c$
#|      3	x$

#### printf 'a\n' > f; printf 'b\n' > g; cat f g
printf 'a\n' > f; printf 'b\n' > g; cat f g
#| a
#| b

#### printf 'a' > f; cat f - f <<< b
printf 'a' > f; cat f - f <<< b
#| ab
#|- a

#### cat missing
cat missing
#? 1

#### printf 'x\n' > f; cat f missing; echo $?
printf 'x\n' > f; cat f missing; echo $?
#| x
#| 1

#### cat -q
cat -q
#? 1

#### cat --bad
cat --bad
#? 1

#### mkdir d; cat d
mkdir d; cat d
#? 1

#### printf 'no newline' | cat -n
printf 'no newline' | cat -n
#|-      1	no newline

#### cat /dev/null | wc -c
cat /dev/null | wc -c
#| 0

#### echo hi | cat -
echo hi | cat -
#| hi

