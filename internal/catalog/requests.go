package catalog

import (
	"encoding/json"

	"github.com/sluice-data/sluice/internal/metadata"
	"github.com/sluice-data/sluice/models"
)

// NamespaceInput asks for a new namespace.
type NamespaceInput struct {
	Levels     []string
	Properties map[string]string
}

// NamespaceView is a namespace as clients see it; Properties always has "location".
type NamespaceView struct {
	Levels     []string
	Properties map[string]string
}

// PropertiesUpdate sets and removes namespace properties; a key in both is fault.Unprocessable.
type PropertiesUpdate struct {
	Updates  map[string]string
	Removals []string
}

// PropertiesResult says which keys were set, removed, or not there to remove.
type PropertiesResult struct{ Updated, Removed, Missing []string }

// CreateTableInput is the create-table request; the raw parts are as the client sent them.
type CreateTableInput struct {
	Namespace     []string
	Name          string
	Location      string // "" for Sluice's choice
	Schema        json.RawMessage
	PartitionSpec json.RawMessage
	WriteOrder    json.RawMessage
	Properties    map[string]string
	Stage         bool
}

// RegisterInput registers a table by its metadata file.
type RegisterInput struct {
	Namespace        []string
	Name             string
	MetadataLocation string
	Overwrite        bool
}

// CommitInput is one table's commit: requirements to hold, updates to apply in order.
type CommitInput struct {
	Table        models.TableIdent
	Requirements []metadata.Requirement
	Updates      []metadata.Update
	// Write is the governed write that the commit lands, written in its transaction; nil for every other commit.
	Write *models.GovernedWrite
	// Holder is whose reservation of the table the commit may use: see Reserve.
	Holder string

	insists bool // it waited long enough for the reservations of others
}

// TableView is a table as loaded: its row, its document and where that is.
type TableView struct {
	Row              models.Table
	Document         *metadata.Document
	MetadataLocation string // "" when staged

	at tablePlace // zero for a table that is gone
}

// CreateViewInput is the create-view request; the raw parts are as the client sent them.
type CreateViewInput struct {
	Namespace  []string
	Name       string
	Location   string // "" for Sluice's choice
	Schema     json.RawMessage
	Version    json.RawMessage
	Properties map[string]string
}

// RegisterViewInput registers a view by its metadata file.
type RegisterViewInput struct {
	Namespace        []string
	Name             string
	MetadataLocation string
}

// ReplaceViewInput is one view's commit: requirements to hold, updates to apply in order.
type ReplaceViewInput struct {
	View         models.TableIdent
	Requirements []metadata.ViewRequirement
	Updates      []metadata.ViewUpdate
}

// LoadedView is a view with its current metadata.
type LoadedView struct {
	Row      models.View
	Document *metadata.ViewDocument
}

// ListPage is one page of names; Next is "" at the end.
type ListPage[T any] struct {
	Items []T
	Next  string
}

// GovernanceInput sets a table's classification and columns.
type GovernanceInput struct {
	Level           models.Classification
	IdentityColumns []string
	Columns         map[string]models.ColumnGovernance
}
