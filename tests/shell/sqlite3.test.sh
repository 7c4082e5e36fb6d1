#### sqlite3 a.db 'create table t(a,b); insert into t values(1,2),(3,4); select * from t'
sqlite3 a.db 'create table t(a,b); insert into t values(1,2),(3,4); select * from t'
#| 1|2
#| 3|4

#### sqlite3 :memory: 'select 1+1'
sqlite3 :memory: 'select 1+1'
#| 2

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -list a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -list a.db 'select * from t'
#| 1|x
#| 2|
#| 3.5|hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -csv a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -csv a.db 'select * from t'
#| 1,x
#| 2,
#| 3.5,"hello, ""w"""

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -json a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -json a.db 'select * from t'
#| [{"a":1,"b":"x"},
#| {"a":2,"b":null},
#| {"a":3.5,"b":"hello, \"w\""}]

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -column a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -column a.db 'select * from t'
#| 1    x         
#| 2              
#| 3.5  hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -line a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -line a.db 'select * from t'
#|     a = 1
#|     b = x
#|
#|     a = 2
#|     b = 
#|
#|     a = 3.5
#|     b = hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -table a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -table a.db 'select * from t'
#| +-----+------------+
#| |  a  |     b      |
#| +-----+------------+
#| | 1   | x          |
#| | 2   |            |
#| | 3.5 | hello, "w" |
#| +-----+------------+

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -box a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -box a.db 'select * from t'
#| ┌─────┬────────────┐
#| │  a  │     b      │
#| ├─────┼────────────┤
#| │ 1   │ x          │
#| │ 2   │            │
#| │ 3.5 │ hello, "w" │
#| └─────┴────────────┘

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -markdown a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -markdown a.db 'select * from t'
#| |  a  |     b      |
#| |-----|------------|
#| | 1   | x          |
#| | 2   |            |
#| | 3.5 | hello, "w" |

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -html a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -html a.db 'select * from t'
#| <TR><TD>1</TD>
#| <TD>x</TD>
#| </TR>
#| <TR><TD>2</TD>
#| <TD></TD>
#| </TR>
#| <TR><TD>3.5</TD>
#| <TD>hello, &quot;w&quot;</TD>
#| </TR>

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -quote a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -quote a.db 'select * from t'
#| 1,'x'
#| 2,NULL
#| 3.5,'hello, "w"'

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -tabs a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -tabs a.db 'select * from t'
#| 1	x
#| 2	
#| 3.5	hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -list -header a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -list -header a.db 'select * from t'
#| a|b
#| 1|x
#| 2|
#| 3.5|hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -csv -header a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -csv -header a.db 'select * from t'
#| a,b
#| 1,x
#| 2,
#| 3.5,"hello, ""w"""

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -column -header a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -column -header a.db 'select * from t'
#| a    b         
#| ---  ----------
#| 1    x         
#| 2              
#| 3.5  hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -line -header a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -line -header a.db 'select * from t'
#|     a = 1
#|     b = x
#|
#|     a = 2
#|     b = 
#|
#|     a = 3.5
#|     b = hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -quote -header a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -quote -header a.db 'select * from t'
#| 'a','b'
#| 1,'x'
#| 2,NULL
#| 3.5,'hello, "w"'

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -html -header a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -html -header a.db 'select * from t'
#| <TR><TH>a</TH>
#| <TH>b</TH>
#| </TR>
#| <TR><TD>1</TD>
#| <TD>x</TD>
#| </TR>
#| <TR><TD>2</TD>
#| <TD></TD>
#| </TR>
#| <TR><TD>3.5</TD>
#| <TD>hello, &quot;w&quot;</TD>
#| </TR>

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -noheader -column a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -noheader -column a.db 'select * from t'
#| 1    x         
#| 2              
#| 3.5  hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -separator ';' a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -separator ';' a.db 'select * from t'
#| 1;x
#| 2;
#| 3.5;hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -nullvalue NULL a.db 'select * from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -nullvalue NULL a.db 'select * from t'
#| 1|x
#| 2|NULL
#| 3.5|hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db .tables
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db .tables
#| t

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db .schema
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db .schema
#| CREATE TABLE t(a,b text);

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db '.schema t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db '.schema t'
#| CREATE TABLE t(a,b text);

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db .dump
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db .dump
#| PRAGMA foreign_keys=OFF;
#| BEGIN TRANSACTION;
#| CREATE TABLE t(a,b text);
#| INSERT INTO t VALUES(1,'x');
#| INSERT INTO t VALUES(2,NULL);
#| INSERT INTO t VALUES(3.5,'hello, "w"');
#| COMMIT;

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db '.dump t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db '.dump t'
#| PRAGMA foreign_keys=OFF;
#| BEGIN TRANSACTION;
#| CREATE TABLE t(a,b text);
#| INSERT INTO t VALUES(1,'x');
#| INSERT INTO t VALUES(2,NULL);
#| INSERT INTO t VALUES(3.5,'hello, "w"');
#| COMMIT;

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select count(*), sum(a), avg(a), max(b) from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select count(*), sum(a), avg(a), max(b) from t'
#| 3|6.5|2.16666666666667|x

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select * from t where a>1 order by a desc limit 1'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select * from t where a>1 order by a desc limit 1'
#| 3.5|hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'delete from t where a=1; select changes(); select count(*) from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'delete from t where a=1; select changes(); select count(*) from t'
#| 1
#| 2

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'update t set b=upper(b); select b from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'update t set b=upper(b); select b from t'
#| X
#|
#| HELLO, "W"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; echo 'select a from t;' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; echo 'select a from t;' | sqlite3 a.db
#| 1
#| 2
#| 3.5

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.headers on\n.mode column\nselect * from t;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.headers on\n.mode column\nselect * from t;\n' | sqlite3 a.db
#| a    b         
#| ---  ----------
#| 1    x         
#| 2              
#| 3.5  hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode csv\n.headers on\nselect * from t;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode csv\n.headers on\nselect * from t;\n' | sqlite3 a.db
#| a,b
#| 1,x
#| 2,
#| 3.5,"hello, ""w"""

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode json\nselect * from t;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode json\nselect * from t;\n' | sqlite3 a.db
#| [{"a":1,"b":"x"},
#| {"a":2,"b":null},
#| {"a":3.5,"b":"hello, \"w\""}]

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.separator "\\t"\nselect * from t;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.separator "\\t"\nselect * from t;\n' | sqlite3 a.db
#| 1	x
#| 2	
#| 3.5	hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.output o.txt\nselect a from t;\n.output\nselect 9;\n' | sqlite3 a.db; cat o.txt
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.output o.txt\nselect a from t;\n.output\nselect 9;\n' | sqlite3 a.db; cat o.txt
#| 9
#| 1
#| 2
#| 3.5

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.once o.txt\nselect a from t;\nselect 9;\n' | sqlite3 a.db; cat o.txt
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.once o.txt\nselect a from t;\nselect 9;\n' | sqlite3 a.db; cat o.txt
#| 9
#| 1
#| 2
#| 3.5

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.print hello world\n.quit\nselect 1;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.print hello world\n.quit\nselect 1;\n' | sqlite3 a.db
#| hello world

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.exit 3\n' | sqlite3 a.db; echo $?
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.exit 3\n' | sqlite3 a.db; echo $?
#| 3

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select 1;\n.mode insert\nselect * from t;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select 1;\n.mode insert\nselect * from t;\n' | sqlite3 a.db
#| 1
#| INSERT INTO "table" VALUES(1,'x');
#| INSERT INTO "table" VALUES(2,NULL);
#| INSERT INTO "table" VALUES(3.5,'hello, "w"');

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode insert foo\nselect a from t;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode insert foo\nselect a from t;\n' | sqlite3 a.db
#| INSERT INTO foo VALUES(1);
#| INSERT INTO foo VALUES(2);
#| INSERT INTO foo VALUES(3.5);

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode line\nselect a as alpha, b from t;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode line\nselect a as alpha, b from t;\n' | sqlite3 a.db
#| alpha = 1
#|     b = x
#|
#| alpha = 2
#|     b = 
#|
#| alpha = 3.5
#|     b = hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode tcl\nselect * from t;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode tcl\nselect * from t;\n' | sqlite3 a.db
#| "1" "x"
#| "2" ""
#| "3.5" "hello, \"w\""

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.width 5 3\n.mode column\nselect a from t;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.width 5 3\n.mode column\nselect a from t;\n' | sqlite3 a.db
#| a    
#| -----
#| 1    
#| 2    
#| 3.5  

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.echo on\nselect 1;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.echo on\nselect 1;\n' | sqlite3 a.db
#| select 1;
#| 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.changes on\ninsert into t values(7,8);\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.changes on\ninsert into t values(7,8);\n' | sqlite3 a.db
#| changes: 1   total_changes: 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.nullvalue -\nselect b from t;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.nullvalue -\nselect b from t;\n' | sqlite3 a.db
#| x
#| -
#| hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select a\nfrom t\nwhere a=2;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select a\nfrom t\nwhere a=2;\n' | sqlite3 a.db
#| 2

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select 1;select 2; -- c\n/* x */ select 3' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select 1;select 2; -- c\n/* x */ select 3' | sqlite3 a.db
#| 1
#| 2
#| 3

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select * from nope' 2>/dev/null; echo $?
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select * from nope' 2>/dev/null; echo $?
#| 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select * from nope'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select * from nope'
#? 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'selct 1'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'selct 1'
#? 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'insert into t values(1,2,3)'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'insert into t values(1,2,3)'
#? 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -readonly a.db 'insert into t values(9,9)' 2>/dev/null; echo $?
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -readonly a.db 'insert into t values(9,9)' 2>/dev/null; echo $?
#| 8

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -bail a.db < /dev/null; echo $?
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -bail a.db < /dev/null; echo $?
#| 0

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select 1;\nfoo bar;\nselect 3;\n' | sqlite3 a.db 2>/dev/null; echo $?
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select 1;\nfoo bar;\nselect 3;\n' | sqlite3 a.db 2>/dev/null; echo $?
#| 1
#| 3
#| 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select 1;\nfoo bar;\nselect 3;\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select 1;\nfoo bar;\nselect 3;\n' | sqlite3 a.db
#| 1
#| 3
#? 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select 1;\nfoo;\nselect 3;\n' | sqlite3 -bail a.db 2>/dev/null; echo $?
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf 'select 1;\nfoo;\nselect 3;\n' | sqlite3 -bail a.db 2>/dev/null; echo $?
#| 1
#| 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.foo\n' | sqlite3 a.db
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.foo\n' | sqlite3 a.db
#? 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode xx\nselect 1;\n' | sqlite3 a.db 2>/dev/null; echo $?
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; printf '.mode xx\nselect 1;\n' | sqlite3 a.db 2>/dev/null; echo $?
#| 1
#| 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -cmd '.headers on' a.db 'select a from t limit 1'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 -cmd '.headers on' a.db 'select a from t limit 1'
#| a
#| 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; echo 'select 5;' > q.sql; sqlite3 a.db '.read q.sql'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; echo 'select 5;' > q.sql; sqlite3 a.db '.read q.sql'
#| 5

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; echo 'select 5;' > q.sql; sqlite3 a.db < q.sql
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; echo 'select 5;' > q.sql; sqlite3 a.db < q.sql
#| 5

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db '.read nofile'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db '.read nofile'
#? 1

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select 1' 'select 2'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select 1' 'select 2'
#| 1
#| 2

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db '.mode json' 'select a from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db '.mode json' 'select a from t'
#| [{"a":1},
#| {"a":2},
#| {"a":3.5}]

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'vacuum; pragma integrity_check'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'vacuum; pragma integrity_check'
#| ok

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'begin; delete from t; rollback; select count(*) from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'begin; delete from t; rollback; select count(*) from t'
#| 3

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'with recursive c(n) as (select 1 union all select n+1 from c where n<5) select group_concat(n) from c'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'with recursive c(n) as (select 1 union all select n+1 from c where n<5) select group_concat(n) from c'
#| 1,2,3,4,5

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db "select date('2024-02-28','+2 days'), strftime('%Y', '2024-05-06')"
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db "select date('2024-02-28','+2 days'), strftime('%Y', '2024-05-06')"
#| 2024-03-01|2024

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db "select json_extract('{\"a\":[1,2]}', '\$.a[1]')"
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db "select json_extract('{\"a\":[1,2]}', '\$.a[1]')"
#| 2

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select a,b from t union all select 1,2 order by 1'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select a,b from t union all select 1,2 order by 1'
#| 1|x
#| 1|2
#| 2|
#| 3.5|hello, "w"

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select typeof(a), length(b) from t'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select typeof(a), length(b) from t'
#| integer|1
#| integer|
#| real|10

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db "select printf('%05.2f|%s|%d', 3.14159, 'x', 42)"
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db "select printf('%05.2f|%s|%d', 3.14159, 'x', 42)"
#| 03.14|x|42

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; ls
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; ls
#| a.db

#### sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select 10/4, 10/4.0, 7%3, 1e20, 0.1+0.2, -0.0'
sqlite3 a.db "create table t(a,b text); insert into t values(1,'x'),(2,NULL),(3.5,'hello, \"w\"');"; sqlite3 a.db 'select 10/4, 10/4.0, 7%3, 1e20, 0.1+0.2, -0.0'
#| 2|2.5|1|1.0e+20|0.3|0.0

#### printf 'a,b\n1,"x y"\n2,z\n' > in.csv; printf '.mode csv\n.import in.csv t\n.mode list\nselect * from t;\n.schema\n' | sqlite3 a.db
printf 'a,b\n1,"x y"\n2,z\n' > in.csv; printf '.mode csv\n.import in.csv t\n.mode list\nselect * from t;\n.schema\n' | sqlite3 a.db
#| 1|x y
#| 2|z
#| CREATE TABLE IF NOT EXISTS "t"(
#| "a" TEXT, "b" TEXT);

#### printf 'a,b\n1,x\n' > in.csv; sqlite3 a.db '.import --csv in.csv t' 'select * from t'
printf 'a,b\n1,x\n' > in.csv; sqlite3 a.db '.import --csv in.csv t' 'select * from t'
#| 1|x

#### printf '1|x\n2|y\n' > in; sqlite3 a.db 'create table t(a,b)' '.import in t' 'select * from t'
printf '1|x\n2|y\n' > in; sqlite3 a.db 'create table t(a,b)' '.import in t' 'select * from t'
#| 1|x
#| 2|y

