# SQLAlchemy: create a schema, work with it through Core and ORM, reflect it, and compare what is reflected.
import datetime
import decimal
import enum
import os
import uuid

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg
from sqlalchemy.orm import declarative_base, relationship, Session

engine = sa.create_engine(os.environ["DATABASE_URL"].replace("postgres://", "postgresql+psycopg2://"))
Base = declarative_base()


class Color(enum.Enum):
    red = 1
    green = 2


class Author(Base):
    __tablename__ = "author"
    __table_args__ = (sa.CheckConstraint("length(name) > 0", name="has_name"), {"comment": "who writes"})
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(50), nullable=False, unique=True, comment="full name")
    born = sa.Column(sa.Date)
    created = sa.Column(sa.DateTime(timezone=True), server_default=sa.func.now())
    books = relationship("Book", back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "book"
    __table_args__ = (
        sa.UniqueConstraint("author_id", "title", name="one_title"),
        sa.Index("by_lower_title", sa.text("lower(title)")),
        sa.Index("cheap", "price", postgresql_where=sa.text("price < 10"), postgresql_include=["title"]),
    )
    id = sa.Column(sa.BigInteger, sa.Identity(start=100, increment=5), primary_key=True)
    author_id = sa.Column(sa.ForeignKey("author.id", ondelete="CASCADE", deferrable=True, initially="DEFERRED"), index=True)
    title = sa.Column(sa.Text, nullable=False)
    price = sa.Column(sa.Numeric(8, 2), server_default="9.99")
    double = sa.Column(sa.Numeric, sa.Computed("price * 2", persisted=True))
    color = sa.Column(sa.Enum(Color, name="color"))
    tags = sa.Column(pg.ARRAY(sa.String))
    data = sa.Column(pg.JSONB)
    key = sa.Column(pg.UUID(as_uuid=True))
    span = sa.Column(sa.Interval)
    blob = sa.Column(sa.LargeBinary)
    ok = sa.Column(sa.Boolean, nullable=False, server_default=sa.true())
    weight = sa.Column(sa.Float)
    code = sa.Column(sa.CHAR(3))
    at = sa.Column(pg.TIMESTAMP(precision=3))
    bits = sa.Column(pg.BIT(4))
    author = relationship("Author", back_populates="books")


print(engine.dialect.name)
with engine.connect() as c:
    print(c.dialect.server_version_info, c.dialect.default_schema_name, c.get_isolation_level())
    c.execute(sa.text("CREATE SCHEMA other"))
    c.execute(sa.text("COMMIT"))
Base.metadata.create_all(engine)
Base.metadata.create_all(engine)  # finds everything there
other = sa.Table("log", Base.metadata, sa.Column("a", sa.SmallInteger, primary_key=True), sa.Column("b", sa.String, primary_key=True),
                 sa.Column("book_id", sa.BigInteger, sa.ForeignKey("book.id", onupdate="SET NULL")), schema="other")
other.create(engine)

with Session(engine) as s:
    a = Author(name="Ann", born=datetime.date(1970, 1, 2))
    a.books = [Book(title="One", color=Color.green, tags=["x", "y"], data={"k": [1, None]}, key=uuid.UUID(int=5), span=datetime.timedelta(hours=5),
                    blob=b"\0x", weight=1.25, code="ab", at=datetime.datetime(2020, 1, 1, 1, 1, 1, 123000)), Book(title="Two", price=decimal.Decimal("20"))]
    s.add_all([a, Author(name="Bob")])
    s.commit()
    for b in s.query(Book).order_by(Book.title):
        print(b.id, b.title, b.price, b.double, b.color, b.tags, b.data, b.key, b.span, b.blob, b.ok, b.weight, b.code, b.at, b.author.name)
    print(s.query(Book).filter(Book.data["k"][0].as_integer() == 1).count(), s.query(Book).filter(Book.tags.contains(["x"])).count(),
          s.query(Book).filter(Book.tags.any("y")).count())
    print(s.query(Author.name, sa.func.count(Book.id), sa.func.sum(Book.price)).outerjoin(Book).group_by(Author.name).order_by(Author.name).all())
    row = sa.func.row_number().over(partition_by=Book.author_id, order_by=Book.price.desc()).label("n")
    print(s.query(Book.title, row).order_by(Book.title).all())
    cte = s.query(Book.author_id, sa.func.max(Book.price).label("top")).group_by(Book.author_id).cte("top")
    print(s.query(Author.name, cte.c.top).join(cte, cte.c.author_id == Author.id).all())
    print(s.query(Book).filter(Book.title.in_(["One", "None"])).with_for_update(skip_locked=True).one().title)
    s.execute(pg.insert(Author).values([dict(name="Bob"), dict(name="Cid")]).on_conflict_do_nothing(index_elements=["name"]))
    up = pg.insert(Author).values(name="Bob", born=datetime.date(2000, 1, 1))
    print(s.execute(up.on_conflict_do_update(index_elements=["name"], set_=dict(born=up.excluded.born)).returning(Author.name, Author.born)).all())
    s.commit()
    try:
        s.add(Author(name="Ann"))
        s.commit()
    except sa.exc.IntegrityError as e:
        print(e.orig.pgcode, e.orig.diag.constraint_name)
        s.rollback()
    with s.begin_nested():
        s.add(Author(name="Dee"))
    s.delete(s.query(Author).filter_by(name="Ann").one())
    s.commit()
    print(s.query(Book).count(), s.query(sa.func.count()).select_from(Author).scalar())

print("reflection")
insp = sa.inspect(engine)
print(insp.get_schema_names(), insp.default_schema_name)
for schema in (None, "other"):
    for table in sorted(insp.get_table_names(schema=schema)):
        print(table, insp.get_table_comment(table, schema=schema))
        for c in insp.get_columns(table, schema=schema):
            print("  ", {k: (repr(v) if k == "type" else v) for k, v in c.items()})
        print("  ", insp.get_pk_constraint(table, schema=schema))
        for kind in ("get_foreign_keys", "get_indexes", "get_unique_constraints", "get_check_constraints"):
            for x in sorted(getattr(insp, kind)(table, schema=schema), key=lambda x: x["name"]):
                print("  ", kind, {k: v for k, v in sorted(x.items())})
print(insp.get_enums(), insp.get_sequence_names(), insp.get_view_names(), insp.has_table("author"), insp.has_table("nope"))
with engine.begin() as c:
    c.execute(sa.text("CREATE VIEW cheap_books AS SELECT title FROM book WHERE price < 10"))
print(sa.inspect(engine).get_view_names(), sa.inspect(engine).get_view_definition("cheap_books"))
meta = sa.MetaData()
meta.reflect(engine, views=True)
print(sorted(meta.tables), [str(k.column) for k in meta.tables["book"].foreign_keys])
with engine.connect().execution_options(isolation_level="SERIALIZABLE") as c:
    print(c.get_isolation_level(), c.execute(sa.text("SELECT 1")).scalar())
with engine.connect().execution_options(stream_results=True) as c:
    print(sum(r[0] for r in c.execute(sa.text("SELECT g FROM generate_series(1, 5000) g"))))
with engine.begin() as c:
    c.execute(sa.text("DROP VIEW cheap_books"))
Base.metadata.drop_all(engine)
print(sa.inspect(engine).get_table_names(), sa.inspect(engine).get_enums())
