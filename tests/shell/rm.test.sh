#### touch a; rm a; ls
touch a; rm a; ls

#### rm missing; echo $?
rm missing; echo $?
#| 1

#### rm -f missing; echo $?
rm -f missing; echo $?
#| 0

#### mkdir d; rm d; echo $?
mkdir d; rm d; echo $?
#| 1

#### mkdir d; rm -r d; ls
mkdir d; rm -r d; ls

#### mkdir -p d/e; touch d/e/f; rm -rf d; ls
mkdir -p d/e; touch d/e/f; rm -rf d; ls

#### touch a b; rm -v a b
touch a b; rm -v a b
#| removed 'a'
#| removed 'b'

#### rm
rm
#? 1

#### rm -f
rm -f

#### mkdir d; rm -d d; ls
mkdir d; rm -d d; ls

#### mkdir d; touch d/x; rm -d d; echo $?
mkdir d; touch d/x; rm -d d; echo $?
#| 1

#### rm .; echo $?
rm .; echo $?
#| 1

#### touch a; rm -i a < /dev/null; ls
touch a; rm -i a < /dev/null; ls
#| a

#### touch -- -x; rm -- -x; ls
touch -- -x; rm -- -x; ls

#### rm -q
rm -q
#? 1

#### mkdir d; touch d/a; rm -rv d
mkdir d; touch d/a; rm -rv d
#| removed 'd/a'
#| removed directory 'd'

#### touch a; rm a/; echo $?
touch a; rm a/; echo $?
#| 1

