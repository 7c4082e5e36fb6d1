#### count lines of python files by directory
mkdir -p src/{api,core,ui} tests; for i in 1 2 3; do seq $((i*3)) > src/api/m$i.py; seq $i > src/core/c$i.py; done; echo x > src/ui/a.js; seq 4 > tests/t.py
find . -name '*.py' -not -path './tests/*' -print0 | xargs -0 wc -l | sort -n | tail -n 3
find src -type f -name '*.py' -exec wc -l {} + | awk '$2 != "total" {n=split($2,p,"/"); s[p[2]]+=$1} END {for (d in s) print d, s[d]}' | sort
find . -type f | sed 's/.*\.//' | sort | uniq -c | sort -rn
#|  6 ./src/api/m2.py
#|  9 ./src/api/m3.py
#| 24 total
#| api 18
#| core 6
#|       7 py
#|       1 js

#### find with size, depth, prune, and printf
mkdir -p node_modules/x src/deep/er .git; head -c 2048 /dev/zero > src/big.bin; echo a > src/small.txt; echo n > node_modules/x/index.js; touch src/deep/er/e .git/HEAD
find . -path ./node_modules -prune -o -path ./.git -prune -o -type f -printf '%P %s\n' | sort
find . -maxdepth 2 -type d ! -name '.*' | sort
find src -type f -size +1k -exec basename {} \;
find src -type f -empty
find . \( -name node_modules -o -name .git \) -prune -false -o -name '*.txt' -print
find src -mindepth 2 -type d -printf '%d %f\n' | sort
find . -name '*.js' -o -name '*.txt' | sort
find . -type f -newer src/big.bin -name nothing
find . -regextype posix-extended -regex '.*/(big|small)\..*' | sort
find src -type f -iname '*.TXT' -print -quit
#| src/big.bin 2048
#| src/deep/er/e 0
#| src/small.txt 2
#| ./node_modules
#| ./node_modules/x
#| ./src
#| ./src/deep
#| big.bin
#| src/deep/er/e
#| ./src/small.txt
#| 2 er
#| ./node_modules/x/index.js
#| ./src/small.txt
#| ./src/big.bin
#| ./src/small.txt
#| src/small.txt

