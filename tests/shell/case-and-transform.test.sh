#### x="aBc def"; echo "${x^}"
x="aBc def"; echo "${x^}"
#| ABc def

#### a=(ab Cd); echo "${a[@]^}"
a=(ab Cd); echo "${a[@]^}"
#| Ab Cd

#### x="aBc def"; echo "${x^^}"
x="aBc def"; echo "${x^^}"
#| ABC DEF

#### a=(ab Cd); echo "${a[@]^^}"
a=(ab Cd); echo "${a[@]^^}"
#| AB CD

#### x="aBc def"; echo "${x,}"
x="aBc def"; echo "${x,}"
#| aBc def

#### a=(ab Cd); echo "${a[@],}"
a=(ab Cd); echo "${a[@],}"
#| ab cd

#### x="aBc def"; echo "${x,,}"
x="aBc def"; echo "${x,,}"
#| abc def

#### a=(ab Cd); echo "${a[@],,}"
a=(ab Cd); echo "${a[@],,}"
#| ab cd

#### x="aBc def"; echo "${x^^[ab]}"
x="aBc def"; echo "${x^^[ab]}"
#| ABc def

#### a=(ab Cd); echo "${a[@]^^[ab]}"
a=(ab Cd); echo "${a[@]^^[ab]}"
#| AB Cd

#### x="aBc def"; echo "${x,,[AB]}"
x="aBc def"; echo "${x,,[AB]}"
#| abc def

#### a=(ab Cd); echo "${a[@],,[AB]}"
a=(ab Cd); echo "${a[@],,[AB]}"
#| ab Cd

#### x="aBc def"; echo "${x~}"
x="aBc def"; echo "${x~}"
#| ABc def

#### a=(ab Cd); echo "${a[@]~}"
a=(ab Cd); echo "${a[@]~}"
#| Ab cd

#### x="aBc def"; echo "${x~~}"
x="aBc def"; echo "${x~~}"
#| AbC DEF

#### a=(ab Cd); echo "${a[@]~~}"
a=(ab Cd); echo "${a[@]~~}"
#| AB cD

#### x="aBc def"; echo "${x@U}"
x="aBc def"; echo "${x@U}"
#| ABC DEF

#### a=(ab Cd); echo "${a[@]@U}"
a=(ab Cd); echo "${a[@]@U}"
#| AB CD

#### x="aBc def"; echo "${x@L}"
x="aBc def"; echo "${x@L}"
#| abc def

#### a=(ab Cd); echo "${a[@]@L}"
a=(ab Cd); echo "${a[@]@L}"
#| ab cd

#### x="aBc def"; echo "${x@u}"
x="aBc def"; echo "${x@u}"
#| ABc def

#### a=(ab Cd); echo "${a[@]@u}"
a=(ab Cd); echo "${a[@]@u}"
#| Ab Cd

#### x="aBc def"; echo "${x@Q}"
x="aBc def"; echo "${x@Q}"
#| 'aBc def'

#### a=(ab Cd); echo "${a[@]@Q}"
a=(ab Cd); echo "${a[@]@Q}"
#| 'ab' 'Cd'
