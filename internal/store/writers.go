package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/writers"
	"github.com/sluice-data/sluice/models"
)

// noteRetired is said of the findings about a writer that somebody retired.
const noteRetired = "The writer was retired."

func noWriter(id string) error {
	return fault.New(fault.NotFound, "There is no writer with the id %q.", id)
}

// summarized are the columns of a writer that its newest commits say.
func summarized() []string {
	return []string{
		"table_uuid", "table_name", "engine", "version", "client", "job", "ref", "token_id", "watermark", "valid_to", "last_commit", "last_commit_at",
		"intervals", "median", "spread",
	}
}

// Conditions on a writer that is there and the newer one, which is called excluded.
const (
	isNewer       = "(writers.last_commit_at IS NULL OR excluded.last_commit_at >= writers.last_commit_at)"
	staysRetired  = "(writers.state = '" + string(models.WriterRetired) + "' AND writers.retired_at >= excluded.last_commit_at)"
	keepsItsState = "(NOT " + isNewer + " OR " + staysRetired + ")"
)

// keepWriters adds one commit to each of the writers. What the commits say is taken from the newest, in whatever order they
// come; what people declared stays, but a commit after a retirement ends that.
func (s *Store) keepWriters(tx *gorm.DB, found []models.TableWriter) error {
	set := map[string]any{"commits": gorm.Expr("writers.commits + 1"), "first_commit_at": gorm.Expr(
		"CASE WHEN writers.first_commit_at < excluded.first_commit_at THEN writers.first_commit_at ELSE excluded.first_commit_at END")}
	for _, column := range summarized() {
		set[column] = gorm.Expr("CASE WHEN " + isNewer + " THEN excluded." + column + " ELSE writers." + column + " END")
	}
	for _, column := range []string{"state", "retired_at", "retired_by"} {
		set[column] = gorm.Expr("CASE WHEN " + keepsItsState + " THEN writers." + column + " ELSE excluded." + column + " END")
	}
	added := clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.Assignments(set)}
	ordered := slices.Clone(found)
	slices.SortFunc(ordered, func(a, b models.TableWriter) int { return strings.Compare(a.ID, b.ID) })
	for _, w := range ordered {
		if w.LastCommitAt == nil {
			continue // it made no commit
		}
		row := s.writerRow(w)
		row.Commits, row.RetiredAt, row.RetiredBy = 1, nil, ""
		if row.State == models.WriterRetired {
			row.State = models.WriterActive
		}
		if err := tx.Clauses(added).Create(&row).Error; err != nil {
			return err
		}
	}
	return nil
}

// writerRow completes a writer and makes its text storable: most of it is what a client sent.
func (s *Store) writerRow(w models.TableWriter) models.TableWriter {
	if w.State == "" {
		w.State = models.WriterActive
	}
	s.stamp(&w.CreatedAt)
	for _, t := range []**time.Time{&w.ValidTo, &w.FirstCommitAt, &w.LastCommitAt, &w.RetiredAt} {
		if *t != nil {
			at := stored(**t)
			*t = &at
		}
	}
	for _, text := range []*string{
		&w.TableUUID, &w.Table, &w.Key, &w.Principal, &w.Engine, &w.Version, &w.Client, &w.Job, &w.Ref, &w.TokenID, &w.RetiredBy,
	} {
		*text = clean(*text)
	}
	return w
}

// SaveWriter implements catalog.Store. Of a writer that is there it changes what people say of one alone: how often it is to
// commit, and its state.
func (s *Store) SaveWriter(ctx context.Context, w models.TableWriter, event models.AuditEvent) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		row := s.writerRow(w)
		declared := clause.OnConflict{
			Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"every", "state", "retired_at", "retired_by"}),
		}
		if err := tx.Clauses(declared).Create(&row).Error; err != nil {
			return err
		}
		if row.State == models.WriterRetired {
			about := tx.Where("writer_id = ? AND writer_id <> '' AND kind IN ?", row.ID,
				[]models.FindingKind{models.FindingStalledWriter, models.FindingTokenExpiring})
			if _, err := s.resolveFindings(tx, about, noteRetired); err != nil {
				return err
			}
		}
		return s.insertAudit(tx, event)
	})
}

// outsideToken is what the ids of tokens begin with that other issuers made, of which no row is kept.
const outsideToken = "oidc:"

// namedWriters selects writers with what is known of their credentials.
func (s *Store) namedWriters(ctx context.Context) *gorm.DB {
	return s.query(ctx).Table("writers AS w").
		Select(`w.*, COALESCE(c.name, '') AS catalog_name, COALESCE(k.kind, '') AS token_kind, k.created_at AS token_minted, k.expires_at AS token_expiry,
			w.token_id <> '' AND substr(w.token_id, 1, ?) <> ? AND (k.id IS NULL OR k.revoked_at IS NOT NULL) AS token_gone,
			COALESCE((SELECT a.mode FROM storage_accesses a WHERE a.table_id = w.table_id AND a.token_id = w.token_id
				ORDER BY a.last_at DESC, a.mode LIMIT 1), '') AS mode`, len(outsideToken), outsideToken).
		Joins("LEFT JOIN catalogs c ON c.id = w.catalog_id").
		Joins("LEFT JOIN tokens k ON k.id = w.token_id")
}

// pacedFirst orders writers by whether their cadence is declared or known, then by how much they have committed.
const pacedFirst = "w.every > 0 DESC, w.kind <> '" + string(models.BatchWriter) + "' AND w.median > 0 DESC, w.commits DESC, w.id"

// WatchedWriters implements activities.WriterLedger.
func (s *Store) WatchedWriters(ctx context.Context, after string, limit int) ([]models.NamedWriter, error) {
	return all[models.NamedWriter](ctx, limited(s.namedWriters(ctx), limit).Order("w.id").
		Where("w.id > ? AND w.state <> ?", after, models.WriterRetired))
}

// Writers implements catalog.Reports.
func (s *Store) Writers(ctx context.Context, f models.WriterFilter) ([]models.NamedWriter, error) {
	order := "w.id"
	if f.PacedFirst {
		order = pacedFirst
	}
	query := limited(s.namedWriters(ctx), f.Limit).Where("w.id > ?", clean(f.After)).Order(order)
	for column, value := range map[string]string{"w.catalog_id": f.CatalogID, "w.table_id": f.TableID, "w.state": string(f.State)} {
		if value != "" {
			query = query.Where(column+" = ?", clean(value))
		}
	}
	return all[models.NamedWriter](ctx, query)
}

// Writer implements catalog.Store.
func (s *Store) Writer(ctx context.Context, id string) (models.NamedWriter, error) {
	if !storable(id) {
		return models.NamedWriter{}, noWriter(id)
	}
	return one[models.NamedWriter](ctx, s.namedWriters(ctx).Where("w.id = ?", id), noWriter(id))
}

// ExpectedWriter implements activities.WriterLedger.
func (s *Store) ExpectedWriter(ctx context.Context, tableID, principal string) (models.TableWriter, bool, error) {
	id := writers.ExpectedID(tableID, principal)
	w, err := one[models.TableWriter](ctx, s.query(ctx).Where("id = ?", id), noWriter(id))
	if fault.Is(err, fault.NotFound) {
		return models.TableWriter{}, false, nil
	}
	return w, err == nil, err
}