#### rename files with a loop and parameter expansion
touch "My File.TXT" other.JPG 'a b c.Md'
for f in *; do n=${f// /_}; n=${n,,}; [ "$f" != "$n" ] && mv -v -- "$f" "$n"; done
ls -1
#| renamed 'My File.TXT' -> 'my_file.txt'
#| renamed 'a b c.Md' -> 'a_b_c.md'
#| renamed 'other.JPG' -> 'other.jpg'
#| a_b_c.md
#| my_file.txt
#| other.jpg

#### batch change of extension
touch a.jpeg b.jpeg c.png
for f in *.jpeg; do mv "$f" "${f%.jpeg}.jpg"; done; ls
find . -name '*.jpg' | while IFS= read -r p; do d=$(dirname "$p"); b=$(basename "$p" .jpg); echo "$d|$b"; done | sort
#| a.jpg
#| b.jpg
#| c.png
#| .|a
#| .|b

#### sed -i in many files
mkdir -p s/t; printf 'import foo\nfoo.bar()\n' > s/a.py; printf 'x = foo\n' > s/t/b.py; echo nothing > s/c.py
grep -rl 'foo' s --include='*.py' | sort | xargs sed -i 's/\bfoo\b/baz/g'
cat s/a.py s/t/b.py s/c.py
sed -i.bak -e '1i #!/usr/bin/env python' -e '$a # end' s/c.py; cat s/c.py; cat s/c.py.bak; ls s
#| import baz
#| baz.bar()
#| x = baz
#| nothing
#| #!/usr/bin/env python
#| nothing
#| # end
#| nothing
#| a.py
#| c.py
#| c.py.bak
#| t

#### sed line edits
printf '%s\n' one two three four five > f
sed -n '2,4p' f; sed '2d;4d' f; sed '/three/a\  after three' f; sed '/two/i\before two' f; sed '/four/c\changed' f
sed -n '/two/,/four/{=;p}' f; sed '$!N;s/\n/ /' f; sed -n '$=' f; sed '1~2d' f; sed '0,/o/s//0/' f; sed -n '/t/!p' f
sed 's/\(.*\)e$/[\1]/' f; sed -E 's/^(.)(.*)$/\2\1/;y/abc/ABC/' f; sed 's/o/O/2' f; sed -n 's/e/E/gpw out' f; cat out
#| two
#| three
#| four
#| one
#| three
#| five
#| one
#| two
#| three
#|   after three
#| four
#| five
#| one
#| before two
#| two
#| three
#| four
#| five
#| one
#| two
#| three
#| changed
#| five
#| 2
#| two
#| 3
#| three
#| 4
#| four
#| one two
#| three four
#| five
#| 5
#| two
#| four
#| 0ne
#| two
#| three
#| four
#| five
#| one
#| four
#| five
#| [on]
#| two
#| [thre]
#| four
#| [fiv]
#| neo
#| wot
#| hreet
#| ourf
#| ivef
#| one
#| two
#| three
#| four
#| five
#| onE
#| thrEE
#| fivE
#| onE
#| thrEE
#| fivE

#### config file edits
cat > app.conf <<'C'
# server
host = localhost
port=8080
#debug = false
[db]
url = sqlite://x
C
sed -i 's/^port=.*/port=9090/; s/^#debug.*/debug = true/' app.conf
sed -n 's/^\([a-z]*\) *= *\(.*\)$/\U\1\E=\2/p' app.conf
awk -F' *= *' '/^\[/{s=$0; next} /^[a-z]/{print s "." $1 "->" $2}' app.conf
grep -vE '^\s*(#|$)' app.conf
grep -n '^\[' app.conf | cut -d: -f1
sed '/^\[db\]/,$!d' app.conf
#| HOST=localhost
#| PORT=9090
#| DEBUG=true
#| URL=sqlite://x
#| .host->localhost
#| .port->9090
#| .debug->true
#| [db].url->sqlite://x
#| host = localhost
#| port=9090
#| debug = true
#| [db]
#| url = sqlite://x
#| 5
#| [db]
#| url = sqlite://x

#### check whether a line exists and append it once
touch .bashrc
for i in 1 2; do grep -qxF 'export A=1' .bashrc || echo 'export A=1' >> .bashrc; done; cat .bashrc; wc -l < .bashrc
#| export A=1
#| 1

#### tail, head and ranges
seq 1 20 > n; head -n -15 n | tr '\n' ' '; tail -n +18 n | tr '\n' ' '; head -c 5 n; tail -c 6 n; sed -n '5,7p;7q' n; awk 'NR>=9 && NR<=10' n; head -n 3 n | tail -n 1; tail -3 n; head -2 n
#| 1 2 3 4 5 18 19 20 1
#| 2
#| 319
#| 20
#| 5
#| 6
#| 7
#| 9
#| 10
#| 3
#| 18
#| 19
#| 20
#| 1
#| 2

#### a heredoc with python-like text
cat > main.py <<'PY'
def main(args: list[str]) -> None:
    """Doc "string" with $dollar and `ticks`."""
    for i, a in enumerate(args):
        print(f"{i}: {a!r}\n")


if __name__ == "__main__":
    main(["a", 'b'])
PY
cat -A main.py | head -3; grep -n 'def ' main.py; grep -c '' main.py; awk 'length > 30' main.py; sed -n '/^if/,$p' main.py; wc main.py; nl -ba main.py | sed -n 5,7p
#| def main(args: list[str]) -> None:$
#|     """Doc "string" with $dollar and `ticks`."""$
#|     for i, a in enumerate(args):$
#| 1:def main(args: list[str]) -> None:
#| 8
#| def main(args: list[str]) -> None:
#|     """Doc "string" with $dollar and `ticks`."""
#|     for i, a in enumerate(args):
#| if __name__ == "__main__":
#|     main(["a", 'b'])
#|   8  24 198 main.py
#|      5	
#|      6	
#|      7	if __name__ == "__main__":

#### heredocs that expand, with tabs removed, into functions
name=World; items=(a b)
cat <<E
Hello $name, ${#items[@]} items: ${items[*]} $(echo sub) $((1+2)) \$x \`q\`
E
	cat <<-'E'
		indented $name
	done
	E
while read -r k v; do echo "$k=>$v"; done <<E
k1 v 1
k2   v2  
E
cat <<A - <<< "here string"
first
A
#| Hello World, 2 items: a b sub 3 $x `q`
#| indented $name
#| done
#| k1=>v 1
#| k2=>v2
#| here string

#### a tar archive and back
mkdir -p p/q; echo 1 > p/a; echo 2 > p/q/b
tar czf p.tar.gz p; tar tzf p.tar.gz | sort; mkdir out; tar xzf p.tar.gz -C out --strip-components=1; find out -type f | sort; tar -xOf p.tar.gz p/a; tar -cf - -C p . | tar -tf - | sort; tar czf x.tgz --exclude='q' p && tar tf x.tgz | sort
tar xf nothing.tar 2>/dev/null; echo $?
#| p/
#| p/a
#| p/q/
#| p/q/b
#| out/a
#| out/q/b
#| 1
#| ./
#| ./a
#| ./q/
#| ./q/b
#| p/
#| p/a
#| 2

#### diff and patch
printf 'a\nb\nc\nd\ne\n' > old; sed 's/b/B/; $a f' old > new
diff old new; echo "status $?"; diff -u --label old --label new old new > p; cat p; cp old work; patch work < p; cmp work new && echo same; patch -R work p; diff -q old work; diff -q old new; diff <(sort -r old) <(sort new) | head -2; diff -y -W 30 old new; diff --brief old old && echo equal
#| 2c2
#| < b
#| ---
#| > B
#| 5a6
#| > f
#| status 1
#| --- old
#| +++ new
#| @@ -1,5 +1,6 @@
#|  a
#| -b
#| +B
#|  c
#|  d
#|  e
#| +f
#| patching file work
#| same
#| patching file work
#| Files old and new differ
#| 1,4c1
#| < e
#| a		a
#| b	      |	B
#| c		c
#| d		d
#| e		e
#| 	      >	f
#| equal

#### recursive diff
mkdir -p a/s b/s; echo 1 > a/x; echo 2 > b/x; echo s > a/only; echo t > b/s/new; echo c | tee a/c > b/c
diff -r a b; diff -rq a b; diff -rN a b | head -4; diff -ru a b | grep -v '^[-+][-+]' ; comm -3 <(cd a; find . -type f | sort) <(cd b; find . -type f | sort)
#| Only in a: only
#| Only in b/s: new
#| diff -r a/x b/x
#| 1c1
#| < 1
#| ---
#| > 2
#| Only in a: only
#| Only in b/s: new
#| Files a/x and b/x differ
#| diff -rN a/only b/only
#| 1d0
#| < s
#| diff -rN a/s/new b/s/new
#| Only in a: only
#| Only in b/s: new
#| diff -ru a/x b/x
#| @@ -1 +1 @@
#| -1
#| +2
#| ./only
#| 	./s/new

#### backup with a timestamp and cleanup by trap
t=$(mktemp -d); trap 'rm -rf "$t"; echo cleaned' EXIT
cp /dev/null "$t/a.bak"; d=$(date -d '2024-03-05 06:07:08' +%Y%m%d_%H%M%S); touch "$t/backup_$d.tar"; ls "$t"; [[ -d $t ]] && echo there
#| a.bak
#| backup_20240305_060708.tar
#| there
#| cleaned

#### date arithmetic
export TZ=UTC
date -d '2024-01-31 +1 month' +%F; date -d '2024-02-28 + 2 days' +%A; date -d @1700000000 '+%Y-%m-%dT%H:%M:%SZ'; date -u -d '2024-12-25 10:00 EST' +%H:%M; date -d 'next friday' +%u; date -d '2024-01-01 last monday' +%F
a=$(date -d 2024-03-01 +%s); b=$(date -d 2024-02-01 +%s); echo $(( (a-b)/86400 )) days
for i in 0 1 2; do date -d "2024-02-27 +$i day" '+%j %U %a %d.%m.%y'; done; date -d '1 day ago 2024-01-01' +%F 2>&1; date -d 'garbage' 2>&1; date -d '2024-05-05T12:00:00+02:00' -Iseconds; date -d '12/25/2024' +'%-d %b, week %V'; date -R -d '2024-01-01 00:00:00'
#| 2024-03-02
#| Friday
#| 2023-11-14T22:13:20Z
#| 15:00
#| 5
#| 2024-01-01
#| 29 days
#| 058 08 Tue 27.02.24
#| 059 08 Wed 28.02.24
#| 060 08 Thu 29.02.24
#| 2023-12-31
#| date: invalid date 'garbage'
#| 2024-05-05T10:00:00+00:00
#| 25 Dec, week 52
#| Mon, 01 Jan 2024 00:00:00 +0000

#### printf tables
printf '%-10s|%5s|%8.2f\n' apple 3 1.5 pear 12 0.333 "long name here" 1 1000
printf '%05d %x %o %e %g %c %%\n' 42 255 8 12345.678 0.0001 z
printf '%s\n' "$(printf '%*s' 10 right)" "$(printf '%-*s|' 8 left)"; printf '%q ' 'a b' "it's" '' $'t\tx'; echo; printf '%b\n' 'a\tb\x41'; printf '=%.0s' {1..10}; echo; printf '%(%Y)T\n' 0; printf -v x '%03d' 7; echo $x; printf '%s, ' a b c | sed 's/, $/\n/'; printf '%d\n' "'A" 0x1f 010; printf '%.3s|%5.1f|%+d\n' abcdef 2.25 5
#| apple     |    3|    1.50
#| pear      |   12|    0.33
#| long name here|    1| 1000.00
#| 00042 ff 10 1.234568e+04 0.0001 z %
#|      right
#| left    |
#| a\ b it\'s '' $'t\tx' 
#| a	bA
#| ==========
#| 1970
#| 007
#| a, b, c
#| 65
#| 31
#| 8
#| abc|  2.2|+5

#### file statistics
echo hello > a; chmod 640 a; ln -s a l; mkdir d; chmod 755 d
stat -c '%n %s %a %A %F %h' a d | sed 's/ [0-9]*$//'; stat -c %F l; stat -Lc %F l; stat --format='%n' *; ls -l a | cut -c1-10; readlink l; readlink -f l | sed 's|.*/||'; test -L l && echo link; [ -x d ] && echo x; file a l d | sed 's/  */ /'; ls -F; ls -p; ls -m; ls -la | awk 'NR>3{print $1,$NF}'; du -sb a; basename "$(realpath l)"
#| a 6 640 -rw-r----- regular file
#| d 4096 755 drwxr-xr-x directory
#| symbolic link
#| regular file
#| a
#| d
#| l
#| -rw-r-----
#| a
#| a
#| link
#| x
#| a: ASCII text
#| l: symbolic link to a
#| d: directory
#| a
#| d/
#| l@
#| a
#| d/
#| l
#| a, d, l
#| -rw-r----- a
#| drwxr-xr-x d
#| lrwxrwxrwx a
#| 6	a
#| a

#### copy trees
mkdir -p a/b/c; echo 1 > a/1; echo 2 > a/b/2; echo 3 > a/b/c/3
cp -r a x; cp -a a/. y; cp -rv a/b z | sort; find x y z -type f | sort; cp --parents a/b/2 x 2>&1; find x -name 2 | sort; cp -n a/1 a/b/2; cat a/b/2; cp -u a/1 x/1; cp a x 2>&1; cp missing x 2>&1; cp -t x a/1; mkdir -p m/n && mv -t m x y; ls m; rm -r m z; rm m 2>&1; rm -f m; echo $?; rmdir a 2>&1; install -D -m 600 a/1 i/j/k; stat -c %a i/j/k
#| 'a/b' -> 'z'
#| 'a/b/2' -> 'z/2'
#| 'a/b/c' -> 'z/c'
#| 'a/b/c/3' -> 'z/c/3'
#| x/1
#| x/b/2
#| x/b/c/3
#| y/1
#| y/b/2
#| y/b/c/3
#| z/2
#| z/c/3
#| x/a/b/2
#| x/b/2
#| 2
#| cp: -r not specified; omitting directory 'a'
#| cp: cannot stat 'missing': No such file or directory
#| n
#| x
#| y
#| rm: cannot remove 'm': No such file or directory
#| 0
#| rmdir: failed to remove 'a': Directory not empty
#| 600

#### permissions
touch s.sh; chmod +x s.sh; stat -c %a s.sh; chmod u=rw,go=r s.sh; stat -c %a s.sh; chmod -v 755 s.sh; chmod --reference=s.sh s.sh; mkdir d; touch d/f; chmod -R go-rwx d; stat -c '%a %n' d d/f; find . -perm -u+x -type f; find . -perm /111 -type f; chmod a-w s.sh; ls -l s.sh | cut -c1-10; umask 027; touch u; stat -c %a u; umask; umask -S
#| 755
#| 644
#| mode of 's.sh' changed from 0644 (rw-r--r--) to 0755 (rwxr-xr-x)
#| 700 d
#| 600 d/f
#| ./s.sh
#| ./s.sh
#| -r-xr-xr-x
#| 640
#| 0027
#| u=rwx,g=rx,o=

#### run a script file
cat > run.sh <<'S'
#!/bin/bash
set -euo pipefail
usage() { echo "usage: $(basename "$0") [-v] [-n NAME] FILE..." >&2; exit 2; }
verbose=0 name=none
while getopts ':vn:h' o; do
  case $o in
    v) verbose=1 ;;
    n) name=$OPTARG ;;
    h) usage ;;
    :) echo "option -$OPTARG needs a value" >&2; exit 3 ;;
    \?) echo "unknown -$OPTARG" >&2; exit 4 ;;
  esac
