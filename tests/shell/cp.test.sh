#### echo x > a; cp a b; cat b
echo x > a; cp a b; cat b
#| x

#### cp
cp
#? 1

#### cp a
cp a
#? 1

#### echo x > a; mkdir d; cp a d; cat d/a
echo x > a; mkdir d; cp a d; cat d/a
#| x

#### mkdir d; cp d e; echo $?
mkdir d; cp d e; echo $?
#| 1

#### mkdir d; echo x > d/f; cp -r d e; cat e/f
mkdir d; echo x > d/f; cp -r d e; cat e/f
#| x

#### mkdir d e; echo x > d/f; cp -r d e; cat e/d/f
mkdir d e; echo x > d/f; cp -r d e; cat e/d/f
#| x

#### cp missing b; echo $?
cp missing b; echo $?
#| 1

#### echo x > a; cp a a; echo $?
echo x > a; cp a a; echo $?
#| 1

#### echo 1 > a; echo 2 > b; cp -n a b; cat b
echo 1 > a; echo 2 > b; cp -n a b; cat b
#| 2

#### echo 1 > a; cp -v a b
echo 1 > a; cp -v a b
#| 'a' -> 'b'

#### echo 1 > a; echo 2 > b; cp a b c; echo $?
echo 1 > a; echo 2 > b; cp a b c; echo $?
#| 1

#### echo 1 > a; mkdir d; cp -t d a; ls d
echo 1 > a; mkdir d; cp -t d a; ls d
#| a

#### echo x > a; ln -s a l; cp l b; cat b; test -L b; echo $?
echo x > a; ln -s a l; cp l b; cat b; test -L b; echo $?
#| x
#| 1

#### echo x > a; ln -s a l; cp -P l b; readlink b
echo x > a; ln -s a l; cp -P l b; readlink b
#| a

#### mkdir d; echo x > a; cp -T a d; echo $?
mkdir d; echo x > a; cp -T a d; echo $?
#| 1

#### echo x > a; cp a missing/b; echo $?
echo x > a; cp a missing/b; echo $?
#| 1

#### mkdir -p d/e; echo x > d/e/f; cp --parents d/e/f . ; mkdir o; cp --parents d/e/f o; cat o/d/e/f
mkdir -p d/e; echo x > d/e/f; cp --parents d/e/f . ; mkdir o; cp --parents d/e/f o; cat o/d/e/f
#| x

#### echo a > x; chmod 700 x; cp -p x y; stat -c %a y
echo a > x; chmod 700 x; cp -p x y; stat -c %a y
#| 700

#### mkdir d; cp -r d d/sub; echo $?
mkdir d; cp -r d d/sub; echo $?
#| 1

#### echo 1 > a; echo 2 > b; cp -b a b; cat b b~
echo 1 > a; echo 2 > b; cp -b a b; cat b b~
#| 1
#| 2

