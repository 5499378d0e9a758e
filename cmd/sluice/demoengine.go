package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	_ "github.com/apache/iceberg-go/io/gocloud/s3" // the engine writes to the store with the keys that it was given
	"github.com/apache/iceberg-go/table"
)

// demoEngine is an engine: it knows Sluice by the Iceberg REST protocol alone and writes its files itself.
type demoEngine struct {
	catalog *rest.Catalog
	table   table.Identifier
}

func newDemoEngine(ctx context.Context, uri, warehouse, token string) (*demoEngine, error) {
	c, err := rest.NewCatalog(ctx, "sluice", uri, rest.WithOAuthToken(token), rest.WithWarehouseLocation(warehouse))
	if err != nil {
		return nil, fmt.Errorf("the engine cannot reach the catalog: %w", err)
	}
	return &demoEngine{catalog: c, table: catalog.ToIdentifier(demoNamespace, demoTable)}, nil
}

func (e *demoEngine) createTable(ctx context.Context) error {
	if err := e.catalog.CreateNamespace(ctx, catalog.ToIdentifier(demoNamespace), nil); err != nil {
		return fmt.Errorf("the engine cannot make a namespace: %w", err)
	}
	schema := iceberg.NewSchema(0,
		iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64},
		iceberg.NestedField{ID: 2, Name: "kind", Type: iceberg.PrimitiveTypes.String},
	)
	if _, err := e.catalog.CreateTable(ctx, e.table, schema); err != nil {
		return fmt.Errorf("the engine cannot make a table: %w", err)
	}
	return nil
}

// setProperty commits a change that writes no data.
func (e *demoEngine) setProperty(ctx context.Context, key, value string) error {
	t, err := e.catalog.LoadTable(ctx, e.table)
	if err != nil {
		return err
	}
	tx := t.NewTransaction()
	if err := tx.SetProperties(iceberg.Properties{key: value}); err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	return err
}

// appendRows writes a Parquet file and manifests and commits them; it gives the new snapshot's id.
func (e *demoEngine) appendRows(ctx context.Context, rows int) (int64, error) {
	t, err := e.catalog.LoadTable(ctx, e.table)
	if err != nil {
		return 0, err
	}
	records, err := demoRecords(t.Schema(), rows)
	if err != nil {
		return 0, err
	}
	defer records.Release()
	after, err := t.Append(ctx, records, iceberg.Properties{"engine-name": "sluice-demo"})
	if err != nil {
		return 0, err
	}
	head := after.CurrentSnapshot()
	if head == nil {
		return 0, errors.New("the table has no snapshot after the commit")
	}
	return head.SnapshotID, nil
}

func demoRecords(schema *iceberg.Schema, rows int) (array.RecordReader, error) {
	target, err := table.SchemaToArrowSchema(schema, nil, false, false)
	if err != nil {
		return nil, err
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, target)
	defer b.Release()
	kinds := []string{"click", "view", "purchase"}
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(kinds[i%len(kinds)])
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	return array.NewRecordReader(target, []arrow.RecordBatch{batch})
}
