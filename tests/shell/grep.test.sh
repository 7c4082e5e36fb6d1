#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep apple
#| apple
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -i banana
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -i banana
#| Banana

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -v apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -v apple
#| Banana
#| cherry pie
#| 123

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -c apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -c apple
#| 2

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -n pie
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -n pie
#| 3:cherry pie
#| 4:apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -o p
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -o p
#| p
#| p
#| p
#| p
#| p
#| p

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -on p
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -on p
#| 1:p
#| 1:p
#| 3:p
#| 4:p
#| 4:p
#| 4:p

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -w pie
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -w pie
#| cherry pie
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -x apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -x apple
#| apple

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "apple|123"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "apple|123"
#| apple
#| apple pie
#| 123

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -F .
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -F .
#? 1

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -e apple -e 123
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -e apple -e 123
#| apple
#| apple pie
#| 123

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -m1 apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -m1 apple
#| apple

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -q apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -q apple

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -l apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -l apple
#| (standard input)

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -L apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -L apple

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -A1 Banana
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -A1 Banana
#| Banana
#| cherry pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -B1 cherry
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -B1 cherry
#| Banana
#| cherry pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -C1 cherry
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -C1 cherry
#| Banana
#| cherry pie
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -nA1 apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -nA1 apple
#| 1:apple
#| 2-Banana
#| --
#| 4:apple pie
#| 5-123

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -b pie
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -b pie
#| 13:cherry pie
#| 24:apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -H apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -H apple
#| (standard input):apple
#| (standard input):apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -h apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -h apple
#| apple
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --color=always pie
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --color=always pie
#| cherry [01;31m[Kpie[m[K
#| apple [01;31m[Kpie[m[K

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -P "\d+"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -P "\d+"
#| 123

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -oP "[a-z]+(?= pie)"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -oP "[a-z]+(?= pie)"
#| cherry
#| apple

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "p{2}"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "p{2}"
#| apple
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep "p\{2\}"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep "p\{2\}"
#| apple
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "^a.*e$"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "^a.*e$"
#| apple
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep "^$"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep "^$"
#? 1

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -c ""
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -c ""
#| 5

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -vc a
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -vc a
#| 2

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "(a)p+"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "(a)p+"
#| apple
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep "\(p\)\1"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep "\(p\)\1"
#| apple
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -i APPLE
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -i APPLE
#| apple
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -y apple
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -y apple
#| apple
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -s x missing
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -s x missing
#? 2

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --include=x y
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --include=x y
#| cherry pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "["
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "["
#? 2

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -ob e
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -ob e
#| 4:e
#| 15:e
#| 22:e
#| 28:e
#| 32:e

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -nv a
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -nv a
#| 3:cherry pie
#| 5:123

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "[[:digit:]]+"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "[[:digit:]]+"
#| 123

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -w "app"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -w "app"
#? 1

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep "\bpie\b"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep "\bpie\b"
#| cherry pie
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep "\<pie"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep "\<pie"
#| cherry pie
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -cv pie
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -cv pie
#| 3

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E -- "-x"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E -- "-x"
#? 1

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -no "[aeiou]"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -no "[aeiou]"
#| 1:a
#| 1:e
#| 2:a
#| 2:a
#| 2:a
#| 3:e
#| 3:i
#| 3:e
#| 4:a
#| 4:e
#| 4:i
#| 4:e

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -m2 -n e
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -m2 -n e
#| 1:apple
#| 3:cherry pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -e
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -e
#? 2

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -A x a
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -A x a
#? 2

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --bad
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --bad
#? 2

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -1 cherry
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -1 cherry
#| Banana
#| cherry pie
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep nomatch
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep nomatch
#? 1

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -c nomatch
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -c nomatch
#| 0
#? 1

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "a|"
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -E "a|"
#| apple
#| Banana
#| cherry pie
#| apple pie
#| 123

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -Fx 123
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -Fx 123
#| 123

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -Fi BANANA
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -Fi BANANA
#| Banana

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -F -e app -e cherry
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep -F -e app -e cherry
#| apple
#| cherry pie
#| apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --max-count=1 e
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --max-count=1 e
#| apple

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --line-number pie
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --line-number pie
#| 3:cherry pie
#| 4:apple pie

#### printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --only-matching pi
printf 'apple\nBanana\ncherry pie\napple pie\n123\n' | grep --only-matching pi
#| pi
#| pi

#### mkdir -p d/e; echo hit > d/a; echo miss > d/b; echo hit > d/e/c; grep -r hit d | sort
mkdir -p d/e; echo hit > d/a; echo miss > d/b; echo hit > d/e/c; grep -r hit d | sort
#| d/a:hit
#| d/e/c:hit

#### mkdir -p d/e; echo hit > d/a; echo hit > d/e/c; grep -rl hit d | sort
mkdir -p d/e; echo hit > d/a; echo hit > d/e/c; grep -rl hit d | sort
#| d/a
#| d/e/c

#### mkdir d; echo hit > d/a.txt; echo hit > d/b.md; grep -r --include='*.txt' hit d
mkdir d; echo hit > d/a.txt; echo hit > d/b.md; grep -r --include='*.txt' hit d
#| d/a.txt:hit

#### mkdir d; echo hit > d/a.txt; echo hit > d/b.md; grep -r --exclude='*.txt' hit d
mkdir d; echo hit > d/a.txt; echo hit > d/b.md; grep -r --exclude='*.txt' hit d
#| d/b.md:hit

#### mkdir -p d/skip; echo hit > d/a; echo hit > d/skip/b; grep -r --exclude-dir=skip hit d
mkdir -p d/skip; echo hit > d/a; echo hit > d/skip/b; grep -r --exclude-dir=skip hit d
#| d/a:hit

#### mkdir d; grep x d; echo $?
mkdir d; grep x d; echo $?
#| 2

#### echo a > f; echo b > g; grep a f g
echo a > f; echo b > g; grep a f g
#| f:a

#### echo a > f; echo b > g; grep -c a f g
echo a > f; echo b > g; grep -c a f g
#| f:1
#| g:0

#### echo a > f; echo b > g; grep -L a f g
echo a > f; echo b > g; grep -L a f g
#| g

#### echo a > f; grep a f missing; echo $?
echo a > f; grep a f missing; echo $?
#| f:a
#| 2

#### printf 'a\nb\n' > p; printf 'xa\nyy\nzb\n' | grep -f p
printf 'a\nb\n' > p; printf 'xa\nyy\nzb\n' | grep -f p
#| xa
#| zb

#### grep x missing; echo $?
grep x missing; echo $?
#| 2

#### echo abc | egrep 'a|z'
echo abc | egrep 'a|z'
#| abc

#### echo a.c | fgrep .
echo a.c | fgrep .
#| a.c

#### seq 20 | grep -A1 -B1 5
seq 20 | grep -A1 -B1 5
#| 4
#| 5
#| 6
#| --
#| 14
#| 15
#| 16

#### seq 30 | grep -A1 1 | head -5
seq 30 | grep -A1 1 | head -5
#| 1
#| 2
#| --
#| 10
#| 11

#### echo hit > a; grep -r hit
echo hit > a; grep -r hit
#| a:hit

#### grep
grep
#? 2

#### mkdir d; echo hit > d/x; cd d; grep -rn hit .
mkdir d; echo hit > d/x; cd d; grep -rn hit .
#| ./x:1:hit

#### seq 10 | grep -c 1
seq 10 | grep -c 1
#| 2

