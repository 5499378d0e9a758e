package dataplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/internal/rowaudit"
	"github.com/sluice-data/sluice/internal/rows"
	"github.com/sluice-data/sluice/models"
)

// ListWrites gives the governed writes of a table, newest first. Of f only Principal, Before and Limit count.
func (s *Service) ListWrites(ctx context.Context, caller policy.Caller, ref string, f models.GovernedWriteFilter) ([]models.GovernedWrite, error) {
	table, err := s.Catalog.FindForData(ctx, caller, policy.ReadRowAudit, ref)
	if err != nil {
		return nil, err
	}
	f.CatalogID, f.TableID = "", table.Row.ID
	return s.Store.GovernedWrites(ctx, f)
}

// ShowWrite gives one governed write, also one of a table that is gone. To who may not read its table's audit there is
// none.
func (s *Service) ShowWrite(ctx context.Context, caller policy.Caller, id string) (models.GovernedWrite, error) {
	w, err := s.Store.GovernedWrite(ctx, id)
	if err != nil {
		return models.GovernedWrite{}, err
	}
	err = s.Catalog.RequireOnTable(ctx, caller, policy.ReadRowAudit, w.CatalogID, w.TableID)
	if fault.Is(err, fault.NotFound) {
		return models.GovernedWrite{}, fault.Conceal(fault.NoSubject, fault.PublicMessage(err), "There is no governed write with the id %q.", id)
	}
	return w, err
}

// RowPlace is the place of a row in the audit of its write.
type RowPlace struct {
	Block int // its number
	Row   int // in the block
}

// String writes it for ParseRowPlace.
func (p RowPlace) String() string { return fmt.Sprintf("%d.%d", p.Block, p.Row) }

// ParseRowPlace reads a place; "" is before the first row.
func ParseRowPlace(text string) (RowPlace, error) {
	p := RowPlace{Row: -1}
	if text == "" {
		return p, nil
	}
	if n, err := fmt.Sscanf(text, "%d.%d", &p.Block, &p.Row); err != nil || n != 2 || p.Block < 0 || p.Row < 0 || p.String() != text {
		return p, fault.New(fault.Invalid, "The parameter after must be the next value of an earlier page.")
	}
	return p, nil
}

// WrittenRows gives the audit of the rows that a write landed, in order of their places, at most limit of them after one;
// next is the place of the last one, nil where none follows.
func (s *Service) WrittenRows(ctx context.Context, caller policy.Caller, id string, after RowPlace, limit int) (out []rowaudit.Record, next *RowPlace, err error) {
	w, err := s.ShowWrite(ctx, caller, id)
	if err != nil {
		return nil, nil, err
	}
	at := after
	for {
		blocks, err := s.Store.RowAuditBlocks(ctx, models.RowAuditFilter{WriteID: w.ID, AfterWrite: w.ID, AfterPlace: at.Block - 1, Limit: 1})
		if err != nil {
			return nil, nil, err
		}
		if len(blocks) == 0 {
			return out, nil, nil
		}
		records, err := rowaudit.Unpack(blocks[0])
		if err != nil {
			return nil, nil, err
		}
		from := min(at.Row+1, len(records))
		if blocks[0].Place != at.Block {
			from = 0
		}
		take := records[from:min(len(records), from+limit-len(out))]
		out = append(out, take...)
		if len(out) == limit {
			return out, &RowPlace{Block: blocks[0].Place, Row: from + len(take) - 1}, nil
		}
		at = RowPlace{Block: blocks[0].Place + 1, Row: -1}
	}
}

// Landing is a write that landed a row of an identity, with the audit of that row.
type Landing struct {
	Write models.GovernedWrite
	Row   rowaudit.Record
}

// FindRow gives the writes that landed a row with these values of the identity columns, oldest first, and the hash that
// the audit knows the row by. An identity that the caller may not see may not be asked for.
func (s *Service) FindRow(ctx context.Context, caller policy.Caller, ref string, identity json.RawMessage) (hash [16]byte, found []Landing, err error) {
	ctx, end, err := s.begin(ctx, caller.PrincipalID)
	if err != nil {
		return hash, nil, err
	}
	defer end()
	table, err := s.Catalog.FindForData(ctx, caller, policy.ReadRowAudit, ref)
	if err != nil {
		return hash, nil, err
	}
	at, err := head(table.Document)
	if err != nil {
		return hash, nil, err
	}
	l, err := newLens(caller, table, at)
	if err != nil {
		return hash, nil, err
	}
	columns := identityColumns(table.Row, at.schema)
	for _, path := range columns {
		if err := l.requireSeen(path, "asked for"); err != nil {
			return hash, nil, err
		}
	}
	if !l.whole {
		return hash, nil, fault.New(fault.Forbidden, "Table %s has row filters, and you do not see all of its rows: you may not look for one by its identity.", table.Name)
	}
	if hash, err = s.identityHash(ctx, l, columns, identity); err != nil {
		return hash, nil, late(ctx, err)
	}
	found, err = s.landings(ctx, table.Row.ID, columns, hash)
	return hash, found, late(ctx, err)
}