done
shift $((OPTIND - 1))
(( $# )) || usage
echo "$verbose $name $# $*"
S
chmod +x run.sh; ./run.sh -v -n bob a 'b c'; ./run.sh 2>&1; echo $?; ./run.sh -n 2>&1; echo $?; bash run.sh -x 2>&1; echo $?; bash ./run.sh -vn x -- -y
#| 1 bob 2 a b c
#| usage: run.sh [-v] [-n NAME] FILE...
#| 2
#| option -n needs a value
#| 3
#| unknown -x
#| 4
#| 1 x 1 -y

#### long options by hand
parse() {
  local out= force=false args=()
  while [[ $# -gt 0 ]]; do
    case "$1" in
      -o|--output) out="$2"; shift 2 ;;
      --output=*) out="${1#*=}"; shift ;;
      -f|--force) force=true; shift ;;
      --) shift; args+=("$@"); break ;;
      -*) echo "Unknown option: $1" >&2; return 1 ;;
      *) args+=("$1"); shift ;;
    esac
  done
  printf '%s|%s|%s\n' "$out" "$force" "${args[*]:-}"
}
parse -o x a b; parse --output=y -f -- -z; parse --bad 2>&1; echo $?
eval set -- "$(getopt -o ab:c:: -l alpha,beta:,gamma:: -- -a --beta=3 x -c7 --gamma y)"; echo "$@"
#| x|false|a b
#| y|true|-z
#| Unknown option: --bad
#| 1
#| -a --beta 3 -c 7 --gamma  -- x y

