package oidc

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// rule rewrites a value that its expression matches as a whole.
type rule struct {
	from *regexp.Regexp
	to   string // $1 and ${name} stand for groups, $$ for a dollar
}

// rules are tried in order; the first that matches counts.
type rules []rule

// newRule compiles a rule. The expression is anchored at both ends: a rule for acme must not match notacme.
func newRule(from, to string) (rule, error) {
	if from == "" || to == "" {
		return rule{}, errors.New("a rule needs from, a regular expression, and to, its replacement")
	}
	// By itself first: what is no expression alone must not become one within the anchors.
	if _, err := regexp.Compile(from); err != nil {
		return rule{}, fmt.Errorf("%q is no regular expression: %w", from, err)
	}
	expression, err := regexp.Compile("^(?:" + from + ")$")
	if err != nil {
		return rule{}, fmt.Errorf("%q is no regular expression: %w", from, err)
	}
	if err := checkReplacement(expression, to); err != nil {
		return rule{}, err
	}
	return rule{from: expression, to: to}, nil
}

// checkReplacement refuses references to groups that the expression does not have: they would stand for nothing.
func checkReplacement(expression *regexp.Regexp, to string) error {
	reference := regexp.MustCompile(`\$(?:\$|(\w+)|\{(\w+)\})?`)
	for _, match := range reference.FindAllStringSubmatch(to, -1) {
		name := match[1] + match[2]
		if match[0] == "$$" {
			continue
		}
		number, err := strconv.Atoi(name)
		if err == nil && number <= expression.NumSubexp() {
			continue
		}
		if err != nil && name != "" && slices.Contains(expression.SubexpNames(), name) {
			continue
		}
		return fmt.Errorf("%s in %q is no group of %q; write ${1} where text follows, $$ for a dollar", match[0], to, strings.TrimSuffix(strings.TrimPrefix(expression.String(), "^(?:"), ")$"))
	}
	return nil
}

// apply gives what the first matching rule makes of the value, false when none matches. No rules change nothing.
func (r rules) apply(value string) (string, bool) {
	if len(r) == 0 {
		return value, true
	}
	for _, one := range r {
		if at := one.from.FindStringSubmatchIndex(value); at != nil {
			return string(one.from.ExpandString(nil, one.to, value, at)), true
		}
	}
	return "", false
}
