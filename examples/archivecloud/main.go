// Archivecloud keeps a second copy of an archive of mail in a cloud: in a bucket of Google Cloud Storage, or of S3 and
// of what speaks its protocol.
//
//	archivecloud push FOLDER URL      copy to the bucket what it does not have, and replace nothing there
//	archivecloud pull URL FOLDER      copy it back into an empty folder
//	archivecloud verify URL           read the bucket alone, and check each message and the chain of its manifests
//
// FOLDER is what postroomd's archive.folder names. URL is gs://BUCKET or s3://BUCKET?region=REGION, as the packages
// gcsblob and s3blob of gocloud.dev read it, with credentials where their programs look for them; ?prefix=a/b/ keeps it
// below a prefix. An encrypted archive is copied as it is; to verify it, POSTROOM_ARCHIVE_KEY has its key.
//
// It is a module of its own: the libraries of the clouds are larger than postroomd. A host that wants its archive in a
// cloud and in no folder gives the bucket to [archive.Config] itself, as the tests here do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"filippo.io/age"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/archive/folder"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "archivecloud:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

const usage = `usage:
  archivecloud push FOLDER URL
  archivecloud pull URL FOLDER
  archivecloud verify URL`

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("archivecloud", flag.ContinueOnError)
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch args = flags.Args(); {
	case len(args) == 3 && args[0] == "push":
		return push(ctx, args[1], args[2], out)
	case len(args) == 3 && args[0] == "pull":
		return pull(ctx, args[1], args[2], out)
	case len(args) == 2 && args[0] == "verify":
		return verify(ctx, args[1], out)
	}
	return errors.New(usage)
}

// push copies the archive of a folder. Messages come before the manifests that name them, so that what was copied when
// it ends early can be verified.
func push(ctx context.Context, dir, url string, out io.Writer) error {
	if _, err := os.Stat(dir); err != nil { // Open would make it
		return err
	}
	from, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return err
	}
	defer to.Close()
	return report(out, url)(transfer(ctx, from.Bucket, to, nil))
}

func pull(ctx context.Context, url, dir string, out io.Writer) error {
	from, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		return errors.Join(err, fmt.Errorf("%s is not empty: name a new folder", dir))
	}
	to, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer to.Close()
	return report(out, dir)(transfer(ctx, from, to.Bucket, to.Sync))
}

func openFolder(dir string) (*folder.Bucket, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return folder.Open(dir)
}

func report(out io.Writer, where string) func(copied, there int, err error) error {
	return func(copied, there int, err error) error {
		fmt.Fprintf(out, "%s: %d objects copied, %d were there\n", where, copied, there)
		return err
	}
}

// verify rebuilds the index of the bucket in a new database, and reads everything.
func verify(ctx context.Context, url string, out io.Writer) (err error) {
	keys, err := keysOf(os.Getenv("POSTROOM_ARCHIVE_KEY"))
	if err != nil {
		return err
	}
	bucket, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return err
	}
	defer bucket.Close()
	dir, err := os.MkdirTemp("", "archivecloud")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(ctx, filepath.Join(dir, "index.db"), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := archive.Migrate(ctx, db); err != nil {
		return err
	}
	kept, err := archive.New(archive.Config{DB: db, Bucket: bucket, Keys: keys})
	if err != nil {
		return err
	}
	return verifyAll(ctx, kept, out)
}

func keysOf(text string) ([]*age.X25519Identity, error) {
	if text == "" {
		return nil, nil
	}
	key, err := age.ParseX25519Identity(text)
	if err != nil {
		return nil, fmt.Errorf("POSTROOM_ARCHIVE_KEY is no key of age, as AGE-SECRET-KEY-1…: %w", err)
	}
	return []*age.X25519Identity{key}, nil
}

func verifyAll(ctx context.Context, kept *archive.Archive, out io.Writer) error {
	accounts, err := kept.Accounts(ctx)
	if err != nil {
		return err
	}
	if len(accounts) == 0 {
		return errors.New("the bucket holds no archive")
	}
	bad := 0
	for _, id := range accounts {
		if err := kept.Rebuild(ctx, id); err != nil {
			return fmt.Errorf("account %s: %w", id, err)
		}
		manifests, err := kept.VerifyChain(ctx, id)
		if err != nil {
			return fmt.Errorf("account %s: %w", id, err)
		}
		checked, faults, err := kept.Verify(ctx, id, true)
		if err != nil {
			return fmt.Errorf("account %s: %w", id, err)
		}
		bad += faults
		fmt.Fprintf(out, "account %s: %d messages are as they were archived, %d are not; %d manifests are a chain\n", id,
			checked-faults, faults, manifests)
	}
	if bad > 0 {
		return fmt.Errorf("%d messages are damaged or missing", bad)
	}
	return nil
}
