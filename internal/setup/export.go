package setup

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-data/sluice/models"
)

// Export writes the file that describes a state. It holds no secrets.
func Export(s State) ([]byte, error) {
	file := mapping()
	principals := mapping()
	for _, name := range slices.Sorted(maps.Keys(s.Principals)) {
		principals.put(name, principalNode(s.Principals[name]))
	}
	file.put("principals", principals)
	roles := &node{Kind: yaml.SequenceNode}
	for _, name := range slices.Sorted(maps.Keys(s.PrincipalRoles)) {
		roles.Content = append(roles.Content, principalRoleNode(name, s.PrincipalRoles[name]).plain())
	}
	file.put("principal_roles", roles)
	catalogs := &node{Kind: yaml.SequenceNode}
	for _, name := range slices.Sorted(maps.Keys(s.Catalogs)) {
		catalogs.Content = append(catalogs.Content, catalogNode(name, s.Catalogs[name]).plain())
	}
	file.put("catalogs", catalogs)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(file.plain()); err != nil {
		return nil, err
	}
	return out.Bytes(), e.Close()
}

func principalNode(p Principal) *node {
	n := mapping()
	n.put("type", text("service"))
	n.putProperties(p.Properties)
	if p.Clearance != "" {
		n.put("clearance", text(string(p.Clearance)))
	}
	if disabled(p) {
		n.put("disabled", flag(true))
	}
	n.put("roles", list(sorted(p.Roles)))
	return n
}

func principalRoleNode(name string, r PrincipalRole) *node {
	if len(r.Properties) == 0 && !federated(r) {
		return text(name)
	}
	n := mapping()
	n.put("name", text(name))
	if federated(r) {
		n.put("federated", flag(true))
	}
	n.putProperties(r.Properties)
	return n
}

func catalogNode(name string, c Catalog) *node {
	n := mapping()
	n.put("name", text(name))
	n.put("type", text("internal"))
	n.putStorage(c.Storage)
	if c.BaseLocation != "" {
		n.put("default_base_location", text(c.BaseLocation))
	}
	if c.AllowedLocations != nil {
		n.put("allowed_locations", list(sorted(c.AllowedLocations)))
	}
	n.putProperties(c.Properties)
	if c.DefaultWritePolicy != "" {
		n.put(defaultWritePolicyMember, text(string(c.DefaultWritePolicy)))
	}
	if len(c.Namespaces) > 0 {
		namespaces := &node{Kind: yaml.SequenceNode}
		for _, ns := range inOrder(c.Namespaces) {
			namespaces.Content = append(namespaces.Content, namespaceNode(ns).plain())
		}
		n.put("namespaces", namespaces)
	}
	roles := mapping()
	for _, role := range slices.Sorted(maps.Keys(c.Roles)) {
		roles.put(role, catalogRoleNode(c.Roles[role]))
	}
	n.put("roles", roles)
	return n
}

func namespaceNode(ns Namespace) *node {
	n := mapping()
	n.put("name", list(ns.Levels))
	if ns.Location != "" {
		n.put("location", text(ns.Location))
	}
	n.putProperties(ns.Properties)
	if ns.DefaultWritePolicy != "" {
		n.put(defaultWritePolicyMember, text(string(ns.DefaultWritePolicy)))
	}
	return n
}

func catalogRoleNode(r CatalogRole) *node {
	n := mapping()
	n.putProperties(r.Properties)
	n.put("assign_to", list(sorted(r.AssignTo)))
	var own, others []Grant
	for _, g := range sortedGrants(r.Grants) {
		if isOwn(g.Privilege) {
			own = append(own, g)
		} else {
			others = append(others, g)
		}
	}
	n.put("privileges", privilegesNode(others))
	if len(own) > 0 {
		n.put(ownPrivilegesMember, privilegesNode(own))
	}
	return n
}

// isOwn tells the privileges that Sluice has and Polaris has not.
func isOwn(p models.Privilege) bool {
	switch p {
	case models.TableGovern, models.DataRead, models.DataWrite, models.AuditRead:
		return true
	}
	return false
}

// privilegesNode groups grants, which are in order, by their objects.
func privilegesNode(grants []Grant) *node {
	byScope := map[models.GrantScope]*node{}
	for len(grants) > 0 {
		object := grants[0]
		var names []string
		for len(grants) > 0 && sameObject(grants[0], object) {
			names = append(names, string(grants[0].Privilege))
			grants = grants[1:]
		}
		if object.Scope == models.OnCatalog {
			byScope[object.Scope] = list(names)
			continue
		}
		if byScope[object.Scope] == nil {
			byScope[object.Scope] = &node{Kind: yaml.SequenceNode}
		}
		on := byScope[object.Scope]
		on.Content = append(on.Content, objectNode(object, names).plain())
	}
	n := mapping()
	for _, scope := range []models.GrantScope{models.OnCatalog, models.OnNamespace, models.OnTable, models.OnView} {
		if on := byScope[scope]; on != nil {
			n.put(string(scope), on)
		}
	}
	return n
}

func objectNode(g Grant, privileges []string) *node {
	n := mapping()
	n.put("namespace", list(g.Namespace))
	if g.Name != "" {
		n.put(string(g.Scope), text(g.Name))
	}
	n.put("privileges", list(privileges))
	return n
}

func sameObject(a, b Grant) bool {
	return a.Scope == b.Scope && a.Name == b.Name && slices.Equal(a.Namespace, b.Namespace)
}

// node is a YAML node that is being written.
type node yaml.Node

func (n *node) plain() *yaml.Node { return (*yaml.Node)(n) }

func mapping() *node { return &node{Kind: yaml.MappingNode} }

// text writes a text so that every reader of YAML takes it as one: yes and 1:30 are no texts to some.
func text(s string) *node {
	n := &yaml.Node{}
	if err := n.Encode(s); err != nil {
		n.SetString(s)
	}
	return (*node)(n)
}

func flag(b bool) *node {
	return &node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: map[bool]string{true: "true", false: "false"}[b]}
}

func list(items []string) *node {
	n := &node{Kind: yaml.SequenceNode}
	for _, item := range items {
		n.Content = append(n.Content, text(item).plain())
	}
	if len(items) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

func (n *node) put(key string, value *node) {
	if len(value.Content) == 0 && value.Kind != yaml.ScalarNode {
		value.Style = yaml.FlowStyle
	}
	n.Content = append(n.Content, text(key).plain(), value.plain())
}

func (n *node) putProperties(props map[string]string) {
	if len(props) == 0 {
		return
	}
	m := mapping()
	for _, key := range slices.Sorted(maps.Keys(props)) {
		m.put(key, text(props[key]))
	}
	n.put("properties", m)
}

func (n *node) putStorage(s Storage) {
	for _, m := range storageMembers() {
		switch v := s[m.wire].(type) {
		case string:
			if m.wire == storageTypeMember {
				v = strings.ToLower(v)
			}
			n.put(m.key, text(v))
		case bool:
			n.put(m.key, flag(v))
		case []string:
			n.put(m.key, list(sorted(v)))
		}
	}
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
