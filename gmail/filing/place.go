package filing

import (
	"context"
	"fmt"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/postroom-go/postroom/gmail/internal/safefolder"
)

// A place has files. Names have slashes between folders. Only hash reads a file that is none of ours.
type place interface {
	// hash returns the hash of a file; empty if there is none, and "other" for what is larger than any of ours.
	hash(ctx context.Context, name string) (string, error)
	// put writes a file, and reports whether it is there: it is not if another one is. One with this content is taken for
	// it.
	put(ctx context.Context, name string, content []byte) (bool, error)
	// remove removes a file that has a hash. It reports whether the file is gone; one that was gone is.
	remove(ctx context.Context, name, sum string) (bool, error)
	explain(err error) error
	close() error
}

// open opens the folder, which has to be there, or the bucket.
func (c *Cabinet) open() (place, error) {
	if c.cfg.Bucket != nil {
		return bucketPlace{c.cfg.Bucket, c.cfg.Sync}, nil
	}
	f, err := safefolder.Open(c.cfg.Folder, words)
	return folderPlace{f}, err
}

type folderPlace struct{ safefolder.Folder }

var _ place = folderPlace{}

func (p folderPlace) hash(_ context.Context, name string) (string, error) { return p.Hash(name) }

func (p folderPlace) put(_ context.Context, name string, content []byte) (bool, error) {
	return p.Place(name, content)
}

func (p folderPlace) remove(_ context.Context, name, sum string) (bool, error) {
	return p.Remove(name, sum)
}

func (p folderPlace) explain(err error) error { return p.Explain(err) }

func (p folderPlace) close() error { return p.Close() }

type bucketPlace struct {
	bucket *blob.Bucket
	sync   func(key string) error // nil: what is written is durable
}

var _ place = bucketPlace{}

func (p bucketPlace) fails(operation, name string, err error) error {
	return fmt.Errorf("filing: %s %s in the bucket: %w", operation, name, err)
}

func (p bucketPlace) hash(ctx context.Context, name string) (string, error) {
	info, err := p.bucket.Attributes(ctx, name)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return "", nil
	}
	if err != nil {
		return "", p.fails("look at", name, err)
	}
	if info.Size > MaxSize {
		return "other", nil
	}
	content, err := p.bucket.ReadAll(ctx, name)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return "", nil
	}
	if err != nil {
		return "", p.fails("read", name, err)
	}
	return safefolder.HashOf(content), nil
}

// put writes an object of a type that no browser shows as a page.
func (p bucketPlace) put(ctx context.Context, name string, content []byte) (bool, error) {
	err := p.bucket.WriteAll(ctx, name, content, &blob.WriterOptions{IfNotExist: true,
		ContentType: "application/octet-stream"})
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		found, err := p.hash(ctx, name)
		if err != nil || found != safefolder.HashOf(content) {
			return false, err
		}
	} else if err != nil {
		return false, p.fails("write", name, err)
	}
	if p.sync != nil {
		if err := p.sync(name); err != nil {
			return false, p.fails("sync", name, err)
		}
	}
	return true, nil
}

func (p bucketPlace) remove(ctx context.Context, name, sum string) (bool, error) {
	found, err := p.hash(ctx, name)
	if err != nil || found == "" || found != sum {
		return found == "" && err == nil, err
	}
	if err := p.bucket.Delete(ctx, name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return false, p.fails("remove", name, err)
	}
	return true, nil
}

func (p bucketPlace) explain(err error) error { return err }

func (p bucketPlace) close() error { return nil }