#### gather a tree of the project
mkdir -p proj/{src/{a,b},docs}; touch proj/README.md proj/src/a/x.c proj/src/b/y.h proj/docs/i.md proj/.hidden
tree proj; tree -a -L 1 proj; tree -d proj; tree -if --noreport proj; tree -P '*.c' --prune proj; tree -I 'docs|b' proj; tree -J proj/docs; ls -R proj; find proj | sort | sed -e 's;[^/]*/;|____;g;s;____|; |;g' | head -4
#| proj
#| ├── README.md
#| ├── docs
#| │   └── i.md
#| └── src
#|     ├── a
#|     │   └── x.c
#|     └── b
#|         └── y.h
#|
#| 5 directories, 4 files
#| proj
#| ├── .hidden
#| ├── README.md
#| ├── docs
#| └── src
#|
#| 3 directories, 2 files
#| proj
#| ├── docs
#| └── src
#|     ├── a
#|     └── b
#|
#| 5 directories
#| proj
#| proj/README.md
#| proj/docs
#| proj/docs/i.md
#| proj/src
#| proj/src/a
#| proj/src/a/x.c
#| proj/src/b
#| proj/src/b/y.h
#| proj
#| └── src
#|     └── a
#|         └── x.c
#|
#| 3 directories, 1 file
#| proj
#| ├── README.md
#| └── src
#|     └── a
#|         └── x.c
#|
#| 3 directories, 2 files
#| [
#|   {"type":"directory","name":"proj/docs","contents":[
#|     {"type":"file","name":"i.md"}
#|   ]}
#| ,
#|   {"type":"report","directories":1,"files":1}
#| ]
#| proj:
#| README.md
#| docs
#| src
#|
#| proj/docs:
#| i.md
#|
#| proj/src:
#| a
#| b
#|
#| proj/src/a:
#| x.c
#|
#| proj/src/b:
#| y.h
#| proj
#| |____.hidden
#| |____README.md
#| |____docs

