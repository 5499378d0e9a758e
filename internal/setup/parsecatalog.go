package setup

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-data/sluice/internal/policy"
	"github.com/sluice-data/sluice/models"
)

func (p *parser) catalogs(n *yaml.Node) map[string]Catalog {
	catalogs := map[string]Catalog{}
	for _, item := range p.items(n, "catalogs") {
		name, c := p.catalog(item)
		p.entityName(item, name)
		if _, twice := catalogs[name]; twice {
			p.fail(item, "catalog %s is there twice", name)
		}
		catalogs[name] = c
	}
	return catalogs
}

// catalogMembers are those of a catalog but for its storage.
func catalogMembers() []string {
	return []string{
		"name", "type", "default_base_location", "allowed_locations", "properties", defaultWritePolicyMember, "namespaces", "roles",
		"policies", "connection", "encryption_keys", "decryption_keys", "legacy_kms_keys",
	}
}

func (p *parser) catalog(n *yaml.Node) (string, Catalog) {
	known := catalogMembers()
	for _, m := range storageMembers() {
		known = append(known, m.key)
	}
	members := p.members(n, "a catalog", known...)
	name, c := "", Catalog{Storage: Storage{}}
	for _, m := range members {
		if m.key == "name" {
			name = p.text(m.value, m.key)
		}
	}
	for _, m := range members {
		if !p.polarisMember(m, "catalog "+name) {
			p.catalogMember(&c, m, "catalog "+name)
		}
	}
	return name, c
}

// polarisMember reads what Polaris has and Sluice has not, or has in one way only.
func (p *parser) polarisMember(m member, whose string) bool {
	switch m.key {
	case "name":
	case "type":
		if t := p.text(m.value, m.key); t != "" && !strings.EqualFold(t, "internal") {
			p.fail(m.value, "%s is of type %s: Sluice has internal catalogs alone", whose, t)
		}
	case "connection":
		p.fail(m.value, "%s has a connection: Sluice has no catalogs that lie elsewhere", whose)
	case "policies", "encryption_keys", "decryption_keys", "legacy_kms_keys":
		if m.value.Kind == yaml.ScalarNode || len(m.value.Content) > 0 {
			p.note(m.value, "the %s of %s are left out: Sluice has none", m.key, whose)
		}
	default:
		return false
	}
	return true
}

func (p *parser) catalogMember(c *Catalog, m member, whose string) {
	switch m.key {
	case "default_base_location":
		c.BaseLocation = p.text(m.value, m.key)
	case "allowed_locations":
		c.AllowedLocations = p.names(m.value, "allowed_locations of "+whose)
	case "properties":
		c.Properties = p.properties(m.value, "properties of "+whose)
	case defaultWritePolicyMember:
		c.DefaultWritePolicy = p.writePolicy(m.value, whose)
	case "namespaces":
		c.Namespaces = p.namespaces(m.value, whose)
	case "roles":
		c.Roles = p.catalogRoles(m.value, whose)
	default:
		p.storage(c.Storage, m)
	}
}

// defaultWritePolicyMember is a member of catalogs and namespaces that Polaris passes over.
const defaultWritePolicyMember = "default_write_policy"

func (p *parser) writePolicy(n *yaml.Node, whose string) models.WritePolicy {
	name, err := models.ParseWritePolicy(p.text(n, defaultWritePolicyMember))
	if err != nil {
		p.fail(n, "the %s of %s is wrong: %v", defaultWritePolicyMember, whose, err)
	}
	return name
}

func (p *parser) storage(s Storage, m member) {
	for _, known := range storageMembers() {
		if known.key != m.key {
			continue
		}
		switch known.kind {
		case textValue:
			text := p.text(m.value, m.key)
			if known.wire == storageTypeMember {
				text = strings.ToUpper(text)
				if !slices.Contains([]string{"S3", "GCS", "AZURE", "FILE"}, text) {
					p.fail(m.value, "storage_type is %q: it must be s3, gcs, azure or file", m.value.Value)
				}
			}
			s[known.wire] = text
		case flagValue:
			s[known.wire] = p.flag(m.value, m.key)
		case listValue:
			s[known.wire] = p.names(m.value, m.key)
		}
	}
}

// namespaces is a list of dotted names, of lists of levels, or of maps with such a name. What they lie in comes before
// them, also where it is not listed.
func (p *parser) namespaces(n *yaml.Node, whose string) []Namespace {
	listed := map[string]Namespace{}
	for _, item := range p.items(n, "namespaces of "+whose) {
		var ns Namespace
		if item.Kind != yaml.MappingNode {
			ns.Levels = p.levels(item)
		} else {
			for _, m := range p.members(item, "a namespace", "name", "location", "properties", defaultWritePolicyMember) {
				switch m.key {
				case "name":
					ns.Levels = p.levels(m.value)
				case "location":
					ns.Location = p.text(m.value, m.key)
				case "properties":
					ns.Properties = p.properties(m.value, "properties of a namespace")
				case defaultWritePolicyMember:
					ns.DefaultWritePolicy = p.writePolicy(m.value, "a namespace of "+whose)
				}
			}
			// Polaris exports the place of a namespace among its properties.
			if at, ok := ns.Properties["location"]; ok {
				if ns.Location == "" {
					ns.Location = at
				}
				delete(ns.Properties, "location")
			}
		}
		if len(ns.Levels) == 0 {
			p.fail(item, "a namespace of %s has no name", whose)
			continue
		}
		key := namespaceKey(ns.Levels)
		if _, twice := listed[key]; twice {
			p.fail(item, "namespace %s is there twice", strings.Join(ns.Levels, "."))
		}
		listed[key] = ns
	}
	return withParents(listed)
}

