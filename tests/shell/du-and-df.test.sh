#### printf %5000d 1 > f; du -b f
printf %5000d 1 > f; du -b f
#| 5000	f

#### mkdir -p a/b; printf %100d 1 > a/f; printf %50d 1 > a/b/g; du -ab a | awk '{print /[fg]$/ ? $1 : "D", $2}' | sort -k2
mkdir -p a/b; printf %100d 1 > a/f; printf %50d 1 > a/b/g; du -ab a | awk '{print /[fg]$/ ? $1 : "D", $2}' | sort -k2
#| D a
#| D a/b
#| 50 a/b/g
#| 100 a/f

#### mkdir -p a; printf %100d 1 > a/f; du --apparent-size -B1 a/f
mkdir -p a; printf %100d 1 > a/f; du --apparent-size -B1 a/f
#| 100	a/f

#### printf %100d 1 > f; printf %200d 1 > g; du -bc f g
printf %100d 1 > f; printf %200d 1 > g; du -bc f g
#| 100	f
#| 200	g
#| 300	total

#### printf %3000d 1 > f; du -bh f
printf %3000d 1 > f; du -bh f
#| 3.0K	f

#### printf x > f; ln f g; du -b f g
printf x > f; ln f g; du -b f g
#| 1	f

#### printf x > f; ln f g; du -bl f g
printf x > f; ln f g; du -bl f g
#| 1	f
#| 1	g

#### mkdir a; du -s a | cut -f2
mkdir a; du -s a | cut -f2
#| a

#### mkdir -p a/b/c; du -d 1 a | cut -f2; du --max-depth=0 a | cut -f2
mkdir -p a/b/c; du -d 1 a | cut -f2; du --max-depth=0 a | cut -f2
#| a/b
#| a
#| a

#### mkdir -p a; touch a/x.log a/y; du -a --exclude='*.log' a | cut -f2
mkdir -p a; touch a/x.log a/y; du -a --exclude='*.log' a | cut -f2
#| a/y
#| a

#### mkdir -p a; touch a/f; du -0 a | tr '\0' Z | cut -f2; echo
mkdir -p a; touch a/f; du -0 a | tr '\0' Z | cut -f2; echo
#| aZ
#|

#### mkdir a; printf %100d 1 > a/f; ln -s a l; du -bD l | cut -f2; du -bL l | cut -f2
mkdir a; printf %100d 1 > a/f; ln -s a l; du -bD l | cut -f2; du -bL l | cut -f2
#| l
#| l

#### mkdir -p a/b; printf %100d 1 > a/f; du -bS a | cut -f2
mkdir -p a/b; printf %100d 1 > a/f; du -bS a | cut -f2
#| a/b
#| a

#### du missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
du missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| du: cannot access 'missing': No such file or directory
#| 1

#### du -d x 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
du -d x 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
#| du: invalid maximum depth 'x'
#| 1

#### du --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
du --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| du: unrecognized option '--nonsense'
#| Try 'du --help' for more information.
#| 1

#### du -s -a . 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
du -s -a . 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
#| du: cannot both summarize and show all entries
#| 1

#### df . | head -1
df . | head -1
#| Filesystem     1K-blocks     Used Available Use% Mounted on

#### df -h . | head -1 | tr -s ' '
df -h . | head -1 | tr -s ' '
#| Filesystem Size Used Avail Use% Mounted on

#### df -i . | head -1 | tr -s ' '
df -i . | head -1 | tr -s ' '
#| Filesystem Inodes IUsed IFree IUse% Mounted on

#### df -P . | head -1 | tr -s ' '
df -P . | head -1 | tr -s ' '
#| Filesystem 1024-blocks Used Available Capacity Mounted on

#### df -T . | head -1 | tr -s ' ' | cut -d' ' -f1,2
df -T . | head -1 | tr -s ' ' | cut -d' ' -f1,2
#| Filesystem Type

#### df . | wc -l
df . | wc -l
#| 2

#### df missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
df missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| df: missing: No such file or directory
#| 1

#### df --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
df --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| df: unrecognized option '--nonsense'
#| Try 'df --help' for more information.
#| 1

