package activities_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-data/sluice/activities"
	"github.com/sluice-data/sluice/internal/fault"
)

// TestEveryCodeAtTheBoundary walks every code of internal/fault through an activity.
func TestEveryCodeAtTheBoundary(t *testing.T) {
	for _, c := range []struct {
		code      fault.Code
		kind      activities.ErrorType
		retryable bool
	}{
		{fault.Invalid, "sluice.invalid", false},
		{fault.Unauthenticated, "sluice.unauthenticated", false},
		{fault.Forbidden, "sluice.forbidden", false},
		{fault.NotFound, "sluice.not_found", false},
		{fault.Unsupported, "sluice.unsupported", false},
		{fault.AlreadyExists, "sluice.already_exists", false},
		{fault.Conflict, "sluice.conflict", true},
		{fault.NotEmpty, "sluice.not_empty", false},
		{fault.TooLarge, "sluice.too_large", false},
		{fault.Unprocessable, "sluice.unprocessable", false},
		{fault.Unavailable, "sluice.unavailable", true},
		{fault.UnknownState, "sluice.unknown_state", true},
		{fault.Internal, "sluice.internal", true},
	} {
		t.Run(string(c.code), func(t *testing.T) {
			r := newRig(t)
			r.world.SetFail(func(string, string) error {
				return fmt.Errorf("wrapped: %w", fault.Wrap(errors.New("password=hunter2"), c.code, "Do the other thing."))
			})
			// Drifted is the only call of FindDrift, and passes every code on.
			_, err := run(r, r.acts.FindDrift, activities.FindDriftInput{})
			app := asApplication(t, err)
			require.Equal(t, string(c.kind), app.Type())
			require.Equal(t, !c.retryable, app.NonRetryable())
			require.Equal(t, "Do the other thing.", app.Message())
			require.NotContains(t, err.Error(), "hunter2", "causes stay out of histories")
		})
	}
}

func TestUnknownErrorsAreRetriedAndNeutral(t *testing.T) {
	r := newRig(t)
	r.world.SetFail(func(string, string) error { return errors.New("dial tcp: secret-host refused") })
	_, err := run(r, r.acts.FindDrift, activities.FindDriftInput{})
	app := asApplication(t, err)
	require.False(t, app.NonRetryable())
	require.Equal(t, string(activities.InternalError), app.Type())
	require.NotContains(t, err.Error(), "secret-host")
}
