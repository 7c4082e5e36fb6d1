#### yaml-like parsing without yq
cat > c.yml <<'Y'
app:
  name: demo
  ports:
    - 80
    - 443
db: {host: localhost, port: 5432}
# comment
list: [a, b]
Y
awk '/^app:/{f=1;next} /^[a-z]/{f=0} f && /name:/{print $2}' c.yml; grep -A5 'ports:' c.yml | grep -oP '(?<=- )\d+'; sed -n 's/^  name: *//p' c.yml; grep -Po 'host:\s*\K[^,}]+' c.yml; awk -F': ' '$1=="list"{gsub(/[][]/,"",$2); n=split($2,a,", "); for(i=1;i<=n;i++)print a[i]}' c.yml; sed -E 's/^( *)([a-z]+):/\1"\2":/' c.yml | head -3; awk '{match($0,/^ */); print RLENGTH/2, $0}' c.yml | head -4
#| demo
#| 80
#| 443
#| demo
#| localhost
#| a
#| b
#| "app":
#|   "name": demo
#|   "ports":
#| 0 app:
#| 1   name: demo
#| 1   ports:
#| 2     - 80

#### git-like diff stat
printf 'a\nb\nc\n' > f1; printf 'a\nB\nc\nd\n' > f2; diff -u f1 f2 | grep -cE '^\+[^+]'; diff -u f1 f2 | awk '/^\+[^+]/{p++} /^-[^-]/{m++} END{printf "+%d -%d\n",p,m}'; diff f1 f2 > d.patch; echo $?; patch f1 d.patch -o out; cat out; patch --dry-run f1 d.patch; patch -p0 --backup f1 < d.patch; ls; diff --unified=1 --label a/f --label b/f f1.orig f1 > g.patch; cat g.patch; patch -R f1 g.patch; patch -p1 --dry-run < g.patch 2>&1 | head -3; echo garbage | patch 2>&1; echo $?
#| 2
#| +2 -1
#| 1
#| patching file out (read from f1)
#| a
#| B
#| c
#| d
#| checking file f1
#| patching file f1
#| d.patch
#| f1
#| f1.orig
#| f2
#| out
#| --- a/f
#| +++ b/f
#| @@ -1,3 +1,4 @@
#|  a
#| -b
#| +B
#|  c
#| +d
#| patching file f1
#| can't find file to patch at input line 3
#| Perhaps you used the wrong -p or --strip option?
#| The text leading up to this was:
#| patch: **** Only garbage was found in the patch input.
#| 2

#### refactor across a code tree
mkdir -p pkg/sub; cat > pkg/a.py <<'P'
from old.module import thing, other
import old.module as om

class OldName(Base):
    def method(self): return OldName.static(om.x)
P
cat > pkg/sub/b.py <<'P'
# OldName is mentioned
x = OldNameExtra()
y = OldName()
P
grep -rlZ 'OldName' pkg | xargs -0 sed -i -E 's/\bOldName\b/NewName/g'; find pkg -name '*.py' -exec sed -i 's/old\.module/new.mod/g' {} +; cat pkg/a.py pkg/sub/b.py; grep -rn 'OldName' pkg; grep -rc NewName pkg | sort; grep -rnw 'pkg' -e 'x' | sort; find pkg -type f -name '*.py' | xargs grep -Hn 'class ' | awk -F: '{print $1" L"$2": "$3}'; awk 'FNR==1{print "== " FILENAME} {print FNR": "$0}' pkg/a.py | head -3; grep -oE '^(from|import) [a-z.]+' -r pkg -h | awk '{print $2}' | sort -u; sed -n '/class/,$p' pkg/a.py; sed -i '/^import/d' pkg/a.py; sed -i '1{/^from/!d}' pkg/a.py; sed -i '/class/i\
# inserted\
# twice' pkg/a.py; cat pkg/a.py; perl -v >/dev/null 2>&1; for f in $(find pkg -name '*.py' | sort); do printf '%-14s %3d\n' "$f" "$(wc -l < "$f")"; done
#| from new.mod import thing, other
#| import new.mod as om
#|
#| class NewName(Base):
#|     def method(self): return NewName.static(om.x)
#| # NewName is mentioned
#| x = OldNameExtra()
#| y = NewName()
#| pkg/sub/b.py:2:x = OldNameExtra()
#| pkg/a.py:2
#| pkg/sub/b.py:2
#| pkg/a.py:5:    def method(self): return NewName.static(om.x)
#| pkg/sub/b.py:2:x = OldNameExtra()
#| pkg/a.py L4: class NewName(Base)
#| == pkg/a.py
#| 1: from new.mod import thing, other
#| 2: import new.mod as om
#| new.mod
#| class NewName(Base):
#|     def method(self): return NewName.static(om.x)
#| from new.mod import thing, other
#|
#| # inserted
#| # twice
#| class NewName(Base):
#|     def method(self): return NewName.static(om.x)
#| pkg/a.py         6
#| pkg/sub/b.py     3