#### printf 'h\n1\n2\n' > in.csv; sqlite3 a.db 'create table t(a)' '.import --csv --skip 1 in.csv t' 'select sum(a) from t'
printf 'h\n1\n2\n' > in.csv; sqlite3 a.db 'create table t(a)' '.import --csv --skip 1 in.csv t' 'select sum(a) from t'
#| 3

#### sqlite3 a.db '.import nofile t' 2>/dev/null; echo $?
sqlite3 a.db '.import nofile t' 2>/dev/null; echo $?
#| 1

#### sqlite3 nodir/x.db 'select 1'
sqlite3 nodir/x.db 'select 1'
#? 1

#### sqlite3 -zz
sqlite3 -zz
#? 1

#### sqlite3 -zz 2>/dev/null; echo $?
sqlite3 -zz 2>/dev/null; echo $?
#| 1

#### sqlite3 :memory: 'create table u(a unique); insert into u values(1); insert into u values(1); select 2;'
sqlite3 :memory: 'create table u(a unique); insert into u values(1); insert into u values(1); select 2;'
#? 19

#### sqlite3 a.db "create table k(id integer primary key autoincrement, v); insert into k(v) values(1.5),(x'01ff'),(NULL); create index ki on k(v); create view kv as select * from k;"; sqlite3 a.db .dump; sqlite3 a.db .schema; sqlite3 a.db .tables; sqlite3 a.db .indexes
sqlite3 a.db "create table k(id integer primary key autoincrement, v); insert into k(v) values(1.5),(x'01ff'),(NULL); create index ki on k(v); create view kv as select * from k;"; sqlite3 a.db .dump; sqlite3 a.db .schema; sqlite3 a.db .tables; sqlite3 a.db .indexes
#| PRAGMA foreign_keys=OFF;
#| BEGIN TRANSACTION;
#| CREATE TABLE k(id integer primary key autoincrement, v);
#| INSERT INTO k VALUES(1,1.5);
#| INSERT INTO k VALUES(2,X'01ff');
#| INSERT INTO k VALUES(3,NULL);
#| DELETE FROM sqlite_sequence;
#| INSERT INTO sqlite_sequence VALUES('k',3);
#| CREATE INDEX ki on k(v);
#| CREATE VIEW kv as select * from k;
#| COMMIT;
#| CREATE TABLE k(id integer primary key autoincrement, v);
#| CREATE TABLE sqlite_sequence(name,seq);
#| CREATE INDEX ki on k(v);
#| CREATE VIEW kv as select * from k
#| /* kv(id,v) */;
#| k   kv
#| ki