#### duplicate files by checksum
mkdir d; echo same > d/a; echo same > d/b; echo other > d/c
md5sum d/* | sort | awk '{print $1}' | uniq -d | wc -l; find d -type f -exec md5sum {} + | sort | uniq -w32 -dD | awk '{print $2}'; sha256sum d/a | cut -c1-16; sha256sum d/* > sums; sha256sum -c sums; echo x >> d/a; sha256sum -c --quiet sums 2>&1; echo $?; cksum d/c; sha1sum < d/c; echo -n | md5sum; md5sum --tag d/c
#| 1
#| d/a
#| d/b
#| a6328afc76e9db71
#| d/a: OK
#| d/b: OK
#| d/c: OK
#| d/a: FAILED
#| sha256sum: WARNING: 1 computed checksum did NOT match
#| 1
#| 3862190835 6 d/c
#| bea43e7033e19327183416f23fe2ee1b64c25f4a  -
#| d41d8cd98f00b204e9800998ecf8427e  -
#| MD5 (d/c) = ba7790b1708b71cb2b61b1a30d824712

#### xargs in several ways
printf '%s\n' a b c d e | xargs -n 2 echo; printf '%s\n' 'x y' z | xargs -I{} echo '[{}]'; echo 1 2 3 | xargs -n1 -I% sh -c 'echo $((% * 2))'; printf 'a\0b c\0' | xargs -0 -n1 printf '<%s>\n'; seq 5 | xargs -L 2; seq 3 | xargs -t -n1 echo 2>&1; echo | xargs -r echo no; printf '%s\n' a b | xargs -P 2 -I{} sh -c 'echo {}' | sort; seq 10 | xargs -d '\n' -n 5 bash -c 'echo $0 "$@"'; echo 'a "b c" d' | xargs -n1; false | xargs false; echo $?; echo x | xargs -n1 sh -c 'exit 255' 2>&1; echo $?
#| a b
#| c d
#| e
#| [x y]
#| [z]
#| <a>
#| <b c>
#| 1 2
#| 3 4
#| 5
#| echo 1
#| 1
#| echo 2
#| 2
#| echo 3
#| 3
#| a
#| b
#| 1 2 3 4 5
#| 6 7 8 9 10
#| a
#| b c
#| d
#| 123
#| xargs: sh: exited with status 255; aborting
#| 124

#### zip and gzip
mkdir z; echo 1 > z/a; echo 2 > z/b
zip -qr z.zip z; unzip -l z.zip | awk '{print $NF}' | sort; unzip -p z.zip z/a; mkdir o; unzip -q z.zip -d o; ls o/z; gzip -k z/a; zcat z/a.gz; gunzip -c z/a.gz; gzip -l z/a.gz | awk 'NR==2{print $2}'; gunzip z/b 2>&1; echo abc | gzip -c | gzip -dc; bzip2 -k z/b; bunzip2 -c z/b.bz2; xz -k z/b; xzcat z/b.xz; zstd -q z/b; zstd -dcq z/b.zst
#| ----
#| -------
#| Name
#| files
#| z.zip
#| z/
#| z/a
#| z/b
#| 1
#| a
#| b
#| 1
#| 1
#| 2
#| gzip: z/b: unknown suffix -- ignored
#| abc
#| 2
#| 2
#| 2

#### hexdumps and base64
printf 'Hello\n\x00\xff' > h; xxd h; xxd -p h; hexdump -C h; od -c h; od -An -tx1 h; base64 h; base64 -w0 h; echo; base64 -d <<< SGVsbG8=; echo; echo 48656c6c6f | xxd -r -p; echo; printf 'A' | od -An -tu1; strings -n 3 h; base32 <<< hi; echo aGk= | base64 --decode; echo; xxd -l 4 -c 2 h; xxd -i h; od -A d -t x2 h; printf '%s' abc | xxd -b
#| 00000000: 4865 6c6c 6f0a 00ff                      Hello...
#| 48656c6c6f0a00ff
#| 00000000  48 65 6c 6c 6f 0a 00 ff                           |Hello...|
#| 00000008
#| 0000000   H   e   l   l   o  \n  \0 377
#| 0000010
#|  48 65 6c 6c 6f 0a 00 ff
#| SGVsbG8KAP8=
#| SGVsbG8KAP8=
#| Hello
#| Hello
#|   65
#| Hello
#| NBUQU===
#| hi
#| 00000000: 4865  He
#| 00000002: 6c6c  ll
#| unsigned char h[] = {
#|   0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x0a, 0x00, 0xff
#| };
#| unsigned int h_len = 8;
#| 0000000 6548 6c6c 0a6f ff00
#| 0000008
#| 00000000: 01100001 01100010 01100011                             abc

#### split and join of files
seq 10 > n; split -l 4 n part_; ls part_*; cat part_* | cmp - n && echo whole; split -b 5 -d n num; ls num* | tail -1; split -n l/3 n q; wc -l q*; csplit -s n /5/ '{0}'; wc -l xx*; paste -d, <(seq 3) <(seq 4 6); paste -s -d+ n | bc; join -t, <(printf '1,a\n2,b\n') <(printf '1,x\n3,y\n'); join -a1 -e - -o 0,1.2,2.2 <(printf '1 a\n2 b\n') <(printf '1 x\n'); pr -2 -t -l5 n 2>/dev/null | head -0
#| part_aa
#| part_ab
#| part_ac
#| whole
#| num04
#|  4 qaa
#|  3 qab
#|  3 qac
#| 10 total
#|  4 xx00
#|  6 xx01
#| 10 total
#| 1,4
#| 2,5
#| 3,6
#| 55
#| 1,a,x
#| 1 a x
#| 2 b -

#### locate and replace in place with a loop and while read
mkdir w; for i in 1 2 3; do echo "version=1.$i.0" > w/f$i; done
for f in w/*; do v=$(sed -n 's/version=//p' "$f"); IFS=. read -r a b c <<< "$v"; echo "version=$a.$b.$((c+1))" > "$f"; done; cat w/*
while IFS='=' read -r key value; do printf '%s -> %s\n' "$key" "$value"; done < w/f1
find w -type f -print0 | sort -z | while IFS= read -r -d '' f; do echo "${f##*/}: $(<"$f")"; done
#| version=1.1.1
#| version=1.2.1
#| version=1.3.1
#| version -> 1.1.1
#| f1: version=1.1.1
#| f2: version=1.2.1
#| f3: version=1.3.1