#### process a csv with quotes through awk
cat > q.csv <<'C'
name,desc,amount
"Smith, J",hello,5
Jones,"a ""quoted"" one",7
C
awk -v FPAT='([^,]*)|("([^"]|"")+")' 'NR>1{print $1 " | " $3}' q.csv; awk -F'","|^"|"$' 'NR==2{print NF}' q.csv; sqlite3 :memory: -cmd '.import --csv q.csv t' 'select name, amount*2 from t order by name'; sqlite3 :memory: '.import -csv q.csv t' '.mode json' 'select * from t limit 1'; sed 1d q.csv | while IFS= read -r l; do echo "${l##*,}"; done | paste -sd+ | bc; tail -n +2 q.csv | rev | cut -d, -f1 | rev; tr -d '"' < q.csv | head -2 | tail -1; csvtool 2>/dev/null; jq -R -s -c 'split("\n")[1:] | map(select(length>0)) | map(split(",") | last | tonumber)' q.csv; jq -Rr '@csv "\([., "x\"y"])"' <<< a
#| "Smith, J" | 5
#| Jones | 7
#| 2
#| Jones|14
#| Smith, J|10
#| [{"name":"Smith, J","desc":"hello","amount":"5"}]
#| 12
#| 5
#| 7
#| Smith, J,hello,5
#| [5,7]
#| "a","x""y"

