package catalog

import (
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// What one request may ask for.
const (
	maxUpdates = 10000 // of one table, and as many requirements
	maxTables  = 1000  // of one transaction
)

func (h *Handler) commitTable(c *gin.Context, s scope) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	if body.Has("identifier") {
		named := identifier(body, "identifier")
		if err := body.Err(); err != nil {
			return err
		}
		if named.Name != ident.Name || !slices.Equal(named.Namespace, ident.Namespace) {
			return fault.New(fault.Invalid, "Field \"identifier\" names %s but the path names %s. Send one table's commit to that table.", named, ident)
		}
	}
	in, err := commitOf(body, ident)
	if err != nil {
		return err
	}
	view, err := h.Commits.CommitTable(s.ctx, s.caller, s.cat, in)
	if err != nil {
		return err
	}
	answerCommitted(c, view)
	return nil
}

func (h *Handler) commitTransaction(c *gin.Context, s scope) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	changes := body.Elements("table-changes")
	if len(changes) == 0 {
		body.Fail("table-changes", "must hold at least one table's commit")
	}
	if len(changes) > maxTables {
		return fault.New(fault.Invalid, "A transaction is over at most %d tables. Split it.", maxTables)
	}
	in := make([]core.CommitInput, 0, len(changes))
	for _, change := range changes {
		one, err := commitOf(change, identifier(change, "identifier"))
		if err != nil {
			return err
		}
		in = append(in, one)
	}
	if err := body.Err(); err != nil {
		return err
	}
	if err := h.Commits.CommitTransaction(s.ctx, s.caller, s.cat, in); err != nil {
		return err
	}
	return wire.NoContent(c)
}

// commitOf reads requirements and updates; an unknown kind of either is Invalid.
func commitOf(body *wire.Fields, ident models.TableIdent) (core.CommitInput, error) {
	requirements, updates := body.List("requirements"), body.List("updates")
	if err := body.Err(); err != nil {
		return core.CommitInput{}, err
	}
	if len(requirements) > maxUpdates || len(updates) > maxUpdates {
		return core.CommitInput{}, fault.New(fault.Invalid, "A commit has at most %d requirements and %d updates. Split it.", maxUpdates, maxUpdates)
	}
	in := core.CommitInput{Table: ident}
	var err error
	if in.Requirements, err = metadata.DecodeRequirements(requirements); err != nil {
		return core.CommitInput{}, err
	}
	if in.Updates, err = metadata.DecodeUpdates(updates); err != nil {
		return core.CommitInput{}, err
	}
	return in, nil
}
