package oidc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// A token is verified once; what a request with it costs afterwards is what the first figure says.
func BenchmarkIdentify(b *testing.B) {
	i, c := newIDP(b), newClock()
	issuers := accepting(b, c, i.entry("roles-claim: roles"), i)
	token := i.token(b, c.now(), map[string]any{"roles": []string{"a", "b"}})
	_, ours, err := issuers.Identify(context.Background(), token)
	require.NoError(b, err)
	require.True(b, ours)
	b.Run("known", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, _ = issuers.Identify(context.Background(), token)
		}
	})
	tokens := make([]string, 0, 2000)
	for n := range cap(tokens) {
		tokens = append(tokens, i.token(b, c.now(), map[string]any{"n": n}))
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			if n == len(tokens) {
				b.StopTimer()
				issuers, n = accepting(b, c, i.entry("roles-claim: roles"), i), 0
				_, _, _ = issuers.Identify(context.Background(), token)
				b.StartTimer()
			}
			_, _, _ = issuers.Identify(context.Background(), tokens[n])
			n++
		}
	})
}