#### time stamps in logs
cat > app.log <<'L'
2024-05-01T10:00:00Z INFO start id=1
2024-05-01T10:00:05Z ERROR failed id=2 err="disk full"
2024-05-01T11:30:00Z WARN slow id=3 ms=1500
2024-05-02T00:00:01Z ERROR failed id=4 err="net"
L
awk '$2=="ERROR"' app.log; awk '$1 >= "2024-05-01T10:30" && $1 < "2024-05-02"' app.log; cut -dT -f1 app.log | uniq -c | awk '{print $2": "$1}'; grep -oP 'id=\K\d+' app.log | paste -sd,; sed -nE 's/^([^ ]+) ERROR .*err="([^"]+)".*/\1 -> \2/p' app.log; awk '{c[$2]++} END{n=asorti(c,k); for(i=1;i<=n;i++) printf "%-6s%3d %s\n", k[i], c[k[i]], substr("##########",1,c[k[i]])}' app.log; a=$(date -ud "$(head -1 app.log | cut -d' ' -f1)" +%s); b=$(date -ud "$(tail -1 app.log | cut -d' ' -f1)" +%s); echo $((b-a)) $(( (b-a)/3600 ))h; while read -r ts lvl msg; do [[ $lvl == ERROR ]] && printf '%s|%s\n' "${ts%T*}" "${msg%% *}"; done < app.log; grep -c ERROR app.log; grep -n -m1 ERROR app.log | cut -d: -f1; sed '/ERROR/,/WARN/!d' app.log | wc -l; tac app.log | grep -m1 -B1 ERROR; awk -F'[=" ]+' '/ms=/{print $(NF)}' app.log; tail -f app.log --pid=999999 2>/dev/null | head -1; sort -k2,2 -k1,1r app.log | cut -c1-26; awk 'match($0, /id=([0-9]+)/, m) {print m[1]}' app.log | tail -1; awk '{gsub(/[-:TZ]/," ",$1); print mktime($1)}' app.log | head -1 | wc -c; awk 'BEGIN{print strftime("%Y-%m-%d", 0, 1)}'
#| 2024-05-01T10:00:05Z ERROR failed id=2 err="disk full"
#| 2024-05-02T00:00:01Z ERROR failed id=4 err="net"
#| 2024-05-01T11:30:00Z WARN slow id=3 ms=1500
#| 2024-05-01: 3
#| 2024-05-02: 1
#| 1,2,3,4
#| 2024-05-01T10:00:05Z -> disk full
#| 2024-05-02T00:00:01Z -> net
#| ERROR   2 ##
#| INFO    1 #
#| WARN    1 #
#| 50401 14h
#| 2024-05-01|failed
#| 2024-05-02|failed
#| 2
#| 2
#| 3
#| 2024-05-02T00:00:01Z ERROR failed id=4 err="net"
#| 1500
#| 2024-05-01T10:00:00Z INFO start id=1
#| 2024-05-02T00:00:01Z ERROR
#| 2024-05-01T10:00:05Z ERROR
#| 2024-05-01T10:00:00Z INFO 
#| 2024-05-01T11:30:00Z WARN 
#| 4
#| 11
#| 1970-01-01

#### nested data and while loops in a real script
#!/bin/bash
set -uo pipefail
declare -A stock=([apple]=5 [pear]=0 [fig]=12)
declare -a order=(apple fig kiwi pear)
total=0
check_item() {
  local item=$1 want=${2:-1} have
  if [[ ! -v stock[$item] ]]; then
    echo "unknown: $item" >&2
    return 2
  fi
  have=${stock[$item]}
  if (( have < want )); then
    printf 'short: %s (%d < %d)\n' "$item" "$have" "$want"
    return 1
  fi
  stock[$item]=$(( have - want ))
  return 0
}
for i in "${!order[@]}"; do
  item=${order[i]}
  if check_item "$item" 3 2>err.txt; then
    (( total += 3 ))
    echo "$((i+1)). $item ok (left ${stock[$item]})"
  else
    case $? in
      1) echo "$((i+1)). $item short" ;;
      2) echo "$((i+1)). $item: $(<err.txt)" ;;
    esac
  fi
done
echo "total=$total"
while IFS=$'\t' read -r name qty; do
  printf '%-8s%4s\n' "$name" "$qty"
done < <(for k in "${!stock[@]}"; do printf '%s\t%s\n' "$k" "${stock[$k]}"; done | sort)
#| 1. apple ok (left 2)
#| 2. fig ok (left 9)
#| 3. kiwi: unknown: kiwi
#| short: pear (0 < 3)
#| 4. pear short
#| total=6
#| apple      2
#| fig        9
#| pear       0

