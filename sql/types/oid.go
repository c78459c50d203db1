package types

// OID identifies a catalog object; the values of built-in objects are PostgreSQL 15's.
type OID uint32

// OIDs of built-in types that code names directly; every other type is found in sql/catalog/pgdata.
const (
	InvalidOID               OID = 0
	BoolOID                  OID = 16
	ByteaOID                 OID = 17
	QCharOID                 OID = 18 // "char"
	NameOID                  OID = 19
	Int8OID                  OID = 20
	Int2OID                  OID = 21
	Int2VectorOID            OID = 22
	Int4OID                  OID = 23
	RegprocOID               OID = 24
	TextOID                  OID = 25
	OIDOID                   OID = 26
	TIDOID                   OID = 27
	XIDOID                   OID = 28
	CIDOID                   OID = 29
	OIDVectorOID             OID = 30
	JSONOID                  OID = 114
	XMLOID                   OID = 142
	PgNodeTreeOID            OID = 194
	PointOID                 OID = 600
	Float4OID                OID = 700
	Float8OID                OID = 701
	UnknownOID               OID = 705
	MoneyOID                 OID = 790
	InetOID                  OID = 869
	ACLItemOID               OID = 1033
	BPCharOID                OID = 1042
	VarcharOID               OID = 1043
	DateOID                  OID = 1082
	TimeOID                  OID = 1083
	TimestampOID             OID = 1114
	TimestampTZOID           OID = 1184
	IntervalOID              OID = 1186
	TimeTZOID                OID = 1266
	BitOID                   OID = 1560
	VarbitOID                OID = 1562
	NumericOID               OID = 1700
	RefcursorOID             OID = 1790
	RegprocedureOID          OID = 2202
	RegoperOID               OID = 2203
	RegoperatorOID           OID = 2204
	RegclassOID              OID = 2205
	RegtypeOID               OID = 2206
	RecordOID                OID = 2249
	CStringOID               OID = 2275
	AnyOID                   OID = 2276
	AnyArrayOID              OID = 2277
	VoidOID                  OID = 2278
	TriggerOID               OID = 2279
	InternalOID              OID = 2281
	AnyElementOID            OID = 2283
	RecordArrayOID           OID = 2287
	AnyNonArrayOID           OID = 2776
	UUIDOID                  OID = 2950
	AnyEnumOID               OID = 3500
	JSONBOID                 OID = 3802
	RegnamespaceOID          OID = 4089
	RegroleOID               OID = 4096
	RegcollationOID          OID = 4191
	AnyCompatibleOID         OID = 5077
	AnyCompatibleArrayOID    OID = 5078
	AnyCompatibleNonArrayOID OID = 5079
	XID8OID                  OID = 5069
	JSONPathOID              OID = 4072

	Int2ArrayOID OID = 1005
	Int4ArrayOID OID = 1007
	TextArrayOID OID = 1009
	Int8ArrayOID OID = 1016
	OIDArrayOID  OID = 1028

	DefaultCollationOID OID = 100
	CCollationOID       OID = 950
)

// Typmod is PostgreSQL's type modifier; -1 means none.
type Typmod int32

// Kind is the physical class in which values of a type travel through vectors and datums.
type Kind uint8

const (
	// KindBytes holds variable bytes in the type's value encoding (see doc.go: text, numeric, interval, uuid, arrays, jsonb ...).
	KindBytes Kind = iota
	// KindInt holds int2, int4, int8, oid and its aliases (zero-extended), date (days since 2000-01-01), time, timestamp and timestamptz (microseconds).
	KindInt
	// KindFloat holds float4 (rounded to float32 after every operation) and float8.
	KindFloat
	// KindBool holds boolean.
	KindBool
)

// KindOf returns the physical class of a type; types it does not know are KindBytes.
func KindOf(t OID) Kind {
	switch t {
	case BoolOID:
		return KindBool
	case Float4OID, Float8OID:
		return KindFloat
	case Int2OID, Int4OID, Int8OID, OIDOID, RegprocOID, RegprocedureOID, RegoperOID, RegoperatorOID, RegclassOID,
		RegtypeOID, RegnamespaceOID, RegroleOID, RegcollationOID, 3734 /*regconfig*/, 3769, /*regdictionary*/
		XIDOID, CIDOID, XID8OID, DateOID, TimeOID, TimestampOID, TimestampTZOID, MoneyOID:
		return KindInt
	}
	return KindBytes
}
