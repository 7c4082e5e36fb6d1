#### a trap that exits decides the status, whatever it interrupted
bash -c 'trap "echo bye; exit 5" TERM; kill $$; echo no'; echo $?
bash -c 'trap "exit 6" USR1; (sleep 0.3; kill -USR1 $$) & wait; echo no'; echo $?
bash -c 'trap "exit 7" USR1; (sleep 0.3; kill -USR1 $$; sleep 0.1) & wait $!; echo no'; echo $?
bash -c 'trap "exit 8" USR1; (sleep 0.3; kill -USR1 $$; sleep 0.1) & wait -n; echo no'; echo $?
bash -c 'trap "echo on" USR1; kill -USR1 $$; echo $?'
bash -c 'trap "false" USR1; (sleep 0.3; kill -USR1 $$; sleep 0.1) & wait; echo $(($? > 128))'
#| bye
#| 5
#| 6
#| 7
#| 8
#| on
#| 0
#| 1

#### a pipeline in the background keeps its status behind !
! true & wait $!; echo $?; ! (exit 3) & wait $!; echo $?; ! { false; } & wait $!; echo $?; ! true | false & wait $!; echo $?; ! true && true & wait $!; echo $?
#| 0
#| 3
#| 1
#| 1
#| 1

#### who starts a program says in its own words why it cannot
touch ne; mkdir d
timeout 1 nosuch; echo $?; timeout 0 nosuch; echo $?; timeout 1 ./ne; echo $?; timeout 1 ./none; echo $?
nice nosuch; echo $?; nohup nosuch; echo $?; env nosuch; echo $?; env ./ne; echo $?; env ./d; echo $?; env X=1 ./none; echo $?
echo a | xargs nosuch; echo $?; echo a | xargs ./ne; echo $?; echo a | xargs -P2 nosuch; echo $?; find ne -exec nosuch {} \;; echo $?; find ne -exec nosuch {} +; echo $?; find ne -exec ./ne \;; echo $?
#| 127
#| 127
#| 126
#| 127
#| 127
#| 127
#| 127
#| 126
#| 126
#| 127
#| 127
#| 126
#| 127
#| 0
#| 1
#| 0
#! timeout: failed to run command 'nosuch': No such file or directory
#! timeout: failed to run command 'nosuch': No such file or directory
#! timeout: failed to run command './ne': Permission denied
#! timeout: failed to run command './none': No such file or directory
#! nice: 'nosuch': No such file or directory
#! nohup: failed to run command 'nosuch': No such file or directory
#! env: 'nosuch': No such file or directory
#! env: './ne': Permission denied
#! env: './d': Permission denied
#! env: './none': No such file or directory
#! xargs: nosuch: No such file or directory
#! xargs: ./ne: Permission denied
#! xargs: nosuch: No such file or directory
#! find: 'nosuch': No such file or directory
#! find: 'nosuch': No such file or directory
#! find: './ne': Permission denied

#### jq walks objects in the order of their members
echo '{"b":1,"a":{"z":1,"c":2}}' > f; jq -c '[..], [paths], [leaf_paths], [tostream], [recurse], [getpath(paths)], [path(..)]' f; jq -c '.. |= (if type == "number" then . + 1 else . end)' f; jq -c 'del(.. | select(. == 1)), [.. | numbers], [paths(type == "number")]' f; jq --stream -c . f; jq -cn '[range(100)] | del(.[range(0; 100; 2)]) | length'
#| [{"b":1,"a":{"z":1,"c":2}},1,{"z":1,"c":2},1,2]
#| [["b"],["a"],["a","z"],["a","c"]]
#| [["b"],["a","z"],["a","c"]]
#| [[["b"],1],[["a","z"],1],[["a","c"],2],[["a","c"]],[["a"]]]
#| [{"b":1,"a":{"z":1,"c":2}},1,{"z":1,"c":2},1,2]
#| [1,{"z":1,"c":2},1,2]
#| [[],["b"],["a"],["a","z"],["a","c"]]
#| {"b":2,"a":{"z":2,"c":3}}
#| {"a":{"c":2}}
#| [1,1,2]
#| [["b"],["a","z"],["a","c"]]
#| [["b"],1]
#| [["a","z"],1]
#| [["a","c"],2]
#| [["a","c"]]
#| [["a"]]
#| 50

#### sed: a, i and c without text
printf x | sed '$a\'; printf 'x\n' | sed '$a\'; printf 'x\ny' | sed '1i\'; echo; printf 'x\ny\n' | sed '1c\'; printf 'x' | sed -e '1a\' -e 'foo'; sed a <<< x 2>&1
#| x
#| x
#| x
#| y
#| y
#| x
#| foo
#| sed: -e expression #1, char 1: expected \ after `a', `c' or `i'
#? 1

