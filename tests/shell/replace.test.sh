#### x=abracadabraa; echo "${x/a/X}"
x=abracadabraa; echo "${x/a/X}"
#| Xbracadabraa

#### set -- abc cba; echo "${@/a/X}"
set -- abc cba; echo "${@/a/X}"
#| Xbc cbX

#### x=abracadabraa; echo "${x//a/X}"
x=abracadabraa; echo "${x//a/X}"
#| XbrXcXdXbrXX

#### set -- abc cba; echo "${@//a/X}"
set -- abc cba; echo "${@//a/X}"
#| Xbc cbX

#### x=abracadabraa; echo "${x/#a/X}"
x=abracadabraa; echo "${x/#a/X}"
#| Xbracadabraa

#### set -- abc cba; echo "${@/#a/X}"
set -- abc cba; echo "${@/#a/X}"
#| Xbc cba

#### x=abracadabraa; echo "${x/%a/X}"
x=abracadabraa; echo "${x/%a/X}"
#| abracadabraX

#### set -- abc cba; echo "${@/%a/X}"
set -- abc cba; echo "${@/%a/X}"
#| abc cbX

#### x=abracadabraa; echo "${x//[ab]/}"
x=abracadabraa; echo "${x//[ab]/}"
#| rcdr

#### set -- abc cba; echo "${@//[ab]/}"
set -- abc cba; echo "${@//[ab]/}"
#| c c

#### x=abracadabraa; echo "${x/b*/Z}"
x=abracadabraa; echo "${x/b*/Z}"
#| aZ

#### set -- abc cba; echo "${@/b*/Z}"
set -- abc cba; echo "${@/b*/Z}"
#| aZ cZ

#### x=abracadabraa; echo "${x//a}"
x=abracadabraa; echo "${x//a}"
#| brcdbr

#### set -- abc cba; echo "${@//a}"
set -- abc cba; echo "${@//a}"
#| bc cb

#### x=abracadabraa; echo "${x//?/x}"
x=abracadabraa; echo "${x//?/x}"
#| xxxxxxxxxxxx

#### set -- abc cba; echo "${@//?/x}"
set -- abc cba; echo "${@//?/x}"
#| xxx xxx

#### x=abracadabraa; echo "${x/a/}"
x=abracadabraa; echo "${x/a/}"
#| bracadabraa

#### set -- abc cba; echo "${@/a/}"
set -- abc cba; echo "${@/a/}"
#| bc cb

#### x=abracadabraa; echo "${x//aa/&&}"
x=abracadabraa; echo "${x//aa/&&}"
#| abracadabraaaa

#### set -- abc cba; echo "${@//aa/&&}"
set -- abc cba; echo "${@//aa/&&}"
#| abc cba
