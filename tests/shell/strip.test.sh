#### x=/usr/lib/a.tar.gz; echo ${x#*/}
x=/usr/lib/a.tar.gz; echo ${x#*/}
#| usr/lib/a.tar.gz

#### x=; echo "[${x#*/}]"
x=; echo "[${x#*/}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x##*/}
x=/usr/lib/a.tar.gz; echo ${x##*/}
#| a.tar.gz

#### x=; echo "[${x##*/}]"
x=; echo "[${x##*/}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x%/*}
x=/usr/lib/a.tar.gz; echo ${x%/*}
#| /usr/lib

#### x=; echo "[${x%/*}]"
x=; echo "[${x%/*}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x%%/*}
x=/usr/lib/a.tar.gz; echo ${x%%/*}
#|

#### x=; echo "[${x%%/*}]"
x=; echo "[${x%%/*}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x#x}
x=/usr/lib/a.tar.gz; echo ${x#x}
#| /usr/lib/a.tar.gz

#### x=; echo "[${x#x}]"
x=; echo "[${x#x}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x%x}
x=/usr/lib/a.tar.gz; echo ${x%x}
#| /usr/lib/a.tar.gz

#### x=; echo "[${x%x}]"
x=; echo "[${x%x}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x#[a-z]}
x=/usr/lib/a.tar.gz; echo ${x#[a-z]}
#| /usr/lib/a.tar.gz

#### x=; echo "[${x#[a-z]}]"
x=; echo "[${x#[a-z]}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x%%[^/]*}
x=/usr/lib/a.tar.gz; echo ${x%%[^/]*}
#| /

#### x=; echo "[${x%%[^/]*}]"
x=; echo "[${x%%[^/]*}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x#/}
x=/usr/lib/a.tar.gz; echo ${x#/}
#| usr/lib/a.tar.gz

#### x=; echo "[${x#/}]"
x=; echo "[${x#/}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x%%.*}
x=/usr/lib/a.tar.gz; echo ${x%%.*}
#| /usr/lib/a

#### x=; echo "[${x%%.*}]"
x=; echo "[${x%%.*}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x#*.}
x=/usr/lib/a.tar.gz; echo ${x#*.}
#| tar.gz

#### x=; echo "[${x#*.}]"
x=; echo "[${x#*.}]"
#| []

#### x=/usr/lib/a.tar.gz; echo ${x##*.}
x=/usr/lib/a.tar.gz; echo ${x##*.}
#| gz

#### x=; echo "[${x##*.}]"
x=; echo "[${x##*.}]"
#| []
