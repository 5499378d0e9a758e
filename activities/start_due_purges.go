package activities

import "context"

// purgePage is how many due records one run of StartDuePurges looks at.
const purgePage = 100

// StartDuePurgesInput asks for one page of dropped tables whose files may be deleted.
type StartDuePurgesInput struct {
	After string `json:"after,omitempty"` // record id: the page starts behind it
}

// StartDuePurgesResult says how far the page went.
type StartDuePurgesResult struct {
	Started int    `json:"started,omitempty"`
	Next    string `json:"next,omitempty"` // After of the next page; "" at the end
}

// StartDuePurges starts the purge of every dropped table that is due, and of those whose purge was interrupted. Starting
// one that runs is no error and a purge claims its record first, so that it may run again.
func (a *Activities) StartDuePurges(ctx context.Context, in StartDuePurgesInput) (StartDuePurgesResult, error) {
	defer heartbeat(ctx)()
	out, err := a.startDuePurges(ctx, in)
	return out, toTemporal(ctx, err)
}

func (a *Activities) startDuePurges(ctx context.Context, in StartDuePurgesInput) (StartDuePurgesResult, error) {
	var out StartDuePurgesResult
	records, err := a.ports.Purges.DuePurges(ctx, a.ports.Now().UTC(), in.After, purgePage)
	if err != nil {
		return out, err
	}
	for _, r := range records {
		target := PurgeTarget{DropID: r.ID, CatalogID: r.CatalogID, TableUUID: r.TableUUID, TableName: r.Ident().String()}
		if err := a.ports.PurgeStarter.StartPurge(ctx, target); err != nil {
			return out, err
		}
		out.Started++
	}
	if len(records) == purgePage {
		out.Next = records[len(records)-1].ID
	}
	return out, nil
}
