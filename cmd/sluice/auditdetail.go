package main

import (
	"strings"

	"github.com/sluice-data/sluice/models"
)

// auditDetail is what a table of events says of one beside its names: why it was refused, from what to what it changed
// something, how many rows there are.
func auditDetail(row map[string]any) any {
	if reason := row["reason"]; reason != nil {
		return reason
	}
	details, _ := row["details"].(map[string]any)
	kind, _ := row["type"].(string)
	switch models.AuditType(kind) {
	case models.AuditDefaultPolicyChanged:
		if details["from"] == nil {
			return "inherited → " + cell(details["to"])
		}
	case models.AuditClassificationChanged:
		return classificationDetail(details)
	case models.AuditCommitReconciled, models.AuditPlatformCommitReconciled:
		return reconciledDetail(details)
	case models.AuditTableCommitted:
		return cell(details["kind"]) + " commit"
	case models.AuditFindingOpened, models.AuditFindingResolved:
		return cell(details["kind"]) + ": " + cell(details["subject"])
	case models.AuditPropertiesRestamped:
		return details["keys"]
	}
	if text := writerDetail(models.AuditType(kind), details); text != "" {
		return text
	}
	if text := tokenDetail(models.AuditType(kind), details); text != "" {
		return text
	}
	if text := identityDetail(details); text != "" {
		return text
	}
	if to, changed := details["to"]; changed {
		return cell(details["from"]) + " → " + cell(to)
	}
	return nil
}

// writerDetail tells what is expected of a writer; "" for other events.
func writerDetail(kind models.AuditType, details map[string]any) string {
	text := cell(details["writerKind"]) + " writer of " + cell(details["writerPrincipal"])
	switch kind {
	case models.AuditWriterDeclared:
		return text + ", every " + cell(details["every"])
	case models.AuditWriterRetired:
		if note, _ := details["note"].(string); note != "" {
			text += ": " + note
		}
		return text
	}
	return ""
}

// tokenDetail tells of tokens and of the keys that they are signed with; "" for other events.
func tokenDetail(kind models.AuditType, details map[string]any) string {
	switch kind {
	case models.AuditTokenMinted:
		for _, name := range []string{"name", "for", "kind"} {
			if text, _ := details[name].(string); text != "" {
				return text
			}
		}
	case models.AuditTokenRevoked:
		text := "token " + cell(details["tokenId"])
		if name, _ := details["name"].(string); name != "" {
			text += " " + name
		}
		return text
	case models.AuditSigningKeyCreated:
		return "key " + cell(details["key"]) + ", signs until " + cell(details["retiresAt"])
	case models.AuditSigningKeysRevoked:
		return "all but key " + cell(details["kept"])
	}
	return ""
}

// identityDetail names the principals, roles and privileges of an event, and what became of a principal; "" where there
// are none.
func identityDetail(details map[string]any) string {
	var parts []string
	for _, member := range []struct{ name, label string }{
		{"principal", "principal "}, {"role", "role "}, {"catalogRole", "catalog role "}, {"privilege", ""}, {"object", "on "},
	} {
		if text, _ := details[member.name].(string); text != "" {
			parts = append(parts, member.label+text)
		}
	}
	text := strings.Join(parts, " ")
	for _, member := range []string{"clearance", "disabled", "federated"} {
		if change, ok := details[member].(map[string]any); ok && text != "" {
			text += ", " + member + " " + cell(change["from"]) + " → " + cell(change["to"])
		}
	}
	return text
}

func classificationDetail(details map[string]any) string {
	before, after := cell(lookup(details, "from.level")), cell(lookup(details, "to.level"))
	if before == after {
		return after + ", columns changed"
	}
	return before + " → " + after
}

// reconciledDetail: counts are null where they are not exactly known.
func reconciledDetail(details map[string]any) string {
	text := cell(details["operation"]) + " of " + cell(details["rows"]) + " rows: " +
		cell(details["rowCountBefore"]) + " → " + cell(details["rowCountAfter"])
	if findings, _ := details["findings"].([]any); len(findings) > 0 {
		text += ", with findings"
	}
	return text
}