// notAnIdentity says why an object is no identity of these columns.
func notAnIdentity(columns []string, errs []rows.RowError) string {
	if len(errs) == 0 {
		return "."
	}
	field := errs[0].Field
	if field != "" && !slices.ContainsFunc(columns, func(c string) bool { return topOf(c) == topOf(field) }) {
		return fmt.Sprintf(" alone: %s is none of the columns that identify a row.", field)
	}
	return ": " + strings.TrimSpace(field+" "+errs[0].Message)
}

// topOf is the column that a path begins with.
func topOf(path string) string {
	name, _, _ := strings.Cut(path, ".")
	return name
}

// requireAll refuses an identity that leaves a column out: as NULL it would be that of another row, which is then not found.
func requireAll(columns []string, identity json.RawMessage) error {
	var said map[string]json.RawMessage
	if json.Unmarshal(identity, &said) != nil {
		return nil // reading it tells more
	}
	for _, column := range columns {
		if _, ok := said[topOf(column)]; !ok {
			return fault.New(fault.Invalid, "Give the identity as an object with a value for %s: %s is missing, and may be null.", strings.Join(columns, ", "), column)
		}
	}
	return nil
}

// identityHash hashes one identity as writes do, read as a row of its columns.
func (s *Service) identityHash(ctx context.Context, l *lens, columns []string, identity json.RawMessage) ([16]byte, error) {
	var none [16]byte
	if err := requireAll(columns, identity); err != nil {
		return none, err
	}
	schema, err := s.Reader.Schema(l.scan(columns, nil))
	if err != nil {
		return none, err
	}
	row := slices.Concat([]byte("["), identity, []byte("]"))
	from, err := rows.NewReader(bytes.NewReader(row), rows.JSON, schema, rows.ReadOptions{BatchRows: 1, BatchBytes: 1 << 20, RowBytes: 1 << 20, MostErrors: 1})
	if err != nil {
		return none, err
	}
	defer from.Close()
	batch, err := from.Next()
	if errors.Is(err, io.EOF) || err == nil && batch.Rows.NumRows() != 1 {
		return none, fault.New(fault.Invalid, "Give the identity as an object with a value for %s%s", strings.Join(columns, ", "), notAnIdentity(columns, from.Errors()))
	}
	if err != nil {
		return none, err
	}
	defer batch.Release()
	key, err := s.keys.get(ctx, identityPurpose)
	if err != nil {
		return none, err
	}
	hasher, err := rowaudit.NewHasher(key, columns, schema)
	if err != nil {
		return none, err
	}
	hashes, err := hasher.Hash(batch.Rows)
	if err != nil {
		return none, err
	}
	return hashes[0], nil
}

// blocksAtOnce is how many blocks are held at a time while a hash is looked for.
const blocksAtOnce = 64

func (s *Service) landings(ctx context.Context, tableID string, columns []string, hash [16]byte) ([]Landing, error) {
	found := []Landing{}
	filter := models.RowAuditFilter{TableID: tableID, Hash: hash[:], Limit: blocksAtOnce}
	for {
		blocks, err := s.Store.RowAuditBlocks(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, block := range blocks {
			records, err := rowaudit.Unpack(block)
			if err != nil {
				return nil, err
			}
			for _, r := range rowaudit.Find(records, hash) {
				w, err := s.Store.GovernedWrite(ctx, block.WriteID)
				if err != nil {
					return nil, err
				}
				if slices.Equal(w.IdentityColumns.V, columns) { // of others it would be a coincidence
					found = append(found, Landing{Write: w, Row: r})
				}
			}
		}
		if len(blocks) < blocksAtOnce {
			// Blocks are in the order in which writes were begun.
			slices.SortStableFunc(found, func(a, b Landing) int { return a.Write.CommittedAt.Compare(b.Write.CommittedAt) })
			return found, nil
		}
		last := blocks[len(blocks)-1]
		filter.AfterWrite, filter.AfterPlace = last.WriteID, last.Place
	}
}
