package store

import (
	"context"
	"time"
)

// Record is one record of the agent worker: a message, a call's record, an entry of a queue, a circuit. Its body is the
// domain's; the members beside it are what records are looked up by.
type Record struct {
	Tenant, Kind, ID string
	// Seq is the record's place among the tenant's of its kind, in the order in which they were inserted, from 1.
	Seq      int64
	State    string
	Tool     string
	Trace    string
	Category string
	At       time.Time
	Body     []byte // JSON; not to be modified
}

// RecordQuery narrows a look at a tenant's records of one kind. Empty members don't.
type RecordQuery struct {
	Kind     string
	States   []string
	Tool     string
	Trace    string
	Category string
	Before   time.Time // At is before it
	After    int64     // Seq is above it
	Limit    int       // 0 for no limit; a count has none
}

// Tally is how many records fit a query, and the earliest At of them.
type Tally struct {
	Count  int
	Oldest time.Time // zero where there is none
}

// RecordReader reads records, in a transaction or outside of any.
type RecordReader interface {
	// Record reads a record; false when the tenant has none of that kind and ID.
	Record(tenant, kind, id string) (Record, bool, error)
	// Records reads what fits, oldest first.
	Records(tenant string, q RecordQuery) ([]Record, error)
	CountRecords(tenant string, q RecordQuery) (Tally, error)
}

// RecordTx is what a transaction does with records. The tenant's transactions follow one another, so what is read in one
// is still so when it writes.
type RecordTx interface {
	RecordReader
	// InsertRecord gives the record its place; false, and nothing is changed, where the tenant has one of that kind and ID.
	InsertRecord(r *Record) (inserted bool, err error)
	// PutRecord replaces the record, which keeps its place, or inserts it.
	PutRecord(r Record) error
	// DropRecord removes the record; one that isn't there is nothing to it.
	DropRecord(tenant, kind, id string) error
}

// RecordReads is what is read of records outside a transaction.
type RecordReads interface {
	Reading(ctx context.Context) RecordReader
}
