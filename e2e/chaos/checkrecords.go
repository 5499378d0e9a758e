package chaos

// ledger: one reconciled row per snapshot on main, with counts that follow from each other.
func (c *checker) ledger(rows []LedgerRow) {
	byKey := map[key]LedgerRow{}
	for _, r := range rows {
		k := key{r.TableUUID, r.SnapshotID}
		if !c.landed[k] {
			c.add(LedgerStrange, k.table, k.snapshot, "%s", r.Status)
			continue
		}
		if _, twice := byKey[k]; twice {
			c.add(LedgerDoubled, k.table, k.snapshot, "")
		}
		byKey[k] = r
	}
	before := map[string]int64{}
	for _, k := range c.order {
		sent := c.sent[k]
		if r, ok := byKey[k]; !ok {
			c.add(LedgerMissing, k.table, k.snapshot, "")
		} else {
			c.ledgerRow(r, sent, before[k.table])
		}
		before[k.table] += sent.Rows
	}
}

func (c *checker) ledgerRow(r LedgerRow, sent Sent, before int64) {
	if r.Status != "reconciled" {
		c.add(LedgerUnfinished, r.TableUUID, r.SnapshotID, "%s", r.Status)
		return
	}
	for _, n := range []struct {
		name string
		got  *int64
		want int64
	}{
		{"added rows", r.AddedRows, sent.Rows},
		{"added files", r.AddedFiles, int64(len(sent.Files))},
		{"row count before", r.RowCountBefore, before},
		{"row count after", r.RowsAfter, before + sent.Rows},
	} {
		if n.got == nil || *n.got != n.want {
			c.add(LedgerWrong, r.TableUUID, r.SnapshotID, "%s %s, want %d", n.name, show(n.got), n.want)
		}
	}
}

// audit: one event of each kind per effect, none without one, and each with an id of its own.
func (c *checker) audit(tables []string, events []Event) {
	ids, eventIDs := map[string]bool{}, map[string]bool{}
	counts := map[string]map[key]int{createdEvent: {}, committedEvent: {}, reconciledEvent: {}}
	for _, e := range events {
		if e.ID == "" || e.EventID == "" || ids[e.ID] || eventIDs[e.EventID] {
			c.add(EventNameless, e.TableUUID, e.SnapshotID, "%s id %q event id %q", e.Type, e.ID, e.EventID)
		}
		ids[e.ID], eventIDs[e.EventID] = true, true
		if of := counts[e.Type]; of != nil {
			of[key{e.TableUUID, e.SnapshotID}]++
		}
	}
	created := make([]key, len(tables))
	for i, uuid := range tables {
		created[i] = key{table: uuid}
	}
	c.once(createdEvent, created, counts[createdEvent])
	c.once(committedEvent, c.order, counts[committedEvent])
	c.once(reconciledEvent, c.order, counts[reconciledEvent])
}

func (c *checker) once(event string, effects []key, counts map[key]int) {
	for _, k := range effects {
		switch n := counts[k]; {
		case n == 0:
			c.add(EventMissing, k.table, k.snapshot, "%s", event)
		case n > 1:
			c.add(EventDoubled, k.table, k.snapshot, "%s: %d times", event, n)
		}
		delete(counts, k)
	}
	for k := range counts {
		c.add(EventStrange, k.table, k.snapshot, "%s", event)
	}
}
