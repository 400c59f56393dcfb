package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// The bounds of content, in bytes. Gmail's own are below.
const (
	maxMail     = 128 << 20
	maxManifest = 64 << 20
	// window is how far back compressed content refers, which is what a reader has to keep of it.
	window = 4 << 20
	// overhead is the most by which compression and encryption make content longer: both frame it by blocks.
	overhead = 64 << 10
)

// The faults of an object that was read.
var (
	// ErrMissing reports an object that is not in the bucket.
	ErrMissing = errors.New("it is missing from the bucket")
	// ErrUnreadable reports an object that cannot be decrypted or decompressed, such as one that was cut.
	ErrUnreadable = errors.New("it cannot be read")
	// ErrAltered reports an object with other content than was archived.
	ErrAltered = errors.New("it is not what was archived")
	// ErrTooLarge reports an object that is, or would become when it is decompressed, larger than what was archived.
	ErrTooLarge = errors.New("it is larger than what was archived")
	// ErrNoKey reports an encrypted object without a key for it in [Config].Keys. It may be as it was archived.
	ErrNoKey = errors.New("it is encrypted, and none of the keys of the archive opens it: add the one that it was " +
		"written with (archive.key_file)")
)

// errExists reports that an object is in the bucket already.
var errExists = errors.New("archive: the object exists already")

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// seal compresses content, and encrypts it if there is a key.
func (a *Archive) seal(content []byte) ([]byte, error) {
	var out bytes.Buffer
	var to io.WriteCloser = nopCloser{&out}
	if a.sealed() {
		var err error
		if to, err = age.Encrypt(&out, summed{a.cfg.Keys[0].Recipient()}); err != nil {
			return nil, fmt.Errorf("archive: encrypt: %w", err)
		}
	}
	pack, _ := a.packers.Get().(*zstd.Encoder)
	if pack == nil {
		var err error
		if pack, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window),
			zstd.WithLowerEncoderMem(true)); err != nil {
			return nil, fmt.Errorf("archive: compress: %w", err)
		}
	}
	defer a.packers.Put(pack)
	pack.Reset(to)
	_, err := pack.Write(content)
	if err = errors.Join(err, pack.Close(), to.Close()); err != nil {
		return nil, fmt.Errorf("archive: compress: %w", err)
	}
	return out.Bytes(), nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// unseal is the reverse of seal, for content of at most most bytes.
func (a *Archive) unseal(object io.Reader, most int64) ([]byte, error) {
	from, err := a.decrypt(bufio.NewReader(object))
	if err != nil {
		return nil, err
	}
	unpack, _ := a.unpackers.Get().(*zstd.Decoder)
	if unpack == nil {
		var err error
		if unpack, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(2*window)); err != nil {
			return nil, fmt.Errorf("archive: decompress: %w", err)
		}
	}
	defer a.unpackers.Put(unpack)
	if err := unpack.Reset(from); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	content, err := io.ReadAll(io.LimitReader(unpack, most+1))
	switch {
	case int64(len(content)) > most:
		return nil, ErrTooLarge
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return content, nil
}

// put writes an object, which must not exist yet unless it is replaced, and makes it durable.
func (a *Archive) put(ctx context.Context, key string, data []byte, replace bool) error {
	err := a.cfg.Bucket.WriteAll(ctx, key, data, &blob.WriterOptions{IfNotExist: !replace,
		ContentType: "application/octet-stream"})
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return errExists
	}
	if err == nil && a.cfg.Sync != nil {
		err = a.cfg.Sync(key)
	}
	if err != nil {
		return fmt.Errorf("archive: write %s: %w", key, err)
	}
	return nil
}

// read returns the content of an object, which has at most most bytes.
func (a *Archive) read(ctx context.Context, key string, most int64) ([]byte, error) {
	r, err := a.cfg.Bucket.NewReader(ctx, key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, fmt.Errorf("archive: read %s: %w", key, err)
	}
	defer r.Close()
	if r.Size() > most+most/64+overhead {
		return nil, ErrTooLarge
	}
	return a.unseal(r, most)
}

// isFault reports whether the content is at fault, and not the way to it.
func isFault(err error) bool {
	for _, fault := range []error{ErrMissing, ErrUnreadable, ErrAltered, ErrTooLarge, ErrNoKey} {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}

// readMail returns a message, which is what was archived, or the error says what is wrong. The object is encrypted or
// not, as it was when it was written.
func (a *Archive) readMail(ctx context.Context, accountID, sum string, size int64) (raw []byte, err error) {
	for _, sealed := range []bool{a.sealed(), !a.sealed()} {
		raw, err = a.read(ctx, rawKey(accountID, sum, sealed), size)
		if !errors.Is(err, ErrMissing) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) != size || sumOf(raw) != sum {
		return nil, ErrAltered
	}
	return raw, nil
}

// writeMail writes a message unless it is there, reads it back, and returns its SHA-256. A damaged object of that name
// is replaced: by its name it is this message.
func (a *Archive) writeMail(ctx context.Context, accountID string, raw []byte) (sum string, err error) {
	if len(raw) > maxMail {
		return "", fmt.Errorf("archive: the message has %d bytes, more than %d", len(raw), maxMail)
	}
	sum = sumOf(raw)
	_, err = a.readMail(ctx, accountID, sum, int64(len(raw)))
	if err == nil && a.cfg.Sync != nil { // it may be from before a crash
		err = a.syncMail(accountID, sum)
	}
	if err == nil || !isFault(err) || errors.Is(err, ErrNoKey) {
		return sum, wrapMail(sum, err)
	}
	replace := !errors.Is(err, ErrMissing)
	data, err := a.seal(raw)
	if err == nil {
		err = a.put(ctx, rawKey(accountID, sum, a.sealed()), data, replace)
	}
	if err == nil || errors.Is(err, errExists) {
		_, err = a.readMail(ctx, accountID, sum, int64(len(raw)))
	}
	return sum, wrapMail(sum, err)
}

// syncMail syncs a message under the name that it has.
func (a *Archive) syncMail(accountID, sum string) error {
	if err := a.cfg.Sync(rawKey(accountID, sum, a.sealed())); err == nil {
		return nil
	}
	return a.cfg.Sync(rawKey(accountID, sum, !a.sealed()))
}

func wrapMail(sum string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("archive: the object of the message %s: %w", sum, err)
}
