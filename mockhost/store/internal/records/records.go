// Package records is what the backends share of the agent worker's records: the texts of their statements, which differ in
// nothing but the marks of the arguments.
//
// It never talks to a database. Start at Select.
package records

import (
	"strconv"
	"strings"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Columns are those of a record, in the order in which Insert takes and Select gives them.
const Columns = "tenant, kind, id, seq, state, tool, trace, category, at, body"

// Mark writes the n-th argument, from 1.
type Mark func(n int) string

// The marks of the two backends.
func Question(n int) string { return "?" + strconv.Itoa(n) }

// Dollar is PostgreSQL's mark.
func Dollar(n int) string { return "$" + strconv.Itoa(n) }

const next = "(SELECT coalesce(max(seq), 0) + 1 FROM agent_records WHERE tenant = @1 AND kind = @2)"

const values = "INSERT INTO agent_records (" + Columns + ") VALUES (@1, @2, @3, " + next + ", @4, @5, @6, @7, @8, @9) "

// Insert gives the next place, or no row where the ID is taken. Its arguments are Args.
func Insert(m Mark) string {
	return marked(values+"ON CONFLICT (tenant, kind, id) DO NOTHING RETURNING seq", m)
}

// Put replaces or inserts. Its arguments are Args.
func Put(m Mark) string {
	return marked(values+`ON CONFLICT (tenant, kind, id) DO UPDATE SET state = excluded.state, tool = excluded.tool,
		trace = excluded.trace, category = excluded.category, at = excluded.at, body = excluded.body`, m)
}

// Drop removes by tenant, kind and ID.
func Drop(m Mark) string {
	return marked("DELETE FROM agent_records WHERE tenant = @1 AND kind = @2 AND id = @3", m)
}

// One selects by tenant, kind and ID.
func One(m Mark) string {
	return marked("SELECT "+Columns+" FROM agent_records WHERE tenant = @1 AND kind = @2 AND id = @3", m)
}

// Args are a record's columns but the place.
func Args(r store.Record) []any {
	return []any{r.Tenant, r.Kind, r.ID, r.State, r.Tool, r.Trace, r.Category, r.At.UnixNano(), r.Body}
}

// Select is the statement of a query with its arguments.
func Select(tenant string, q store.RecordQuery, m Mark) (text string, args []any) {
	where, args := where(tenant, q, m)
	text = "SELECT " + Columns + " FROM agent_records WHERE " + where + " ORDER BY seq"
	if q.Limit > 0 {
		args = append(args, q.Limit)
		text += " LIMIT " + m(len(args))
	}
	return text, args
}

// Count is the statement that counts what fits, with the earliest instant or 0.
func Count(tenant string, q store.RecordQuery, m Mark) (text string, args []any) {
	where, args := where(tenant, q, m)
	return "SELECT count(*), coalesce(min(at), 0) FROM agent_records WHERE " + where, args
}

func where(tenant string, q store.RecordQuery, m Mark) (string, []any) {
	args := []any{tenant, q.Kind}
	terms := []string{"tenant = " + m(1), "kind = " + m(2)}
	add := func(term string, arg any) {
		args = append(args, arg)
		terms = append(terms, term+m(len(args)))
	}
	for _, t := range []struct{ term, value string }{{"tool = ", q.Tool}, {"trace = ", q.Trace}, {"category = ", q.Category}} {
		if t.value != "" {
			add(t.term, t.value)
		}
	}
	if len(q.States) > 0 {
		marks := make([]string, len(q.States))
		for i, s := range q.States {
			args = append(args, s)
			marks[i] = m(len(args))
		}
		terms = append(terms, "state IN ("+strings.Join(marks, ", ")+")")
	}
	if !q.Before.IsZero() {
		add("at < ", q.Before.UnixNano())
	}
	if q.After > 0 {
		add("seq > ", q.After)
	}
	return strings.Join(terms, " AND "), args
}

// marked puts a backend's marks in place of @n.
func marked(text string, m Mark) string {
	for n := 9; n > 0; n-- {
		text = strings.ReplaceAll(text, "@"+strconv.Itoa(n), m(n))
	}
	return text
}
