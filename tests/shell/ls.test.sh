#### mkdir d; touch d/b d/a d/.h; ls d
mkdir d; touch d/b d/a d/.h; ls d
#| a
#| b

#### mkdir d; touch d/b d/a d/.h; ls -a d
mkdir d; touch d/b d/a d/.h; ls -a d
#| .
#| ..
#| .h
#| a
#| b

#### mkdir d; touch d/b d/a d/.h; ls -A d
mkdir d; touch d/b d/a d/.h; ls -A d
#| .h
#| a
#| b

#### mkdir d; touch d/b d/a; ls -r d
mkdir d; touch d/b d/a; ls -r d
#| b
#| a

#### mkdir d; mkdir d/s; touch d/a; ls -F d
mkdir d; mkdir d/s; touch d/a; ls -F d
#| a
#| s/

#### mkdir d; mkdir d/s; touch d/a; ls -p d
mkdir d; mkdir d/s; touch d/a; ls -p d
#| a
#| s/

#### mkdir -p d/s; touch d/s/x; ls -R d
mkdir -p d/s; touch d/s/x; ls -R d
#| d:
#| s
#|
#| d/s:
#| x

#### touch a b; ls a b missing
touch a b; ls a b missing
#| a
#| b
#? 2

#### ls missing
ls missing
#? 2

#### mkdir d; ls -d d
mkdir d; ls -d d
#| d

#### touch 'a b'; ls
touch 'a b'; ls
#| a b

#### mkdir d; printf 12345 > d/x; printf 1 > d/y; ls -S d
mkdir d; printf 12345 > d/x; printf 1 > d/y; ls -S d
#| x
#| y

#### mkdir d; touch -d 2020-01-01 d/old; touch -d 2021-01-01 d/new; ls -t d
mkdir d; touch -d 2020-01-01 d/old; touch -d 2021-01-01 d/new; ls -t d
#| new
#| old

#### mkdir d; touch -d 2020-01-01 d/old; touch -d 2021-01-01 d/new; ls -tr d
mkdir d; touch -d 2020-01-01 d/old; touch -d 2021-01-01 d/new; ls -tr d
#| old
#| new

#### mkdir d; touch d/a d/b d/c; ls -m d
mkdir d; touch d/a d/b d/c; ls -m d
#| a, b, c

#### mkdir d; touch d/a d/b; ls -C d
mkdir d; touch d/a d/b; ls -C d
#| a  b

#### mkdir d; touch d/a d/b; ls -x d
mkdir d; touch d/a d/b; ls -x d
#| a  b

#### ls -Y
ls -Y
#? 2

#### touch f; chmod 640 f; ls -l f | cut -c1-10
touch f; chmod 640 f; ls -l f | cut -c1-10
#| -rw-r-----

#### ln -s t l; ls -F
ln -s t l; ls -F
#| l@

#### touch v1 v10 v2; ls -v
touch v1 v10 v2; ls -v
#| v1
#| v2
#| v10

#### touch b.x a.y; ls -X
touch b.x a.y; ls -X
#| b.x
#| a.y

#### mkdir x y; touch x/1 y/2; ls x y
mkdir x y; touch x/1 y/2; ls x y
#| x:
#| 1
#|
#| y:
#| 2

#### touch f; ls ./f
touch f; ls ./f
#| ./f

#### mkdir d; cd d; ls
mkdir d; cd d; ls

#### mkdir d; touch d/a d/B; ls d
mkdir d; touch d/a d/B; ls d
#| B
#| a

#### touch 'q"'; ls -Q
touch 'q"'; ls -Q
#| "q\""

#### mkdir d; touch d/f; mkdir d/e; ls --group-directories-first d
mkdir d; touch d/f; mkdir d/e; ls --group-directories-first d
#| e
#| f

#### touch a~ a; ls -B
touch a~ a; ls -B
#| a

#### touch a.o a.c; ls -I '*.o'
touch a.o a.c; ls -I '*.o'
#| a.c

