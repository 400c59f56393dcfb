package command

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

// EnvironmentFlags select an environment: the folder of a demo, or the configuration of "postroomd run".
type EnvironmentFlags struct {
	Data   string
	Config ConfigFlags
}

// NewEnvironmentFlags adds the flags to a command that reads or changes the data of an environment.
func NewEnvironmentFlags(cmd *cobra.Command) *EnvironmentFlags {
	p := new(EnvironmentFlags)
	p.Register(cmd)
	return p
}

// Register adds the flags to a command.
func (p *EnvironmentFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.Data, "data", "",
		"the folder with the data: that of a demo, or in place of the configured one")
	p.Config.Register(cmd)
}

// Environment reads the configuration and applies the folder flag.
func (p *EnvironmentFlags) Environment(cmd *cobra.Command) (*environment.Environment, error) {
	var override []string
	if p.Data != "" {
		override = []string{"paths.data=" + p.Data}
	}
	l, err := p.Config.Load(cmd, override...)
	if err != nil {
		return nil, err
	}
	return &environment.Environment{Folder: environment.Folder(l.Config.Paths.Data), Config: l.Config,
		Values: l.Values}, nil
}

// Existing returns the environment of an earlier demo or run.
func (p *EnvironmentFlags) Existing(cmd *cobra.Command) (*environment.Environment, error) {
	if f := environment.Folder(p.Data); f != "" && f.IsDemo() {
		if p.Config.File != "" || len(p.Config.Set) > 0 {
			return nil, usage.Errorf("--data %s holds a demo, which has no configuration: leave out --config and --set", p.Data)
		}
		return environment.DemoCommand(f), nil
	}
	s, err := p.Environment(cmd)
	if err != nil {
		return nil, err
	}
	if s.Config.Paths.Database.Postgres() {
		return s, nil
	}
	_, err = os.Stat(s.Database())
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil,
			usage.Errorf(
				"what is kept in %s cannot be read: %w; run this as the user who runs postroomd, or name another folder with --data DIR", s.Database(), err)
	case err != nil:
		return nil,
			usage.Errorf(
				"nothing is kept in %s yet (%w); name the folder of a demo with --data DIR, or start 'postroomd run' first",
				s.Database(), err)
	}
	return s, nil
}

// WithReader opens the environment for a command that reads.
func WithReader(cmd *cobra.Command, p *EnvironmentFlags, fn func(ctx context.Context, h *app.App) error) error {
	return withApp(cmd, p, app.Open, fn)
}

// WithNew is WithReader for what a person may say before the first run: it makes the place of a configured mailbox.
func WithNew(cmd *cobra.Command, p *EnvironmentFlags, fn func(ctx context.Context, h *app.App) error) error {
	_, missing := p.Existing(cmd)
	if !errors.Is(missing, fs.ErrNotExist) {
		return WithReader(cmd, p, fn)
	}
	s, err := p.Environment(cmd)
	switch {
	case err != nil:
		return err
	case s.Config.Gmail.Token == "" && s.Config.Gmail.ClientID == "":
		return missing // the folder may be mistyped
	}
	if err := errors.Join(s.Folder.CheckRun(), s.Prepare()); err != nil {
		return err
	}
	h, err := app.Open(cmd.Context(), s)
	if err != nil {
		return err
	}
	return errors.Join(fn(cmd.Context(), h), h.Close())
}

// WithWriter opens the App for a command that enqueues jobs. For a demo the command runs them itself.
func WithWriter(cmd *cobra.Command, p *EnvironmentFlags, fn func(ctx context.Context, h *app.App) error) error {
	return withApp(cmd, p, func(ctx context.Context, s *environment.Environment) (*app.App, error) {
		if s.Demo {
			return app.New(ctx, app.Config{Environment: s})
		}
		h, err := app.Open(ctx, s)
		if err != nil {
			return nil, err
		}
		if err := h.Connect(ctx); err != nil {
			return nil, errors.Join(err, h.Close())
		}
		return h, nil
	}, fn)
}

func withApp(cmd *cobra.Command, p *EnvironmentFlags, open func(context.Context, *environment.Environment) (*app.App,
	error), fn func(context.Context, *app.App) error) error {
	s, err := p.Existing(cmd)
	if err != nil {
		return err
	}
	h, err := open(cmd.Context(), s)
	if err != nil {
		return err
	}
	return errors.Join(fn(cmd.Context(), h), h.Close())
}
