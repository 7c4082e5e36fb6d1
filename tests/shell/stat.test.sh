#### touch f; stat -c %n f
touch f; stat -c %n f
#| f

#### printf abc > f; stat -c %s f
printf abc > f; stat -c %s f
#| 3

#### touch f; chmod 644 f; stat -c '%a %A' f
touch f; chmod 644 f; stat -c '%a %A' f
#| 644 -rw-r--r--

#### mkdir d; stat -c %F d
mkdir d; stat -c %F d
#| directory

#### touch f; stat -c %F f
touch f; stat -c %F f
#| regular empty file

#### echo x > f; stat -c %F f
echo x > f; stat -c %F f
#| regular file

#### ln -s t l; stat -c '%F %N' l
ln -s t l; stat -c '%F %N' l
#| symbolic link 'l' -> 't'

#### stat missing; echo $?
stat missing; echo $?
#| 1

#### stat
stat
#? 1

#### touch f; stat --printf '%n\n' f
touch f; stat --printf '%n\n' f
#| f

#### touch -d @0 f; stat -c %Y f
touch -d @0 f; stat -c %Y f
#| 0

#### echo > a; ln a b; stat -c %h a
echo > a; ln a b; stat -c %h a
#| 2

#### touch f; stat -c '%%' f
touch f; stat -c '%%' f
#| %

#### touch f; stat -c '[%5a]' f
touch f; stat -c '[%5a]' f
#| [  644]

#### ln -s f l; echo > f; stat -L -c %F l
ln -s f l; echo > f; stat -L -c %F l
#| regular file

