#### seq 5 > f; cp f g; sed -i s/3/three/ g; diff -u f g > p; patch f < p; cat f
seq 5 > f; cp f g; sed -i s/3/three/ g; diff -u f g > p; patch f < p; cat f
#| patching file f
#| 1
#| 2
#| three
#| 4
#| 5

#### seq 5 > f; cp f g; sed -i s/3/three/ g; diff f g > p; patch f p; cat f
seq 5 > f; cp f g; sed -i s/3/three/ g; diff f g > p; patch f p; cat f
#| patching file f
#| 1
#| 2
#| three
#| 4
#| 5

#### seq 5 > f; cp f g; sed -i s/3/three/ g; diff -c f g > p; patch f < p; cat f
seq 5 > f; cp f g; sed -i s/3/three/ g; diff -c f g > p; patch f < p; cat f
#| patching file f
#| 1
#| 2
#| three
#| 4
#| 5

#### seq 5 > f; cp f g; sed -i s/3/three/ g; diff -u f g > p; patch -R g < p; cat g
seq 5 > f; cp f g; sed -i s/3/three/ g; diff -u f g > p; patch -R g < p; cat g
#| patching file g
#| 1
#| 2
#| 3
#| 4
#| 5

#### seq 5 > f; cp f g; sed -i s/3/three/ g; diff -u f g | patch --dry-run f; cat f
seq 5 > f; cp f g; sed -i s/3/three/ g; diff -u f g | patch --dry-run f; cat f
#| checking file f
#| 1
#| 2
#| 3
#| 4
#| 5

#### mkdir a b; seq 5 > a/f; sed s/3/x/ a/f > b/f; diff -ru a b > p; cd a; patch -p1 < ../p; cat f
mkdir a b; seq 5 > a/f; sed s/3/x/ a/f > b/f; diff -ru a b > p; cd a; patch -p1 < ../p; cat f
#| patching file f
#| 1
#| 2
#| x
#| 4
#| 5

#### seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch -o out f < p; cat out; head -3 f
seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch -o out f < p; cat out; head -3 f
#| patching file out (read from f)
#| 1
#| 2
#| x
#| 4
#| 5
#| 1
#| 2
#| 3

#### seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch -b f < p; ls
seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch -b f < p; ls
#| patching file f
#| f
#| f.orig
#| g
#| p

#### seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch -s f < p; echo $?
seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch -s f < p; echo $?
#| 0

#### seq 20 > f; sed s/10/ten/ f > g; diff -u f g > p; seq 0 20 > f; patch f < p; sed -n 11p f
seq 20 > f; sed s/10/ten/ f > g; diff -u f g > p; seq 0 20 > f; patch f < p; sed -n 11p f
#| patching file f
#| Hunk #1 succeeded at 8 (offset 1 line).
#| ten

#### seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; seq 100 105 > f; patch f < p; echo $?; ls
seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; seq 100 105 > f; patch f < p; echo $?; ls
#| patching file f
#| Hunk #1 FAILED at 1.
#| 1 out of 1 hunk FAILED -- saving rejects to file f.rej
#| 1
#| f
#| f.orig
#| f.rej
#| g
#| p

#### printf -- '--- /dev/null\n+++ new\n@@ -0,0 +1 @@\n+hello\n' | patch; cat new
printf -- '--- /dev/null\n+++ new\n@@ -0,0 +1 @@\n+hello\n' | patch; cat new
#| patching file new
#| hello

#### printf 'a\n' > old; printf -- '--- old\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n' | patch; ls
printf 'a\n' > old; printf -- '--- old\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n' | patch; ls
#| patching file old

#### echo garbage | patch f 2>&1; echo $?
echo garbage | patch f 2>&1; echo $?
#| patch: **** Only garbage was found in the patch input.
#| 2

#### seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch f < p > /dev/null; patch -N f < p; echo $?
seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch f < p > /dev/null; patch -N f < p; echo $?
#| patching file f
#| Reversed (or previously applied) patch detected!  Skipping patch.
#| 1 out of 1 hunk ignored -- saving rejects to file f.rej
#| 1

#### seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch -i p f; cat f
seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch -i p f; cat f
#| patching file f
#| 1
#| 2
#| x
#| 4
#| 5

#### seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch -d . -i p f | tail -1
seq 5 > f; sed s/3/x/ f > g; diff -u f g > p; patch -d . -i p f | tail -1
#| patching file f

#### patch --nonsense 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
patch --nonsense 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| patch: unrecognized option '--nonsense'
#| 2
