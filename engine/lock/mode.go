package lock

// Mode is a lock mode: one of the four of rows, the eight of tables or the two of advisory locks. Within rows and
// within tables a greater mode is a stronger one.
type Mode uint8

// The modes. None means no lock.
const (
	None Mode = iota
	// Row modes, as in SELECT ... FOR KEY SHARE, SHARE, NO KEY UPDATE, UPDATE.
	KeyShare
	Share
	NoKeyUpdate
	Update
	// Table modes, as in LOCK TABLE.
	AccessShare
	RowShare
	RowExclusive
	ShareUpdateExclusive
	TableShare
	ShareRowExclusive
	Exclusive
	AccessExclusive
	// Advisory modes.
	AdvisoryShare
	AdvisoryExclusive

	modeCount
)

// Policy says what a request does that cannot be granted at once.
type Policy uint8

const (
	// Wait waits.
	Wait Policy = iota
	// NoWait fails with 55P03.
	NoWait
	// SkipLocked gives up without an error.
	SkipLocked
)

// modeNames are PostgreSQL's names in pg_locks; a row lock shows as the lock on the transaction that holds it.
var modeNames = [modeCount]string{
	"None", "ShareLock", "ShareLock", "ExclusiveLock", "ExclusiveLock",
	"AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock", "ShareLock",
	"ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock",
	"ShareLock", "ExclusiveLock",
}

// String returns PostgreSQL's name of the mode.
func (m Mode) String() string { return modeNames[m] }

// mask is a set of modes.
type mask uint16

func bit(m Mode) mask { return 1 << m }

func set(ms ...Mode) (s mask) {
	for _, m := range ms {
		s |= bit(m)
	}
	return s
}

// conflicts holds, by mode, the modes that another owner must not hold.
var conflicts = [modeCount]mask{
	KeyShare:    set(Update),
	Share:       set(NoKeyUpdate, Update),
	NoKeyUpdate: set(Share, NoKeyUpdate, Update),
	Update:      set(KeyShare, Share, NoKeyUpdate, Update),

	AccessShare:          set(AccessExclusive),
	RowShare:             set(Exclusive, AccessExclusive),
	RowExclusive:         set(TableShare, ShareRowExclusive, Exclusive, AccessExclusive),
	ShareUpdateExclusive: set(ShareUpdateExclusive, TableShare, ShareRowExclusive, Exclusive, AccessExclusive),
	TableShare:           set(RowExclusive, ShareUpdateExclusive, ShareRowExclusive, Exclusive, AccessExclusive),
	ShareRowExclusive:    set(RowExclusive, ShareUpdateExclusive, TableShare, ShareRowExclusive, Exclusive, AccessExclusive),
	Exclusive:            set(RowShare, RowExclusive, ShareUpdateExclusive, TableShare, ShareRowExclusive, Exclusive, AccessExclusive),
	AccessExclusive:      set(AccessShare, RowShare, RowExclusive, ShareUpdateExclusive, TableShare, ShareRowExclusive, Exclusive, AccessExclusive),

	AdvisoryShare:     set(AdvisoryExclusive),
	AdvisoryExclusive: set(AdvisoryShare, AdvisoryExclusive),
}

// weakTable are the table modes that do not conflict with each other and live in slots.
var weakTable = set(AccessShare, RowShare, RowExclusive)

// strongTable are the table modes that conflict with a weak one.
var strongTable = set(TableShare, ShareRowExclusive, Exclusive, AccessExclusive)

// Conflict tells whether two owners cannot hold a and b at once.
func Conflict(a, b Mode) bool { return conflicts[a]&bit(b) != 0 }
