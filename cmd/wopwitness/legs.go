package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/pages"
	"github.com/wopwitness/wopwitness/mockhost"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

func (p *program) legsCommand() *cobra.Command {
	var asJSON, asMarkdown bool
	c := &cobra.Command{
		Use:   "legs",
		Short: "List the requirements that are witnessed, and what each needs",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case asJSON:
				e := json.NewEncoder(p.output)
				e.SetEscapeHTML(false)
				e.SetIndent("", "  ")
				return e.Encode(map[string]any{"legs": registry.Legs()})
			case asMarkdown:
				return pages.Legs(p.output, registry.Legs())
			}
			return p.listLegs()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&asMarkdown, "markdown", false, "as the page of the documentation")
	_ = c.Flags().MarkHidden("markdown")
	return c
}

func (p *program) listLegs() error {
	t := tabwriter.NewWriter(p.output, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LEG\tTEXT\tMAJORS\tOBSERVES\tNEEDS\tTITLE")
	for _, l := range registry.Legs() {
		fmt.Fprintf(t, "%s\tRFC %s %s\t%s\t%s\t%s\t%s\n", l.ID, l.RFC, l.Section, pages.Joined(l.Majors), l.Observes, pages.Joined(l.Needs), l.Title)
	}
	return t.Flush()
}

// killed gives the defects as the pages and the self-check take them.
func killed() []pages.Defect {
	var defects []pages.Defect
	for _, d := range mockhost.Defects() {
		defects = append(defects, pages.Defect{Name: d.Name, Says: d.Says, RFC: d.RFC, Convicts: d.Convicts, May: d.May,
			Apart: d.Apart, Instances: d.Instances, Silent: d.Silent})
	}
	return defects
}
