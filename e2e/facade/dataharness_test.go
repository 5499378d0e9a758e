package facade

import (
	"log/slog"
	"time"

	"github.com/sluice-data/sluice/api/data"
	"github.com/sluice-data/sluice/internal/catalog"
	"github.com/sluice-data/sluice/internal/dataplane"
	"github.com/sluice-data/sluice/internal/scan"
	"github.com/sluice-data/sluice/internal/tableio"
	"github.com/sluice-data/sluice/internal/tableread"
)

// newData is the data plane of a process on the lake.
func (l *lake) newData(core *catalog.Service) data.Deps {
	const memory, body = 64 << 20, 8 << 20
	rows := dataplane.New(dataplane.Deps{
		Catalog: core, Reader: tableread.New(l.files, scan.New(l.files), tableread.Options{Memory: memory}), Store: l.db,
		Tokens: l.ring.For("page tokens"), Secrets: l.ring.For("data keys"), Now: time.Now,
		Limits: dataplane.Limits{
			Memory: memory, Rows: 1000, AnswerBytes: memory, RequestBytes: body, Timeout: time.Minute, Concurrency: 64, SplitAfter: memory,
		},
		WriteDeps: dataplane.WriteDeps{IO: tableio.New(core, l.files, time.Now), Files: l.files},
	})
	return data.Deps{Rows: rows, Audit: rows, RequestBytes: body, Log: slog.New(slog.DiscardHandler)}
}