#### mkdir, cd and pushd around
mkdir -p a/b/c && cd a/b/c && pwd | sed 's|.*/a|a|' && cd - >/dev/null && pushd a/b >/dev/null && dirs | wc -w && popd >/dev/null && cd a && (cd b; touch in_b; pwd | sed 's|.*/||'); ls b; cd nothere 2>&1 | sed 's/^.*: line [0-9]*: //'; echo "${PWD##*/}"; cd "$OLDPWD"; mkdir x y 2>&1; mkdir x 2>&1; mkdir -pv p/q/r
#| a/b/c
#| 2
#| b
#| c
#| in_b
#| cd: nothere: No such file or directory
#| a
#| mkdir: cannot create directory 'x': File exists
#| mkdir: created directory 'p'
#| mkdir: created directory 'p/q'
#| mkdir: created directory 'p/q/r'

#### test conditions
touch e; echo x > n; [ -e e ] && [ ! -s e ] && echo empty; [[ -f n && -s n ]] && echo full; [ -d . -a -f n ] && echo both; [[ n -nt e || e -ot n || 1 -eq 1 ]] && echo ok; test -z "" && echo z; [ "a" \< "b" ] && echo less; [[ abc == a*c ]] && echo glob; [[ "a.c" =~ ^a\.c$ ]] && echo re; [ 3 -gt 2 ] || echo no; [[ -v HOME ]] && echo set; [ "$(ls | wc -l)" -eq 2 ] && echo two; [ a = ] 2>&1; [ 1 -eq x ] 2>&1 | sed 's/.*: \[/[/'; [[ ! ( -e q || -e r ) ]] && echo none; if ! grep -q zz n; then echo absent; fi
#| empty
#| full
#| both
#| ok
#| z
#| less
#| glob
#| re
#| set
#| two
#| bash: line 1: [: a: unary operator expected
#| [: x: integer expression expected
#| none
#| absent

