#### date -u -d @0
date -u -d @0
#| Thu Jan  1 00:00:00 UTC 1970

#### date -u -d @0 +%F_%T
date -u -d @0 +%F_%T
#| 1970-01-01_00:00:00

#### date -u -d '2024-02-29 12:34:56' '+%Y %m %d %H %M %S %j %u %w %a %A %b %B %y %C %e %k %l %I %p %P %s %n%t%%|'
date -u -d '2024-02-29 12:34:56' '+%Y %m %d %H %M %S %j %u %w %a %A %b %B %y %C %e %k %l %I %p %P %s %n%t%%|'
#| 2024 02 29 12 34 56 060 4 4 Thu Thursday Feb February 24 20 29 12 12 12 PM pm 1709210096 
#| 	%|

#### date -u -d '2024-02-29' '+%G-W%V %U %W %g %D %R %r %c %x %X %h'
date -u -d '2024-02-29' '+%G-W%V %U %W %g %D %R %r %c %x %X %h'
#| 2024-W09 08 09 24 02/29/24 00:00 12:00:00 AM Thu Feb 29 00:00:00 2024 02/29/24 00:00:00 Feb

#### date -u -d '2024-02-29' '+%-d %_m %03d %^a %#Z %10Y'
date -u -d '2024-02-29' '+%-d %_m %03d %^a %#Z %10Y'
#| 29  2 029 THU utc 0000002024

#### date -u -d '2024-01-31 +1 month' +%F
date -u -d '2024-01-31 +1 month' +%F
#| 2024-03-02

#### date -u -d '2024-03-01 yesterday' +%F; date -u -d '2024-03-01 tomorrow' +%F
date -u -d '2024-03-01 yesterday' +%F; date -u -d '2024-03-01 tomorrow' +%F
#| 2024-02-29
#| 2024-03-02

#### date -u -d '2024-03-01 2 days ago' +%F; date -u -d '2024-03-01 next week' +%F; date -u -d '2024-03-01 last year' +%F
date -u -d '2024-03-01 2 days ago' +%F; date -u -d '2024-03-01 next week' +%F; date -u -d '2024-03-01 last year' +%F
#| 2024-02-28
#| 2024-03-08
#| 2023-03-01

#### date -u -d '2024-03-01 10:00 PM' +%T; date -u -d '10:00:30.5 2024-03-01' +%T.%N
date -u -d '2024-03-01 10:00 PM' +%T; date -u -d '10:00:30.5 2024-03-01' +%T.%N
#| 22:00:00
#| 10:00:30.500000000

#### date -u -d 'Mar 5 2024' +%F; date -u -d '5 March 2024' +%F; date -u -d '3/5/2024' +%F; date -u -d '20240305' +%F
date -u -d 'Mar 5 2024' +%F; date -u -d '5 March 2024' +%F; date -u -d '3/5/2024' +%F; date -u -d '20240305' +%F
#| 2024-03-05
#| 2024-03-05
#| 2024-03-05
#| 2024-03-05

#### date -u -d '2024-03-05T10:11:12Z' +%s; date -u -d '2024-03-05T10:11:12+02:00' +%s; date -u -d '2024-03-05 10:11:12 EST' +%s
date -u -d '2024-03-05T10:11:12Z' +%s; date -u -d '2024-03-05T10:11:12+02:00' +%s; date -u -d '2024-03-05 10:11:12 EST' +%s
#| 1709633472
#| 1709626272
#| 1709651472

#### date -u -d 'Tue, 05 Mar 2024 10:11:12 +0000' -R
date -u -d 'Tue, 05 Mar 2024 10:11:12 +0000' -R
#| Tue, 05 Mar 2024 10:11:12 +0000

#### date -u -d @1709633472 -I; date -u -d @1709633472 -Iseconds; date -u -d @1709633472 -Iminutes; date -u -d @1709633472 --rfc-3339=seconds
date -u -d @1709633472 -I; date -u -d @1709633472 -Iseconds; date -u -d @1709633472 -Iminutes; date -u -d @1709633472 --rfc-3339=seconds
#| 2024-03-05
#| 2024-03-05T10:11:12+00:00
#| 2024-03-05T10:11+00:00
#| 2024-03-05 10:11:12+00:00