#### a stack and a queue and recursion
stack=(); push() { stack+=("$1"); }; pop() { local n=$(( ${#stack[@]} - 1 )); REPLY=${stack[n]}; unset "stack[n]"; }; push a; push 'b c'; pop; echo "$REPLY ${#stack[@]}"; q=(1 2 3); echo "${q[0]}"; q=("${q[@]:1}"); echo "${q[*]}"; fib() { (( $1 < 2 )) && { echo $1; return; }; echo $(( $(fib $(($1-1))) + $(fib $(($1-2))) )); }; fib 10; walk() { local d=$1 ind=${2:-}; local f; for f in "$d"/*; do [[ -e $f ]] || continue; echo "$ind${f##*/}"; [[ -d $f ]] && walk "$f" "$ind  "; done; }; mkdir -p t/a/b; touch t/x t/a/y; walk t; gcd() { local a=$1 b=$2; while ((b)); do ((t=a%b, a=b, b=t)); done; echo $a; }; gcd 48 18; hanoi() { (( $1 == 0 )) && return; hanoi $(($1-1)) $2 $4 $3; echo -n "$2$3 "; hanoi $(($1-1)) $4 $3 $2; }; hanoi 2 A C B; echo; bubble() { local -n arr=$1; local i j t; for ((i=0;i<${#arr[@]};i++)); do for ((j=0;j<${#arr[@]}-i-1;j++)); do if ((arr[j]>arr[j+1])); then t=${arr[j]}; arr[j]=${arr[j+1]}; arr[j+1]=$t; fi; done; done; }; nums=(5 3 9 1); bubble nums; echo "${nums[@]}"; isprime() { local n=$1 i; ((n<2)) && return 1; for ((i=2;i*i<=n;i++)); do ((n%i)) || return 1; done; }; for n in {1..20}; do isprime $n && echo -n "$n "; done; echo; rev_str() { local s=$1 o=; while [[ -n $s ]]; do o=${s:0:1}$o; s=${s:1}; done; echo $o; }; rev_str hello; join_by() { local IFS=$1; shift; echo "$*"; }; join_by , a b c; to_bin() { local n=$1 b=; while ((n)); do b=$((n%2))$b; ((n/=2)); done; echo ${b:-0}; }; to_bin 10; echo $((2#1010)); printf '%d\n' 0x1F; echo "obase=16;255" | bc
#| b c 1
#| 1
#| 2 3
#| 55
#| a
#|   b
#|   y
#| x
#| 6
#| AB AC BC 
#| 1 3 5 9
#| 2 3 5 7 11 13 17 19 
#| olleh
#| a,b,c
#| 1010
#| 10
#| 31
#| FF

#### find and delete old things safely
mkdir -p cache/d; touch -d '10 days ago' cache/old1 cache/d/old2; touch cache/new; find cache -type f -mtime +7 | sort; find cache -type f -mtime +7 -delete; find cache | sort; touch -d '2020-01-01' ref; find . -newer ref -type f | sort; find . -type f ! -newer ref | sort; find . -newermt 2019-12-31 ! -newermt 2020-01-02 -type f; find cache -type d -empty -print; find cache -depth -type d -empty -exec rmdir {} \;; ls cache; find . -name '*.log' -o -name 'ref' -print; find . -type f -exec sh -c 'for f; do echo "[$f]"; done' _ {} + | sort; find . -type f -execdir echo {} \; | sort; find / -maxdepth 1 -name tmp; find . -mindepth 1 -printf '%y %M %m %f\n' | sort | head -3; find . -type f -printf '%TY-%Tm-%Td %p\n' | grep ref; find . \( -type d -name cache \) -prune -o -print | sort; find -L . -maxdepth 1 -type f | sort; find . -links 1 -name ref; find . -user "$(id -un)" -name ref; find . -size -1 -name new; find . -not -name '.' -maxdepth 1 2>/dev/null | sort; find . -name 're?' -o -path '*/new' | sort; find nothere 2>&1; find . -foo 2>&1; find . -name 2>&1; find . -mtime x 2>&1; find . -type q 2>&1; find . -exec 2>&1; find . -maxdepth 1 -samefile ref; find . -regex '.*re[a-f]'; find . -inum -1; find cache -ls | wc -l; find . -type f -print0 | tr '\0' '\n' | sort; find . -name ref -ok echo {} \; <<< n 2>/dev/null; find . -readable -name ref; find . -perm 644 -name ref; find . -perm -444 -name ref | wc -l
#| cache/d/old2
#| cache/old1
#| cache
#| cache/d
#| cache/new
#| ./cache/new
#| ./ref
#| ./ref
#| cache/d
#| new
#| ./ref
#| [./cache/new]
#| [./ref]
#| ./new
#| ./ref
#| /tmp
#| d drwxr-xr-x 755 cache
#| f -rw-r--r-- 644 new
#| f -rw-r--r-- 644 ref
#| 2020-01-01 ./ref
#| .
#| ./ref
#| ./ref
#| ./ref
#| ./ref
#| ./cache/new
#| ./cache
#| ./ref
#| ./cache/new
#| ./ref
#| find: 'nothere': No such file or directory
#| find: unknown predicate `-foo'
#| find: missing argument to `-name'
#| find: invalid argument `x' to `-mtime'
#| find: Unknown argument to -type: q
#| find: missing argument to `-exec'
#| ./ref
#| ./ref
#| 2
#| ./cache/new
#| ./ref
#| ./ref
#| ./ref
#| 1

#### column and table output
printf 'NAME AGE CITY\nAnn 30 Paris\nBob 4 Rome\n' > t; column -t t; column -t -s' ' -o' | ' t; awk '{printf "| %-6s | %4s | %-8s |\n",$1,$2,$3}' t; awk 'NR==1{print; gsub(/[^ ]/,"-"); print; next}1' t | column -t; paste -d'|' <(cut -d' ' -f1 t) <(cut -d' ' -f3 t); awk 'NR>1{a[NR]=$1; b[NR]=$2} END{for(i=2;i<=NR;i++) printf "%s%s", a[i], (i<NR?", ":"\n")}' t; awk '{for(i=1;i<=NF;i++) m[NR,i]=$i} END{for(i=1;i<=NF;i++){for(j=1;j<=NR;j++) printf "%s%s", m[j,i], (j<NR?" ":"\n")}}' t; seq 12 | column -c 40; seq 6 | paste - - -; seq 6 | xargs -n3 | tr ' ' '\t' | expand -t 4; printf '%s\n' a bb ccc | awk '{w=length>w?length:w; l[NR]=$0} END{for(i=1;i<=NR;i++) printf "%*s|\n", w, l[i]}'; echo '{"a":[{"n":"x","v":1},{"n":"yy","v":22}]}' | jq -r '.a | (.[0]|keys_unsorted), (.[]|map(values)|map(tostring)) | @tsv' | column -t; seq 3 | pr -3 -t 2>/dev/null >/dev/null; printf '%-20s%s\n' é x; printf 'a\t1\nbbb\t22\n' | column -t -s $'\t'; sed 's/ /,/g' t | column -s, -t -N A,B,C 2>/dev/null; column -t -R 2 t; ls -1 | column; printf 'a:b:c\n' | column -s: -t -o '::'; fold -sw 8 <<< 'the quick brown fox'; nl -b a -n rz -w 3 t; cat -n t; cat -b <(printf 'a\n\nb\n'); cat -E t | head -1; od -An -tx1 -w4 <<< abcdef
#| NAME  AGE  CITY
#| Ann   30   Paris
#| Bob   4    Rome
#| NAME | AGE | CITY
#| Ann  | 30  | Paris
#| Bob  | 4   | Rome
#| | NAME   |  AGE | CITY     |
#| | Ann    |   30 | Paris    |
#| | Bob    |    4 | Rome     |
#| NAME  AGE  CITY
#| ----  ---  ----
#| Ann   30   Paris
#| Bob   4    Rome
#| NAME|CITY
#| Ann|Paris
#| Bob|Rome
#| Ann, Bob
#| NAME Ann Bob
#| AGE 30 4
#| CITY Paris Rome
#| 1	4	7	10
#| 2	5	8	11
#| 3	6	9	12
#| 1	2	3
#| 4	5	6
#| 1   2   3
#| 4   5   6
#|   a|
#|  bb|
#| ccc|
#| n   v
#| x   1
#| yy  22
#| é                  x
#| a    1
#| bbb  22
#| A     B    C
#| NAME  AGE  CITY
#| Ann   30   Paris
#| Bob   4    Rome
#| NAME  AGE  CITY
#| Ann    30  Paris
#| Bob     4  Rome
#| t
#| a::b::c
#| the 
#| quick 
#| brown 
#| fox
#| 001	NAME AGE CITY
#| 002	Ann 30 Paris
#| 003	Bob 4 Rome
#|      1	NAME AGE CITY
#|      2	Ann 30 Paris
#|      3	Bob 4 Rome
#|      1	a
#|
#|      2	b
#| NAME AGE CITY$
#|  61 62 63 64
#|  65 66 0a

#### base conversions and encodings
printf '%x %o %X %#x %#o\n' 255 8 255 255 8; echo $((16#ff)) $((2#101)) $((36#z)); printf '\x48\x69\n'; echo -e '\x48\u0069\t|'; echo -n abc | od -An -tx1 | tr -d ' \n'; echo; printf '%s' 'a b&c=d/é' | jq -sRr @uri; printf '%b\n' "$(sed 's/%/\\x/g' <<< 'a%20b%2F')"; urlenc() { local s=$1 i c; for ((i=0;i<${#s};i++)); do c=${s:i:1}; case $c in [a-zA-Z0-9.~_-]) printf %s "$c";; *) printf '%%%02X' "'$c";; esac; done; echo; }; urlenc 'a b/c?'; echo hello | tr 'a-y' 'b-z'; echo Zm9v | base64 -d; echo; base64 <<< "$(printf 'x%.0s' {1..80})"; echo -n test | sha256sum | awk '{print $1}'; echo -n test | md5sum | cut -d' ' -f1; echo -n test | sha1sum; echo -n test | sha512sum | cut -c1-20; echo -n test | cksum; printf 'abc' | xxd -p | sed 's/../& /g'; echo '616263' | xxd -r -p; echo; printf '%d %d\n' "'a" "'€"; printf "\\$(printf %o 65)\n"; awk 'BEGIN{for(i=65;i<70;i++) printf "%c", i; print ""}'; echo $'a\x62\143\u0064'; echo 255 | awk '{printf "%X\n",$1}'; dc -e '16i FF p'; echo 'obase=8; 64' | bc; od -An -td2 <<< ab; hexdump -e '1/1 "%02x "' <<< hi; echo; iconv -f latin1 -t utf-8 <<< $'\xe9'; printf 'é' | iconv -t utf-16le | xxd -p; echo 1 2 | tr ' ' '\n' | tac
#| ff 10 FF 0xff 010
#| 255 5 35
#| Hi
#| Hi	|
#| 616263
#| a%20b%26c%3Dd%2F%C3%A9
#| a b/
#| a%20b%2Fc%3F
#| ifmmp
#| foo
#| eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4
#| eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHgK
#| 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
#| 098f6bcd4621d373cade4e832627b4f6
#| a94a8fe5ccb19ba61c4c0873d391e987982fbbd3  -
#| ee26b0dd4af7e749aa1a
#| 3076352578 4
#| 61 62 63 
#| abc
#| 97 8364
#| A
#| ABCDE
#| abcd
#| FF
#| 255
#| 100
#|   25185     10
#| 68 69 0a 
#| é
#| e900
#| 2
#| 1

#### timeouts, retries and exit codes
retry() { local max=$1 n=1; shift; until "$@"; do rc=$?; (( n++ >= max )) && { echo "gave up ($rc)"; return $rc; }; echo "retry $n"; done; }; flaky() { local c=$(( $(cat n 2>/dev/null || echo 0) + 1 )); echo $c > n; (( c >= 3 )); }; retry 5 flaky && echo ok; rm n; retry 2 false; echo $?; timeout 0.05 bash -c 'while :; do :; done'; echo $?; timeout 1 bash -c 'exit 7'; echo $?; (exit 42); echo $?; false || echo "rc $?"; true && false || echo chain; ! false; echo $?; { false; true; }; echo $?; if (exit 3); then :; else echo "else $?"; fi; cmd_sub=$(exit 9); echo $?; local_test() { local x=$(exit 9); echo $?; }; local_test; false | true; echo $? ${PIPESTATUS[0]}; bash -c 'exit 300'; echo $?; bash -c 'exit -1'; echo $?; bash -c 'kill -TERM $$'; echo $?; sh -c 'exit 5' & wait $!; echo $?; set -o pipefail; false | cat; echo $?; set +o pipefail; command false; echo $?; eval false; echo $?; [ 1 -eq 2 ]; echo $?; [[ x ]]; echo $?; ((0)); echo $?; let 0; echo $?; test; echo $?; grep -q x /dev/null; echo $?; diff /dev/null /dev/null; echo $?; cmp -s /dev/null <(echo); echo $?; find /nothere >/dev/null 2>&1; echo $?; ls /nothere 2>/dev/null; echo $?; cd /nothere 2>/dev/null; echo $?; : ; echo $?; return 3 2>/dev/null; echo $?; exec 9</nothere; echo "rc $?"
#| retry 2
#| retry 3
#| ok
#| retry 2
#| gave up (1)
#| 1
#| 124
#| 7
#| 42
#| rc 1
#| chain
#| 0
#| 0
#| else 3
#| 9
#| 0
#| 0 1
#| 44
#| 255
#| 143
#| 5
#| 1
#| 1
#| 1
#| 1
#| 0
#| 1
#| 1
#| 1
#| 1
#| 0
#| 1
#| 1
#| 2
#| 1
#| 0
#| 2
#| rc 1

#### here-documents with every kind of content
cat <<'END' > s.js
const x = `template ${y} $z`; // 'quotes' "double" \n
if (a && b || !c) { console.log("it's"); }
END
cat s.js; cat <<END
\$escaped \\ \` "quoted" 'single' $(echo "sub 'q'") ${HOME:+home} \
joined line
tab	here
END
cat <<-EOT
	tabs gone
	  spaces stay
	EOT
cat << "A B"
spaced delimiter
A B
cat <<X; cat <<Y
x
X
y
Y
f() { cat <<IN
in function $1
IN
}; f arg
while read -r l; do echo "<$l>"; done <<L
one
  two
L
cat <<E | tr a-z A-Z | sed 's/^/> /'
piped
E
x=$(cat <<'Q'
a 'b' "c" $d )
Q
); echo "$x"; python - 2>/dev/null <<P || true
print(1)
P
cat <<<"here $((1+1)) string"; cat <<< 'multi
line'; tee out.txt > /dev/null <<CFG
key=${VAR:-default}
CFG
cat out.txt; if true; then cat <<I
  nested
I
fi; sed 's/x/y/' <<E
x ${x:0:1}
E
cat <<E1 <<E2
first
E1
second
E2
cat > sub.sh <<'S'
for a in "$@"; do echo "arg: $a"; done
S
bash sub.sh 1 '2 3'; bash -s x y <<'S'
echo "$# $1 $2"
S
#| const x = `template ${y} $z`; // 'quotes' "double" \n
#| if (a && b || !c) { console.log("it's"); }
#| $escaped \ ` "quoted" 'single' sub 'q' home joined line
#| tab	here
#| tabs gone
#|   spaces stay
#| spaced delimiter
#| x
#| y
#| in function arg
#| <one>
#| <two>
#| > PIPED
#| a 'b' "c" $d )
#| here 2 string
#| multi
#| line
#| key=default
#|   nested
#| y a
#| second
#| arg: 1
#| arg: 2 3
#| 2 x y
