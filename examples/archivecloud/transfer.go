package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// transfer copies the objects that to does not have, manifests last: they name the others. Objects never change: one
// that is there is the same one, and is not replaced. sync may be nil.
func transfer(ctx context.Context, from, to *blob.Bucket, sync func(key string) error) (copied, there int, err error) {
	has := map[string]bool{}
	if err := list(ctx, to, func(key string) error { has[key] = true; return nil }); err != nil {
		return 0, 0, err
	}
	for _, manifests := range []bool{false, true} {
		err := list(ctx, from, func(key string) error {
			switch {
			case isManifest(key) != manifests:
				return nil
			case has[key]:
				there++
				return nil
			}
			err := put(ctx, from, to, key)
			if gcerrors.Code(err) == gcerrors.FailedPrecondition { // another has put it there meanwhile
				there++
				return nil
			}
			if err == nil && sync != nil {
				err = sync(key)
			}
			if err != nil {
				return fmt.Errorf("copy %s: %w", key, err)
			}
			copied++
			return nil
		})
		if err != nil {
			return copied, there, err
		}
	}
	return copied, there, nil
}

// isManifest reports whether an object is a manifest; see package archive for the names.
func isManifest(key string) bool { return strings.Contains(key, "/manifest/") }

func list(ctx context.Context, b *blob.Bucket, each func(key string) error) error {
	for it := b.List(nil); ; {
		object, err := it.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = each(object.Key)
		}
		if err != nil {
			return err
		}
	}
}

// put copies one object. Whoever reads the bucket sees all of it, or none.
func put(ctx context.Context, from, to *blob.Bucket, key string) (err error) {
	r, err := from.NewReader(ctx, key, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // before Close, it takes back what was written
	w, err := to.NewWriter(ctx, key, &blob.WriterOptions{IfNotExist: true, ContentType: "application/zstd"})
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		cancel()
		return errors.Join(err, w.Close())
	}
	return w.Close()
}
