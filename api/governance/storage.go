package governance

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/sluice-data/sluice/api/wire"
	"github.com/sluice-data/sluice/internal/fault"
	"github.com/sluice-data/sluice/models"
)

type stepAnswer struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Skipped bool   `json:"skipped,omitempty"`
	Detail  string `json:"detail"`
	Took    string `json:"took"` // such as 12ms
}

type validationAnswer struct {
	OK    bool         `json:"ok"` // no step failed
	Steps []stepAnswer `json:"steps"`
}

type storageAccessAnswer struct {
	Ref       string                `json:"ref,omitempty"` // of the table; absent when it is gone
	TableUUID string                `json:"tableUuid,omitempty"`
	TableID   string                `json:"tableId"`
	TokenID   string                `json:"tokenId"`
	Principal string                `json:"principal"`
	Mode      models.DelegationMode `json:"mode"`
	FirstAt   time.Time             `json:"firstAt"`
	LastAt    time.Time             `json:"lastAt"`
	Count     int64                 `json:"count"`
}

func (h *Handler) setStorageSecrets(c *gin.Context) error {
	body, err := wire.ReadObject(c)
	if err != nil {
		return err
	}
	body.Only("accessKey", "secretKey", "accountKey", "clientId", "clientSecret", "serviceKey")
	secrets := models.StorageSecrets{
		AccessKey: body.OptionalString("accessKey"), SecretKey: body.OptionalString("secretKey"),
		AccountKey: body.OptionalString("accountKey"),
		ClientID:   body.OptionalString("clientId"), ClientSecret: body.OptionalString("clientSecret"),
		ServiceKey: body.OptionalString("serviceKey"),
	}
	if err := body.Err(); err != nil {
		return err
	}
	if err := h.Storage.SetStorageSecrets(c.Request.Context(), wire.Caller(c), c.Param("ref"), secrets); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) removeStorageSecrets(c *gin.Context) error {
	if err := h.Storage.RemoveStorageSecrets(c.Request.Context(), wire.Caller(c), c.Param("ref")); err != nil {
		return err
	}
	return wire.NoContent(c)
}

func (h *Handler) validateStorage(c *gin.Context) error {
	steps, err := h.Storage.ValidateStorage(c.Request.Context(), wire.Caller(c), c.Param("ref"))
	if err != nil {
		return err
	}
	out := validationAnswer{OK: true, Steps: make([]stepAnswer, 0, len(steps))}
	for _, s := range steps {
		out.OK = out.OK && s.OK
		out.Steps = append(out.Steps, stepAnswer{Name: s.Name, OK: s.OK, Skipped: s.Skipped, Detail: s.Detail, Took: s.Took.Round(time.Millisecond).String()})
	}
	return wire.JSON(c, http.StatusOK, out)
}

func (h *Handler) listStorageAccess(c *gin.Context) error {
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	filter := models.StorageRecordFilter{Limit: limit}
	if filter.After, err = recordAfter(c.Query("after")); err != nil {
		return err
	}
	rows, err := h.Accesses.StorageRecords(c.Request.Context(), wire.Caller(c), c.Query("table"), filter)
	if err != nil {
		return err
	}
	return wire.JSON(c, http.StatusOK, listOf(rows, limit, storageAccessOf, func(r models.NamedStorageRecord) string { return recordKey(r.StorageRecord) }))
}

func storageAccessOf(r models.NamedStorageRecord) storageAccessAnswer {
	out := storageAccessAnswer{
		TableUUID: r.TableUUID, TableID: r.TableID, TokenID: r.TokenID, Principal: r.Principal, Mode: r.Mode,
		FirstAt: r.FirstAt, LastAt: r.LastAt, Count: r.Count,
	}
	if r.TableName != "" {
		out.Ref = r.CatalogName + "." + models.TableIdent{Namespace: r.NamespaceKey.Levels(), Name: r.TableName}.String()
	}
	return out
}

// recordKey names a record in ?after=: its key, which has three parts.
func recordKey(r models.StorageRecord) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join([]string{r.TableID, string(r.Mode), r.TokenID}, "\x00")))
}

func recordAfter(raw string) (models.StorageRecord, error) {
	if raw == "" {
		return models.StorageRecord{}, nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(raw)
	parts := strings.SplitN(string(plain), "\x00", 3)
	if err != nil || len(parts) != 3 {
		return models.StorageRecord{}, fault.New(fault.Invalid, "The parameter after must be the next value of an earlier page.")
	}
	return models.StorageRecord{TableID: parts[0], Mode: models.DelegationMode(parts[1]), TokenID: parts[2]}, nil
}
