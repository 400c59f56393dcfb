package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

// placeFlags select a site: the folder of a demo, or the configuration of "postroomd run".
type placeFlags struct {
	data string
	from configFlags
}

// placeFlag adds the flags to a command that reads or changes the data of a site.
func placeFlag(cmd *cobra.Command) *placeFlags {
	p := new(placeFlags)
	p.register(cmd)
	return p
}

func (p *placeFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.data, "data", "", "the folder with the data: that of a demo, or in place of the configured one")
	p.from.register(cmd)
}

// configured reads the configuration and applies the folder flag.
func (p *placeFlags) configured(cmd *cobra.Command) (*environment.Environment, error) {
	var override []string
	if p.data != "" {
		override = []string{"paths.data=" + p.data}
	}
	l, err := p.from.load(cmd, override...)
	if err != nil {
		return nil, err
	}
	return &environment.Environment{Folder: environment.Folder(l.Config.Paths.Data), Config: l.Config}, nil
}

// existing returns the site of an earlier demo or run.
func (p *placeFlags) existing(cmd *cobra.Command) (*environment.Environment, error) {
	if f := environment.Folder(p.data); f != "" && f.IsDemo() {
		if p.from.file != "" || len(p.from.set) > 0 {
			return nil, usage.Errorf("--data %s holds a demo, which has no configuration: leave out --config and --set", p.data)
		}
		return environment.Demo(f), nil
	}
	s, err := p.configured(cmd)
	if err != nil {
		return nil, err
	}
	if s.Config.Paths.Database.Postgres() {
		return s, nil
	}
	_, err = os.Stat(s.Database())
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, usage.Errorf("what is kept in %s cannot be read: %w; run this as the user who runs postroomd, or name another folder with --data DIR", s.Database(), err)
	case err != nil:
		return nil, usage.Errorf("nothing is kept in %s yet (%w); name the folder of a demo with --data DIR, or start 'postroomd run' first", s.Database(), err)
	}
	return s, nil
}

// look opens the site for a command that reads.
func look(cmd *cobra.Command, p *placeFlags, fn func(ctx context.Context, h *host) error) error {
	return with(cmd, p, open, fn)
}

// act opens the site for a command that enqueues jobs. For a demo the command runs them itself.
func act(cmd *cobra.Command, p *placeFlags, fn func(ctx context.Context, h *host) error) error {
	return with(cmd, p, func(ctx context.Context, s *environment.Environment) (*host, error) {
		if s.Demo {
			return work(ctx, s)
		}
		h, err := open(ctx, s)
		if err != nil {
			return nil, err
		}
		if err := h.connect(ctx); err != nil {
			return nil, errors.Join(err, h.close())
		}
		return h, nil
	}, fn)
}

func with(cmd *cobra.Command, p *placeFlags, open func(context.Context, *environment.Environment) (*host, error), fn func(context.Context, *host) error) error {
	s, err := p.existing(cmd)
	if err != nil {
		return err
	}
	h, err := open(cmd.Context(), s)
	if err != nil {
		return err
	}
	return errors.Join(fn(cmd.Context(), h), h.close())
}
