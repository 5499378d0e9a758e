package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	core "github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/internal/idempotency"
	"github.com/sluice-data/sluice/models"
)

const idempotencyHeader = "Idempotency-Key"

// replay answers a request that succeeded before, without doing anything.
type replay func(*gin.Context, scope, models.IdempotencyKey) error

// replays names every operation that honours an Idempotency-Key, by method and path, with the answer to a repeat.
func (h *Handler) replays() map[string]replay {
	const (
		namespace = "/namespaces/{namespace}"
		table     = namespace + "/tables/{table}"
		view      = namespace + "/views/{view}"
	)
	return map[string]replay{
		http.MethodPost + " /namespaces":                     h.replayNamespace,
		http.MethodDelete + " " + namespace:                  replayNothing,
		http.MethodPost + " " + namespace + "/properties":    replayProperties,
		http.MethodPost + " " + namespace + "/tables":        h.replayCreated,
		http.MethodPost + " " + namespace + "/register":      h.replayCreated,
		http.MethodPost + " " + table:                        h.replayCommit,
		http.MethodDelete + " " + table:                      replayNothing,
		http.MethodPost + " " + table + "/unregister":        h.replayCommit,
		http.MethodPost + " /tables/rename":                  replayNothing,
		http.MethodPost + " /transactions/commit":            replayNothing,
		http.MethodPost + " " + namespace + "/views":         h.replayCreatedView,
		http.MethodPost + " " + namespace + "/register-view": h.replayCreatedView,
		http.MethodPost + " " + view:                         func(c *gin.Context, s scope, _ models.IdempotencyKey) error { return h.loadView(c, s) },
		http.MethodDelete + " " + view:                       replayNothing,
		http.MethodPost + " /views/rename":                   replayNothing,
	}
}

// once serves an operation so that repeats under one Idempotency-Key have no further effect.
func (h *Handler) once(op route) func(*gin.Context, scope) error {
	again, ok := h.replays()[op.method+" "+op.path]
	if !ok || h.Idempotency == nil {
		return op.serve
	}
	return func(c *gin.Context, s scope) error {
		if c.GetHeader(idempotencyHeader) == "" {
			return op.serve(c, s)
		}
		claim, body, err := claimOf(c, s)
		if err != nil {
			return err
		}
		kept, end, err := h.Idempotency.Begin(s.ctx, claim)
		if err != nil {
			return err
		}
		defer end()
		if kept == nil {
			kept, err = h.first(c, s, op, claim)
		}
		if err != nil || kept == nil {
			return err
		}
		if refusal := idempotency.Refusal(*kept); refusal != nil {
			return refusal
		}
		wire.Rewind(c, body)
		return again(c, s, *kept)
	}
}

// first serves the first request of a key. It gives what the key is settled with instead when another process was
// faster: then nothing was done here, and nothing is answered yet.
func (h *Handler) first(c *gin.Context, s scope, op route, claim *idempotency.Claim) (*models.IdempotencyKey, error) {
	claimed := s
	claimed.ctx = idempotency.With(s.ctx, claim)
	err := op.serve(c, claimed)
	if idempotency.IsUsed(err) {
		kept, lookErr := h.Idempotency.Kept(s.ctx, claim)
		if lookErr != nil || kept != nil {
			return kept, lookErr
		}
		return nil, err
	}
	if kept := h.Idempotency.Settle(s.ctx, claim, err); kept != nil && !c.Writer.Written() {
		return kept, nil
	}
	return nil, err
}

// claimOf reads the key and what the request says. The body stays to be read.
func claimOf(c *gin.Context, s scope) (*idempotency.Claim, []byte, error) {
	key, err := idempotency.ParseKey(c.GetHeader(idempotencyHeader))
	if err != nil {
		return nil, nil, err
	}
	body, err := wire.PeekBody(c)
	if err != nil {
		return nil, nil, err
	}
	hash := sha256.New()
	hash.Write([]byte(c.Request.URL.RawQuery + "\n"))
	hash.Write(body)
	return &idempotency.Claim{
		PrincipalID: s.caller.PrincipalID, Key: key,
		Route: c.Request.Method + " " + c.Request.URL.EscapedPath(), RequestHash: hex.EncodeToString(hash.Sum(nil)),
	}, body, nil
}

func replayNothing(c *gin.Context, _ scope, _ models.IdempotencyKey) error { return wire.NoContent(c) }

func replayProperties(c *gin.Context, _ scope, kept models.IdempotencyKey) error {
	var done core.PropertiesResult
	if err := readResult(kept, &done); err != nil {
		return err
	}
	return answerProperties(c, done)
}

// replayNamespace answers with the namespace as it is, or as it was asked for when it is gone by now.
func (h *Handler) replayNamespace(c *gin.Context, s scope, _ models.IdempotencyKey) error {
	made, err := namespaceInput(c)
	if err != nil {
		return err
	}
	ns, err := h.Namespaces.LoadNamespace(s.ctx, s.caller, s.cat, made.Levels)
	if fault.Is(err, fault.NotFound) {
		ns, err = core.NamespaceView(made), nil
	}
	return answerNamespace(c, ns, err)
}

// replayCreated answers a create or register. A staged create made nothing, so that it is simply staged again.
func (h *Handler) replayCreated(c *gin.Context, s scope, kept models.IdempotencyKey) error {
	if kept.Result == "" {
		return h.createTable(c, s)
	}
	ident, err := createdIdent(c)
	if err != nil {
		return err
	}
	view, err := h.settledTable(s, ident, kept)
	if err != nil {
		return err
	}
	return h.answerMade(c, s, ident, view)
}

func (h *Handler) replayCommit(c *gin.Context, s scope, kept models.IdempotencyKey) error {
	ident, err := pathTable(c)
	if err != nil {
		return err
	}
	view, err := h.settledTable(s, ident, kept)
	if err != nil {
		return err
	}
	answerCommitted(c, view)
	return nil
}

func (h *Handler) replayCreatedView(c *gin.Context, s scope, _ models.IdempotencyKey) error {
	ident, err := createdIdent(c)
	if err != nil {
		return err
	}
	view, err := h.Views.LoadView(s.ctx, s.caller, s.cat, ident)
	return answerView(c, view, err)
}

// createdIdent gives what a create or register request names: the namespace in its path, the name in its body.
func createdIdent(c *gin.Context) (models.TableIdent, error) {
	levels, err := pathNamespace(c)
	if err != nil {
		return models.TableIdent{}, err
	}
	body, err := wire.ReadObject(c)
	if err != nil {
		return models.TableIdent{}, err
	}
	return models.TableIdent{Namespace: levels, Name: body.String("name")}, body.Err()
}

func (h *Handler) settledTable(s scope, ident models.TableIdent, kept models.IdempotencyKey) (core.TableView, error) {
	var settled core.Settled
	if kept.Result != "" {
		if err := readResult(kept, &settled); err != nil {
			return core.TableView{}, err
		}
	}
	return h.Tables.LoadSettled(s.ctx, s.caller, s.cat, ident, settled)
}

func readResult(kept models.IdempotencyKey, into any) error {
	if err := json.Unmarshal([]byte(kept.Result), into); err != nil {
		return fault.Wrap(err, fault.Internal, "What this Idempotency-Key was settled with cannot be read. Load the current state instead.")
	}
	return nil
}
