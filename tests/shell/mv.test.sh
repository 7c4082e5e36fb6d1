#### echo x > a; mv a b; cat b; ls
echo x > a; mv a b; cat b; ls
#| x
#| b

#### mv
mv
#? 1

#### mv a
mv a
#? 1

#### mv missing b; echo $?
mv missing b; echo $?
#| 1

#### echo x > a; mkdir d; mv a d; ls d
echo x > a; mkdir d; mv a d; ls d
#| a

#### mkdir d e; mv d e; ls e
mkdir d e; mv d e; ls e
#| d

#### echo 1 > a; echo 2 > b; mv -n a b; cat a b
echo 1 > a; echo 2 > b; mv -n a b; cat a b
#| 1
#| 2

#### echo 1 > a; mv -v a b
echo 1 > a; mv -v a b
#| renamed 'a' -> 'b'

#### mkdir d; echo x > f; mv f d/g; ls d
mkdir d; echo x > f; mv f d/g; ls d
#| g

#### mkdir d; mv d d/e; echo $?
mkdir d; mv d d/e; echo $?
#| 1

#### mkdir d; touch f; mv d f; echo $?
mkdir d; touch f; mv d f; echo $?
#| 1

#### touch a b; mkdir d; mv a b d; ls d
touch a b; mkdir d; mv a b d; ls d
#| a
#| b

#### touch a; mv a a; echo $?
touch a; mv a a; echo $?
#| 1

#### touch a b; mv a b c; echo $?
touch a b; mv a b c; echo $?
#| 1

#### echo 1 > a; echo 2 > b; mv -f a b; cat b
echo 1 > a; echo 2 > b; mv -f a b; cat b
#| 1

#### echo 1 > a; echo 2 > b; mv -b a b; cat b b~
echo 1 > a; echo 2 > b; mv -b a b; cat b b~
#| 1
#| 2

#### mkdir d; touch d/x e; mv -T e d; echo $?
mkdir d; touch d/x e; mv -T e d; echo $?
#| 1

#### mv -x a b
mv -x a b
#? 1

