#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join  x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join  x y
#| 1 a A
#| 3 c C

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -a1 x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -a1 x y
#| 1 a A
#| 2 b
#| 3 c C

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -a2 x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -a2 x y
#| 1 a A
#| 3 c C
#| 4 D

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -a1 -a2 x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -a1 -a2 x y
#| 1 a A
#| 2 b
#| 3 c C
#| 4 D

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -v1 x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -v1 x y
#| 2 b

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -v2 x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -v2 x y
#| 4 D

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -o 1.2,2.2 x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -o 1.2,2.2 x y
#| a A
#| c C

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -o 0,1.2,2.2 -a1 -e NA x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -o 0,1.2,2.2 -a1 -e NA x y
#| 1 a A
#| 2 b NA
#| 3 c C

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -1 1 -2 1 x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -1 1 -2 1 x y
#| 1 a A
#| 3 c C

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -j 1 x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -j 1 x y
#| 1 a A
#| 3 c C

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -a1 -e - -o auto x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -a1 -e - -o auto x y
#| 1 a A
#| 2 b -
#| 3 c C

#### printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -i x y
printf '1 a\n2 b\n3 c\n' > x; printf '1 A\n3 C\n4 D\n' > y; join -i x y
#| 1 a A
#| 3 c C

#### printf 'a,1\n' > x; printf 'a,2\n' > y; join -t, x y
printf 'a,1\n' > x; printf 'a,2\n' > y; join -t, x y
#| a,1,2

#### join x
join x
#? 1

#### join missing y
join missing y
#? 1

#### printf 'k 1\n' > x; printf '1 k\n' > y; join -2 2 x y
printf 'k 1\n' > x; printf '1 k\n' > y; join -2 2 x y
#| k 1 1

