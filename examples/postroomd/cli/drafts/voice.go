package drafts

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	views "github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/voice"
)

func draftsVoice() *cobra.Command {
	cmd := command.Group("voice", "See, edit or learn anew how you write", voiceShow(), voiceEdit(), voiceRebuild())
	cmd.Long = "See, edit or learn anew how you write: what the model that writes drafts is told about it. It is\n" +
		"learned from your sent mail, and from what you change in drafts, once a month. What you have edited stays."
	return cmd
}

func voiceShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show", Short: "Show how you write, and what you have changed in drafts",
		Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	of := command.MailboxFlag(cmd)
	text := cmd.Flags().Bool("text", false, "print the text for a file to edit, below a line with its version")
	asJSON := command.JSONFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("text", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *of)
			if err != nil {
				return err
			}
			v, err := views.NewVoice(ctx, h, &account)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			case *text:
				_, err = fmt.Fprint(cmd.OutOrStdout(), v.File())
				return err
			}
			return v.Print(cmd.OutOrStdout())
		})
	}
	return cmd
}

func voiceEdit() *cobra.Command {
	cmd := &cobra.Command{Use: "edit FILE", Short: "Write yourself how you write, from a file, or - for the input",
		Args: cobra.ExactArgs(1)}
	cmd.Long = fmt.Sprintf("Write yourself how you write, in at most %d characters, from a file, or - for the\n"+
		"input. It stays until you edit it again, or have it replaced by rebuild. No text tells the model nothing.\n"+
		"The first line names the version that was shown: what somebody has changed since is not overwritten.\n\n"+
		"    postroomd drafts voice show --text > voice.txt\n    postroomd drafts voice edit voice.txt", voice.MaxProfile)
	place := command.NewEnvironmentFlags(cmd)
	of := command.MailboxFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		file, err := readText(cmd, args[0])
		if err != nil {
			return err
		}
		version, text, err := views.ReadVoiceFile(file)
		if err != nil {
			return err
		}
		return changeVoice(cmd, place, *of, func(ctx context.Context, h *app.App, a *mailstore.Account) (string, error) {
			v, err := views.NewVoice(ctx, h, a)
			if err != nil {
				return "", err
			}
			if v.Version != version {
				return "", usage.Errorf("the text has version %d by now, and yours is made of version %d: print it anew with "+
					"'postroomd drafts voice show --text', and make your change to that", v.Version, version)
			}
			return "Saved.", h.EditVoice(ctx, a.ID, version, text, app.CurrentUser())
		})
	}
	return cmd
}

// readText reads a text that is not larger than any profile.
func readText(cmd *cobra.Command, name string) (string, error) {
	in := cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", usage.Wrap(err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, 8*voice.MaxProfile))
	return string(text), err
}

func voiceRebuild() *cobra.Command {
	cmd := &cobra.Command{Use: "rebuild", Short: "Learn anew how you write, from your sent mail", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	of := command.MailboxFlag(cmd)
	replace := cmd.Flags().Int64("replace", 0, "also what was edited, if it has this `version`, which show prints")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return changeVoice(cmd, place, *of, func(ctx context.Context, h *app.App, a *mailstore.Account) (string, error) {
			err := h.RebuildVoice(ctx, a.ID, *replace, *replace != 0, app.CurrentUser())
			return "It is being learned; 'postroomd drafts voice show' has the text.", err
		})
	}
	return cmd
}

func changeVoice(cmd *cobra.Command, place *command.EnvironmentFlags, mailbox string,
	do func(context.Context, *app.App, *mailstore.Account) (string, error)) error {
	return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
		account, err := command.Mailbox(ctx, h, mailbox)
		if err != nil {
			return err
		}
		done, err := do(ctx, h, &account)
		if err == nil {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
		}
		return err
	})
}