#### links and temp files
f=$(mktemp); [[ $f == /tmp/tmp.* || -f $f ]] && echo ok; d=$(mktemp -d -t proj.XXXX); [[ $d == */proj.???? ]] && echo dir; ln -sfn "$d" cur; [[ $(readlink cur) == "$d" ]] && echo linked; ln -s nowhere dangling; find -L . -type l; ls dangling; [ -e dangling ] || echo broken; cp -P dangling d2; readlink d2; ln n 2>&1; echo a > a; ln a hard; stat -c %h a; rm -rf "$d" "$f"; realpath -m x/../y/z | sed 's|.*/y|y|'; realpath --relative-to=a/b a/c/d; mktemp -u XXXX | wc -c; ln -sr a sub 2>&1; mkdir s; ln -sr a s/rel; readlink s/rel
#| ok
#| dir
#| linked
#| ./dangling
#| dangling
#| broken
#| nowhere
#| ln: failed to access 'n': No such file or directory
#| 2
#| y/z
#| 5
#| ../a

#### tee and process substitution
seq 3 | tee a >(wc -l > cnt) | paste -sd,; sleep 0.5; cat a; cat cnt; seq 3 | tee -a a > /dev/null; wc -l < a; echo err 2>&1 >/dev/null | cat; { echo o; echo e >&2; } 2> >(sed 's/^/E:/' >&2) 2>&1 | sort; diff <(echo a) <(echo b); cat <(echo 1) <(echo 2); while read -r x; do ((s+=x)); done < <(seq 4); echo $s; exec 3> log; echo l1 >&3; exec 3>&-; cat log; { echo a; echo b; } > both 2>&1; wc -l both
#| 1,2,3
#| 1
#| 2
#| 3
#| 3
#| 6
#| e
#| o
#| 1c1
#| < a
#| ---
#| > b
#| 1
#| 2
#| 10
#| l1
#| 2 both