#### sqlite3: after an import in csv mode rows end as those that were read
printf 'id,v\n1,x\n2,y\n' > i.csv; sqlite3 t.db -cmd '.mode csv' 'select 1' '.import i.csv imp' 'SELECT v FROM imp' | od -c; sqlite3 t.db '.mode csv' 'select 1,2' | od -An -c; sqlite3 -csv t.db 'select 1,2' | od -An -c
#| 0000000   1  \r  \n   x  \n   y  \n
#| 0000007
#|    1   ,   2  \r  \n
#|    1   ,   2  \n

#### iconv writes letters that a character set lacks without their marks
printf 'naïve café Ñandú Übung œuvre “q” – €5 ☕\n' | iconv -f utf-8 -t ascii//TRANSLIT; echo 'ß Å ø ł' | iconv -t ASCII//TRANSLIT; echo é | iconv -t ascii 2>/dev/null; echo $?; echo 'aéb' | iconv -c -t ascii
#| naive cafe Nandu Ubung oeuvre "q" - EUR5 ?
#| ss A o l
#| 1
#| ab

#### pictures and East Asian characters are two columns wide
printf '✅ ok\n❌\n☕x\n日本\n⚡⭐\n🚀\n' | while IFS= read -r l; do wc -L <<< "$l"; done; printf '✅ a\nbbb c\n' | column -t; fold -w 4 <<< '日本語x'
#| 5
#| 2
#| 3
#| 4
#| 4
#| 2
#| ✅   a
#| bbb  c
#| 日�
#| ���
#| �x

#### rev of what cannot be read
mkdir d; rev nofile; echo $?; rev d; echo abc | rev
#| 1
#| cba
#! rev: cannot open nofile: No such file or directory
#! rev: d: 0: Is a directory

#### a redirection that the script ends behind
bash -c 'echo >' 2>&1; echo $?; bash -c 'echo a; cat <' 2>&1; bash -c 'x 2>&' 2>&1; eval 'echo >>' 2>&1 | sed 's/.*eval/eval/'
#| bash: -c: line 1: syntax error near unexpected token `newline'
#| bash: -c: line 1: `echo >'
#| 2
#| bash: -c: line 1: syntax error near unexpected token `newline'
#| bash: -c: line 1: `echo a; cat <'
#| bash: -c: line 1: syntax error near unexpected token `newline'
#| bash: -c: line 1: `x 2>&'
#| eval: line 1: syntax error near unexpected token `newline'
#| eval: line 1: `echo >>'

#### patch without the file it is for
printf -- 'text before\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n' > p; patch -p1 < p; echo $?; patch -p1 -f < p; patch -p1 -t -i p; echo x > g; patch -p1 < p; cat g
#| can't find file to patch at input line 4
#| Perhaps you used the wrong -p or --strip option?
#| The text leading up to this was:
#| --------------------------
#| |text before
#| |--- a/f
#| |+++ b/f
#| --------------------------
#| File to patch: 
#| Skip this patch? [y] 
#| Skipping patch.
#| 1 out of 1 hunk ignored
#| can't find file to patch at input line 10
#| Perhaps you used the wrong -p or --strip option?
#| The text leading up to this was:
#| --------------------------
#| |--- a/g
#| |+++ b/g
#| --------------------------
#| File to patch: 
#| Skip this patch? [y] 
#| Skipping patch.
#| 1 out of 1 hunk ignored
#| 1
#| can't find file to patch at input line 4
#| Perhaps you used the wrong -p or --strip option?
#| The text leading up to this was:
#| --------------------------
#| |text before
#| |--- a/f
#| |+++ b/f
#| --------------------------
#| No file to patch.  Skipping patch.
#| 1 out of 1 hunk ignored
#| can't find file to patch at input line 10
#| Perhaps you used the wrong -p or --strip option?
#| The text leading up to this was:
#| --------------------------
#| |--- a/g
#| |+++ b/g
#| --------------------------
#| No file to patch.  Skipping patch.
#| 1 out of 1 hunk ignored
#| can't find file to patch at input line 4
#| Perhaps you used the wrong -p or --strip option?
#| The text leading up to this was:
#| --------------------------
#| |text before
#| |--- a/f
#| |+++ b/f
#| --------------------------
#| No file to patch.  Skipping patch.
#| 1 out of 1 hunk ignored
#| can't find file to patch at input line 10
#| Perhaps you used the wrong -p or --strip option?
#| The text leading up to this was:
#| --------------------------
#| |--- a/g
#| |+++ b/g
#| --------------------------
#| No file to patch.  Skipping patch.
#| 1 out of 1 hunk ignored
#| can't find file to patch at input line 4
#| Perhaps you used the wrong -p or --strip option?
#| The text leading up to this was:
#| --------------------------
#| |text before
#| |--- a/f
#| |+++ b/f
#| --------------------------
#| File to patch: 
#| Skip this patch? [y] 
#| Skipping patch.
#| 1 out of 1 hunk ignored
#| patching file g
#| y