// withParents adds the namespaces that others lie in, and puts all in order.
func withParents(listed map[string]Namespace) []Namespace {
	all := map[string]Namespace{}
	for key, ns := range listed {
		all[key] = ns
		for i := 1; i < len(ns.Levels); i++ {
			parent := namespaceKey(ns.Levels[:i])
			if _, there := listed[parent]; !there {
				all[parent] = Namespace{Levels: ns.Levels[:i:i]}
			}
		}
	}
	out := make([]Namespace, 0, len(all))
	for _, ns := range all {
		out = append(out, ns)
	}
	return inOrder(out)
}

// inOrder puts namespaces in an order in which each comes after what it lies in.
func inOrder(namespaces []Namespace) []Namespace {
	return slices.SortedFunc(slices.Values(namespaces), func(a, b Namespace) int { return slices.Compare(a.Levels, b.Levels) })
}

// ownPrivilegesMember of a catalog role is a second list of privileges: Polaris, which does not know those that are
// Sluice's own, passes it over. Either list takes any privilege.
const ownPrivilegesMember = "sluice_privileges"

func (p *parser) catalogRoles(n *yaml.Node, whose string) map[string]CatalogRole {
	roles := map[string]CatalogRole{}
	for _, entry := range p.entries(n, "roles of "+whose) {
		p.entityName(entry.node, entry.key)
		role, name := CatalogRole{}, "catalog role "+entry.key
		for _, m := range p.members(entry.value, name, "properties", "assign_to", "privileges", ownPrivilegesMember) {
			switch m.key {
			case "properties":
				role.Properties = p.properties(m.value, "properties of "+name)
			case "assign_to":
				role.AssignTo = p.names(m.value, "assign_to of "+name)
			default:
				role.Grants = append(role.Grants, p.privileges(m.value, name)...)
				if role.Grants == nil {
					role.Grants = []Grant{}
				}
			}
		}
		roles[entry.key] = role
	}
	return roles
}

// privileges are a list of names for the catalog, and for what is in it lists by object. For namespaces a map of dotted
// names to privileges does as well.
func (p *parser) privileges(n *yaml.Node, whose string) []Grant {
	var grants []Grant
	for _, m := range p.members(n, "privileges of "+whose, "catalog", "namespace", "table", "view") {
		scope := models.GrantScope(m.key)
		switch {
		case scope == models.OnCatalog:
			grants = append(grants, p.grantsOn(m.value, Grant{Scope: scope}, whose)...)
		case scope == models.OnNamespace && m.value.Kind == yaml.MappingNode:
			for _, entry := range p.entries(m.value, "namespace privileges of "+whose) {
				grants = append(grants, p.grantsOn(entry.value, Grant{Scope: scope, Namespace: p.levels(entry.node)}, whose)...)
			}
		default:
			for _, item := range p.items(m.value, m.key+" privileges of "+whose) {
				grants = append(grants, p.objectGrants(item, scope, whose)...)
			}
		}
	}
	return grants
}

func (p *parser) objectGrants(n *yaml.Node, scope models.GrantScope, whose string) []Grant {
	known := []string{"namespace", "privileges"}
	if scope != models.OnNamespace {
		known = append(known, string(scope))
	}
	on := Grant{Scope: scope}
	members := p.members(n, "privileges on a "+string(scope), known...)
	for _, m := range members {
		switch m.key {
		case "namespace":
			on.Namespace = p.levels(m.value)
		case "privileges":
		default:
			on.Name = p.text(m.value, m.key)
		}
	}
	if len(on.Namespace) == 0 || scope != models.OnNamespace && on.Name == "" {
		p.fail(n, "privileges of %s on a %s do not say on which", whose, scope)
		return nil
	}
	for _, m := range members {
		if m.key == "privileges" {
			return p.grantsOn(m.value, on, whose)
		}
	}
	return nil
}

func (p *parser) grantsOn(n *yaml.Node, on Grant, whose string) []Grant {
	var grants []Grant
	for _, item := range p.items(n, "privileges of "+whose) {
		on.Privilege = models.Privilege(p.text(item, "a privilege"))
		if on.Privilege != "" && !slices.Contains(policy.Grantable(on.Scope), on.Privilege) {
			p.fail(item, "%s cannot be granted on a %s", on.Privilege, on.Scope)
		}
		grants = append(grants, on)
	}
	return grants
}