#### sqlite3 a.db 'create table "odd name"(x); insert into "odd name" values(1)'; sqlite3 a.db .dump
sqlite3 a.db 'create table "odd name"(x); insert into "odd name" values(1)'; sqlite3 a.db .dump
#| PRAGMA foreign_keys=OFF;
#| BEGIN TRANSACTION;
#| CREATE TABLE IF NOT EXISTS "odd name"(x);
#| INSERT INTO "odd name" VALUES(1);
#| COMMIT;

#### sqlite3 a.db "create table t(x); insert into t values('line1
sqlite3 a.db "create table t(x); insert into t values('line1
line2')"; sqlite3 a.db .dump; sqlite3 -column -header a.db 'select * from t'; sqlite3 -csv a.db 'select * from t'
#| PRAGMA foreign_keys=OFF;
#| BEGIN TRANSACTION;
#| CREATE TABLE t(x);
#| INSERT INTO t VALUES(replace('line1\nline2','\n',char(10)));
#| COMMIT;
#| x    
#| -----
#| line1
#| line2
#| "line1
#| line2"

#### sqlite3 a.db 'create table t(x)'; for i in 1 2 3; do sqlite3 a.db "insert into t values($i)"; done; sqlite3 a.db 'select sum(x) from t'
sqlite3 a.db 'create table t(x)'; for i in 1 2 3; do sqlite3 a.db "insert into t values($i)"; done; sqlite3 a.db 'select sum(x) from t'
#| 6

#### sqlite3 a.db 'create table t(x)'; seq 1 50 | sed 's/.*/insert into t values(&);/' | sqlite3 a.db; sqlite3 a.db 'select count(*), max(x) from t'
sqlite3 a.db 'create table t(x)'; seq 1 50 | sed 's/.*/insert into t values(&);/' | sqlite3 a.db; sqlite3 a.db 'select count(*), max(x) from t'
#| 50|50

#### sqlite3 a.db 'create table t(x); insert into t values(1)'; sqlite3 a.db .dump | sqlite3 b.db; sqlite3 b.db 'select * from t'
sqlite3 a.db 'create table t(x); insert into t values(1)'; sqlite3 a.db .dump | sqlite3 b.db; sqlite3 b.db 'select * from t'
#| 1

#### sqlite3 <<< 'select 42;'
sqlite3 <<< 'select 42;'
#| 42
