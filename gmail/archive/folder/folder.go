// Package folder opens a folder as a bucket for package archive.
//
// Objects are files, readable by their owner alone, and written beside their final name, so that the folder can be on
// another disk than the temporary folder. gocloud.dev does not sync them: [Bucket.Sync] does, and after it the object
// survives a loss of power, as far as the disk keeps its word.
package folder

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
)

// A Bucket is a bucket in a folder. [Open] makes one; Close it after use.
type Bucket struct {
	*blob.Bucket
	dir   string
	named sync.Map // folders whose own names are durable
}

// Open opens the folder, which is created if it is missing.
func Open(dir string) (*Bucket, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("archive: the folder %q must be an absolute path", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("archive: make the folder: %w", err)
	}
	bucket, err := fileblob.OpenBucket(dir, &fileblob.Options{NoTempDir: true, DirFileMode: 0o700,
		Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return nil, fmt.Errorf("archive: open the folder: %w", err)
	}
	return &Bucket{Bucket: bucket, dir: filepath.Clean(dir)}, nil
}

// Path returns the folder of a URL such as file:///srv/mail.
func Path(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" || u.Host != "" || u.RawQuery != "" || !filepath.IsAbs(u.Path) {
		return "", fmt.Errorf("archive: %q is no URL of a folder; write file:/// and its absolute path", address)
	}
	return filepath.Clean(u.Path), nil
}

// Sync makes an object that was written durable: the file, and the folders that name it. Only its owner can read it
// from then on.
func (b *Bucket) Sync(key string) error {
	file := filepath.Join(b.dir, filepath.FromSlash(key))
	if err := os.Chmod(file, 0o600); err != nil {
		return fmt.Errorf("archive: sync: %w", err)
	}
	if err := syncPath(file); err != nil {
		return fmt.Errorf("archive: sync: %w", err)
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if err := syncPath(dir); err != nil {
			return fmt.Errorf("archive: sync: %w", err)
		}
		if _, known := b.named.LoadOrStore(dir, true); known || dir == b.dir {
			return nil
		}
	}
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
