package main

import (
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"testing"
)

func TestUndosFitTheTerminal(t *testing.T) {
	tally := &undoTally{planned: true, examples: 2, names: labelNames{{"1", "Label_1"}: "Receipts"}}
	for _, r := range sampleResults() {
		tally.add(r)
	}
	golden(t, "undo-narrow.txt", printer.WrapLines(tally.text(), 40))
}
