\conninfo
\encoding
\dn
\dn+
\dnS+
\d
\d+
\dS
\dtS
\dvS
\diS
\dt
\dt+ *.*
\dt app.*
\dt+ app.*
\dtvmsi app.*
\dtvmsi+ app.*
\di app.*
\di+ app.*
\ds app.*
\ds+ app.*
\dv app.*
\dv+ app.*
\dm app.*
\dm+ app.*
\dE
\dE+ *.*
\d app.*
\d+ app.*
\d app.parent
\d+ app.parent
\d app.child
\d+ app.child
\d app.gen
\d+ app.gen
\d inhp
\d ul
\d+ ul
\d app.v
\d+ app.v
\d app.mv
\d+ app.mv
\d+ app.mv2
\d app.sq
\d+ app.sq
\d app.child_id_seq
\d app.gen_id_seq
\d app.child_expr
\d+ app.child_expr
\d app.child_incl
\d app.pair
\d+ app.pair
\d cyc1
\d cyc2
\d "Odd ""Schema"."Odd Table"
\d nothing
\d pg_class
\d+ pg_class
\d pg_catalog.pg_tables
\d information_schema.columns
\da
\da app.*
\daS sum
\daS
\dA
\dA+
\dAc
\dAc+ btree int*
\dAf+ hash
\dAo btree integer_ops
\dAo+ btree text_ops
\dAp btree integer_ops
\dAp+ btree text_ops
\db
\db+
\dc
\dcS
\dcS+ utf8*
\dconfig search_path
\dconfig+ work_mem
\dC
\dC int4
\dC+ numeric
\dd
\dd app.*
\ddS
\dD
\dD app.*
\dD+
\dDS
\dDS+
\ddp
\des
\des+
\det
\det+
\deu
\deu+
\dew
\dew+
\df
\df app.*
\df+ app.*
\dfa
\dfn app.*
\dfp
\dft
\dfw
\dfS upper
\dfS+ upper
\dfS pg_get_*
\df app.add int int
\dF
\dF+
\dFd
\dFp
\dFt
\dF+ english
\dFd+ simple
\dFp+
\dFt+
\dg
\dgS
\dgS+
\dl
\dl+
\dL
\dLS
\dLS+
\do
\doS +
\doS+ =
\doS || text text
\dO
\dOS
\dOS+ C
\dp
\dp app.*
\dpS pg_class
\z app.parent
\dP
\dP+
\dPi
\dPt
\dPn
\drds
\drds dumper
\dRp
\dRp+
\dRs
\dRs+
\dT
\dT app.*
\dT+ app.*
\dTS int*
\dTS+ bool
\dTS
\du
\du+
\dus
\duS dumper
\dx
\dx+
\dX
\dX+
\dy
\dy+
\l source
\l+ source
\sf app.add
\sf+ app.add
\sf app.tab
\sf upper(text)
\sv app.v
\sv+ app.v
\lo_list