#### date -u -d @1709633472.123456789 +%N; date -u -d @1709633472.5 -Ins
date -u -d @1709633472.123456789 +%N; date -u -d @1709633472.5 -Ins
#| 123456789
#| 2024-03-05T10:11:12,500000000+00:00

#### TZ=America/New_York date -d @0 '+%F %T %Z %z %:z %::z'
TZ=America/New_York date -d @0 '+%F %T %Z %z %:z %::z'
#| 1969-12-31 19:00:00 EST -0500 -05:00 -05:00:00

#### TZ=Europe/Berlin date -d '2024-07-01 12:00' '+%T %Z %z'; TZ=Asia/Kolkata date -d @0 +%z
TZ=Europe/Berlin date -d '2024-07-01 12:00' '+%T %Z %z'; TZ=Asia/Kolkata date -d @0 +%z
#| 12:00:00 CEST +0200
#| +0530

#### printf '2024-01-01\n2024-02-02\n' > f; date -u -f f +%F
printf '2024-01-01\n2024-02-02\n' > f; date -u -f f +%F
#| 2024-01-01
#| 2024-02-02

#### touch -d '2001-02-03 04:05:06 UTC' f; date -u -r f '+%F %T'
touch -d '2001-02-03 04:05:06 UTC' f; date -u -r f '+%F %T'
#| 2001-02-03 04:05:06

#### date -d nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
date -d nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| date: invalid date 'nonsense'
#| 1

#### date -r missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
date -r missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| date: missing: No such file or directory
#| 1

#### date a b 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
date a b 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| date: extra operand 'b'
#| Try 'date --help' for more information.
#| 1

#### date -Ix 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
date -Ix 2>&1 | sed "s/[‘’]/'/g" | sed -n 1p; echo ${PIPESTATUS[0]}
#| date: invalid argument 'x' for '--iso-8601'
#| 1

#### date -u -d 'monday 2024-03-05' +%F; date -u -d '2024-03-05 next monday' +%F; date -u -d '2024-03-05 friday' +%a
date -u -d 'monday 2024-03-05' +%F; date -u -d '2024-03-05 next monday' +%F; date -u -d '2024-03-05 friday' +%a
#| 2024-03-05
#| 2024-03-05
#| Tue

#### date -u -d '1970-01-01 00:00:00 UTC + 100 seconds' +%s; date -u -d '' +%T | wc -c
date -u -d '1970-01-01 00:00:00 UTC + 100 seconds' +%s; date -u -d '' +%T | wc -c
#| 100
#| 9

#### date -u -d '2024-13-01' 2>&1 | sed "s/[‘’]/'/g"; date -u -d '2023-02-29' 2>&1 | sed "s/[‘’]/'/g"; date -u -d '25:00' 2>&1 | sed "s/[‘’]/'/g"
date -u -d '2024-13-01' 2>&1 | sed "s/[‘’]/'/g"; date -u -d '2023-02-29' 2>&1 | sed "s/[‘’]/'/g"; date -u -d '25:00' 2>&1 | sed "s/[‘’]/'/g"
#| date: invalid date '2024-13-01'
#| date: invalid date '2023-02-29'
#| date: invalid date '25:00'

#### date -u -d '2024-W10-2' 2>&1 | sed "s/[‘’]/'/g"; date -u -d '2024-03-05 z' +%T
date -u -d '2024-W10-2' 2>&1 | sed "s/[‘’]/'/g"; date -u -d '2024-03-05 z' +%T
#| date: invalid date '2024-W10-2'
#| 00:00:00

#### date -u --date=@86400 +%F; date --utc --date @0 +%Z; date --universal -d @0 +%s
date -u --date=@86400 +%F; date --utc --date @0 +%Z; date --universal -d @0 +%s
#| 1970-01-02
#| UTC
#| 0
