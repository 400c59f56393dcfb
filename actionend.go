package postroom

// An ActionEnd is how an action ends whose job has ended without it: the job was canceled, or was interrupted or has crashed too often.
type ActionEnd struct {
	// State is the final state of the action: completed, if it turns out to have been carried out, or failed or canceled.
	State ActionState
	// Hint is the undo hint of a completed action.
	Hint UndoHint
	// Reason is why the action has failed or is canceled, for people.
	Reason string
	// Commit is called in the transaction that ends the action. Default nil: nothing more is written.
	Commit Commit
}
