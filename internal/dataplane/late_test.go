package dataplane

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/internal/fault"
)

func TestOnlyWhatTimeCutShortIsLate(t *testing.T) {
	over, cancel := context.WithTimeoutCause(t.Context(), 0, errTooLong(time.Minute))
	defer cancel()
	<-over.Done()
	left, hangUp := context.WithCancel(t.Context())
	hangUp()
	for name, tt := range map[string]struct {
		ctx  context.Context
		err  error
		want fault.Code
	}{
		"cut short":          {over, fmt.Errorf("scan: %w", context.DeadlineExceeded), fault.TooLarge},
		"a store that fails": {over, fault.Wrap(context.DeadlineExceeded, fault.Unavailable, "The store does not answer."), fault.TooLarge},
		"in doubt":           {over, fault.Wrap(context.DeadlineExceeded, fault.UnknownState, "Nobody knows."), fault.UnknownState},
		"a refusal":          {over, fault.New(fault.Forbidden, "No."), fault.Forbidden},
		"in time":            {t.Context(), errors.New("broken"), fault.Internal},
		"the client left":    {left, context.Canceled, fault.Internal},
	} {
		require.Equal(t, tt.want, fault.CodeOf(late(tt.ctx, tt.err)), name)
	}
	require.NoError(t, late(over, nil))
}
