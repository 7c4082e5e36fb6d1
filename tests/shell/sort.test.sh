#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort 
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort 
#| Cherry 2
#| apple 10
#| apple 9
#| banana 3

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -r
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -r
#| banana 3
#| apple 9
#| apple 10
#| Cherry 2

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -f
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -f
#| apple 10
#| apple 9
#| banana 3
#| Cherry 2

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -u
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -u
#| Cherry 2
#| apple 10
#| apple 9
#| banana 3

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k2
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k2
#| apple 10
#| Cherry 2
#| banana 3
#| apple 9

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k2n
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k2n
#| Cherry 2
#| banana 3
#| apple 9
#| apple 10

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k2,2nr
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k2,2nr
#| apple 10
#| apple 9
#| banana 3
#| Cherry 2

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -nk2
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -nk2
#| Cherry 2
#| banana 3
#| apple 9
#| apple 10

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k1,1
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k1,1
#| Cherry 2
#| apple 10
#| apple 9
#| banana 3

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k1,1 -k2,2n
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k1,1 -k2,2n
#| Cherry 2
#| apple 9
#| apple 10
#| banana 3

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k1,1 -s
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k1,1 -s
#| Cherry 2
#| apple 10
#| apple 9
#| banana 3

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -t" " -k2
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -t" " -k2
#| apple 10
#| Cherry 2
#| banana 3
#| apple 9

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -rn -k2
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -rn -k2
#| apple 10
#| apple 9
#| banana 3
#| Cherry 2

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -b
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -b
#| Cherry 2
#| apple 10
#| apple 9
#| banana 3

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -c
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -c
#? 1

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -C
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -C
#? 1

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k1.2
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k1.2
#| banana 3
#| Cherry 2
#| apple 10
#| apple 9

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k1.2,1.3
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -k1.2,1.3
#| banana 3
#| Cherry 2
#| apple 10
#| apple 9

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -fu
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -fu
#| apple 10
#| apple 9
#| banana 3
#| Cherry 2

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -ru
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -ru
#| banana 3
#| apple 9
#| apple 10
#| Cherry 2

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -d
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -d
#| Cherry 2
#| apple 10
#| apple 9
#| banana 3

#### printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -V
printf 'banana 3\napple 10\nCherry 2\napple 9\n' | sort -V
#| Cherry 2
#| apple 9
#| apple 10
#| banana 3

#### printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -n
printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -n
#| -5
#|
#| 0.5
#| 1M
#| 1e3
#| 2K
#| 9
#| 10

#### printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -g
printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -g
#|
#| -5
#| 0.5
#| 1M
#| 2K
#| 9
#| 10
#| 1e3

#### printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -h
printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -h
#| -5
#|
#| 0.5
#| 1e3
#| 9
#| 10
#| 2K
#| 1M

#### printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -M
printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -M
#|
#| -5
#| 0.5
#| 10
#| 1M
#| 1e3
#| 2K
#| 9

#### printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -V
printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -V
#|
#| 0.5
#| 1M
#| 1e3
#| 2K
#| 9
#| 10
#| -5

#### printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -nr
printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -nr
#| 10
#| 9
#| 2K
#| 1e3
#| 1M
#| 0.5
#|
#| -5

#### printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -nu
printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -nu
#| -5
#|
#| 0.5
#| 1M
#| 2K
#| 9
#| 10

#### printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -hr
printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -hr
#| 1M
#| 2K
#| 10
#| 9
#| 1e3
#| 0.5
#|
#| -5

#### printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -R | sort
printf '10\n9\n2K\n1M\n-5\n1e3\n0.5\n\n' | sort -R | sort
#|
#| -5
#| 0.5
#| 10
#| 1M
#| 1e3
#| 2K
#| 9

#### printf 'b\na\n' > f; sort f -o f; cat f
printf 'b\na\n' > f; sort f -o f; cat f
#| a
#| b

#### sort missing
sort missing
#? 2

#### sort -k0
sort -k0
#? 2

#### sort -k a
sort -k a
#? 2

#### sort --bad
sort --bad
#? 2

#### printf 'Mar\nJan\nfoo\nDec\n' | sort -M
printf 'Mar\nJan\nfoo\nDec\n' | sort -M
#| foo
#| Jan
#| Mar
#| Dec

#### printf 'v1.10\nv1.9\nv1.2\n' | sort -V
printf 'v1.10\nv1.9\nv1.2\n' | sort -V
#| v1.2
#| v1.9
#| v1.10

#### printf 'a:3\nb:1\n' | sort -t: -k2
printf 'a:3\nb:1\n' | sort -t: -k2
#| b:1
#| a:3

#### printf 'a:3\nb:1\n' | sort -t : -k 2,2n
printf 'a:3\nb:1\n' | sort -t : -k 2,2n
#| b:1
#| a:3

#### printf 'b\na' | sort
printf 'b\na' | sort
#| a
#| b

#### printf 'b\0a\0' | sort -z | tr '\0' '\n'
printf 'b\0a\0' | sort -z | tr '\0' '\n'
#| a
#| b

#### printf 'a\nb\n' | sort -c; echo $?
printf 'a\nb\n' | sort -c; echo $?
#| 0

#### printf 'b\na\n' | sort -c; echo $?
printf 'b\na\n' | sort -c; echo $?
#| 1

#### printf 'a\na\n' | sort -uc; echo $?
printf 'a\na\n' | sort -uc; echo $?
#| 1

#### printf '3\n1\n' > a; printf '2\n' > b; sort -n a b
printf '3\n1\n' > a; printf '2\n' > b; sort -n a b
#| 1
#| 2
#| 3

#### printf 'x 2\ny 1\n' | sort --key=2 --numeric-sort
printf 'x 2\ny 1\n' | sort --key=2 --numeric-sort
#| y 1
#| x 2

#### printf 'B\na\nA\nb\n' | sort
printf 'B\na\nA\nb\n' | sort
#| A
#| B
#| a
#| b

#### printf 'B\na\nA\nb\n' | sort -f
printf 'B\na\nA\nb\n' | sort -f
#| A
#| a
#| B
#| b

#### printf '1\n01\n1.0\n' | sort -n
printf '1\n01\n1.0\n' | sort -n
#| 01
#| 1
#| 1.0

#### printf '1\n01\n1.0\n' | sort -nu
printf '1\n01\n1.0\n' | sort -nu
#| 1

#### printf '  b\n a\nc\n' | sort
printf '  b\n a\nc\n' | sort
#|   b
#|  a
#| c

#### printf '  b\n a\nc\n' | sort -b
printf '  b\n a\nc\n' | sort -b
#|  a
#|   b
#| c

#### printf '1.5\n1.25\n-2\n' | sort -n
printf '1.5\n1.25\n-2\n' | sort -n
#| -2
#| 1.25
#| 1.5

#### printf '100\n20\n3\n' | sort
printf '100\n20\n3\n' | sort
#| 100
#| 20
#| 3

