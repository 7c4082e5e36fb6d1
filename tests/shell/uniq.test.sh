#### printf 'a\na\nb\nc\nc\nC\n' | uniq 
printf 'a\na\nb\nc\nc\nC\n' | uniq 
#| a
#| b
#| c
#| C

#### printf 'a\na\nb\nc\nc\nC\n' | uniq -c
printf 'a\na\nb\nc\nc\nC\n' | uniq -c
#|       2 a
#|       1 b
#|       2 c
#|       1 C

#### printf 'a\na\nb\nc\nc\nC\n' | uniq -d
printf 'a\na\nb\nc\nc\nC\n' | uniq -d
#| a
#| c

#### printf 'a\na\nb\nc\nc\nC\n' | uniq -u
printf 'a\na\nb\nc\nc\nC\n' | uniq -u
#| b
#| C

#### printf 'a\na\nb\nc\nc\nC\n' | uniq -i
printf 'a\na\nb\nc\nc\nC\n' | uniq -i
#| a
#| b
#| c

#### printf 'a\na\nb\nc\nc\nC\n' | uniq -D
printf 'a\na\nb\nc\nc\nC\n' | uniq -D
#| a
#| a
#| c
#| c

#### printf 'a\na\nb\nc\nc\nC\n' | uniq -ci
printf 'a\na\nb\nc\nc\nC\n' | uniq -ci
#|       2 a
#|       1 b
#|       3 c

#### printf 'a\na\nb\nc\nc\nC\n' | uniq -di
printf 'a\na\nb\nc\nc\nC\n' | uniq -di
#| a
#| c

#### printf 'a\na\nb\nc\nc\nC\n' | uniq --count
printf 'a\na\nb\nc\nc\nC\n' | uniq --count
#|       2 a
#|       1 b
#|       2 c
#|       1 C

#### printf 'a\na\nb\nc\nc\nC\n' | uniq --group
printf 'a\na\nb\nc\nc\nC\n' | uniq --group
#| a
#| a
#|
#| b
#|
#| c
#| c
#|
#| C

#### printf 'a\na\nb\nc\nc\nC\n' | uniq -w1
printf 'a\na\nb\nc\nc\nC\n' | uniq -w1
#| a
#| b
#| c
#| C

#### printf 'a\na\nb\nc\nc\nC\n' | uniq -c -d
printf 'a\na\nb\nc\nc\nC\n' | uniq -c -d
#|       2 a
#|       2 c

#### printf 'a\na\nb\nc\nc\nC\n' | uniq --all-repeated=separate
printf 'a\na\nb\nc\nc\nC\n' | uniq --all-repeated=separate
#| a
#| a
#|
#| c
#| c

#### printf 'a\na\nb\nc\nc\nC\n' | uniq --group=prepend
printf 'a\na\nb\nc\nc\nC\n' | uniq --group=prepend
#|
#| a
#| a
#|
#| b
#|
#| c
#| c
#|
#| C

#### printf 'a\na\nb\nc\nc\nC\n' | uniq --group=append
printf 'a\na\nb\nc\nc\nC\n' | uniq --group=append
#| a
#| a
#|
#| b
#|
#| c
#| c
#|
#| C
#|

#### printf 'a\na\nb\nc\nc\nC\n' | uniq --group=both
printf 'a\na\nb\nc\nc\nC\n' | uniq --group=both
#|
#| a
#| a
#|
#| b
#|
#| c
#| c
#|
#| C
#|

#### printf '1 a\n2 a\n3 b\n' | uniq -f1
printf '1 a\n2 a\n3 b\n' | uniq -f1
#| 1 a
#| 3 b

#### printf 'xa\nya\nzb\n' | uniq -s1
printf 'xa\nya\nzb\n' | uniq -s1
#| xa
#| zb

#### uniq missing
uniq missing
#? 1

#### uniq -q
uniq -q
#? 1

#### printf 'a\na\n' > f; uniq f g; cat g
printf 'a\na\n' > f; uniq f g; cat g
#| a

#### printf 'a\0a\0' | uniq -z | tr '\0' '\n'
printf 'a\0a\0' | uniq -z | tr '\0' '\n'
#| a

#### printf '1 a\n2 a\n' | uniq -cf 1
printf '1 a\n2 a\n' | uniq -cf 1
#|       2 1 a

#### printf 'abc\nabd\n' | uniq -w 2
printf 'abc\nabd\n' | uniq -w 2
#| abc

#### uniq a b c
uniq a b c
#? 1

