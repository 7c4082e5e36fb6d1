#### echo abc | rev
echo abc | rev
#| cba

#### printf 'ab\ncd' | rev
printf 'ab\ncd' | rev
#| ba
#|- dc

#### rev missing
rev missing
#? 1

#### printf 'é1\n' | rev
printf 'é1\n' | rev
#| 1é

#### rev -x
rev -x
#? 1

