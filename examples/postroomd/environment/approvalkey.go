package environment

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ApprovalKey returns the key that signs approvals: the configured key, or that of a file in the folder, which is
// created if it is missing. It returns nil on PostgreSQL, where several machines need the same key: the database
// stores one.
func (s *Environment) ApprovalKey() ([]byte, error) {
	switch {
	case s.Config.Policy.ApprovalKey != "":
		return []byte(s.Config.Policy.ApprovalKey), nil
	case s.Config.Paths.Database.Postgres():
		return nil, nil
	}
	return madeKey(s.Folder.keyFile())
}

// PageKey returns the key that signs the cookies of the page: that of a file in the folder, which is created if it is
// missing. Without a folder it is made for this process, and people sign in again after each start.
func (s *Environment) PageKey() ([]byte, error) {
	if s.Folder == "" {
		key := make([]byte, keyBytes)
		_, err := rand.Read(key)
		return key, err
	}
	if err := s.Folder.Create(); err != nil {
		return nil, err
	}
	return madeKey(s.Folder.pageKeyFile())
}

// madeKey reads the key of a file, which is created if it is missing.
func madeKey(path string) ([]byte, error) {
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(path); err == nil {
			key, err = readKey(path)
		}
	}
	return key, err
}

// OldApprovalKeys returns the previous keys, which verify their signatures: the configured one, and that of the file
// if another has replaced it.
func (s *Environment) OldApprovalKeys() (keys [][]byte, err error) {
	if before := s.Config.Policy.ApprovalKeyBefore; before != "" {
		keys = append(keys, []byte(before))
	}
	if s.Config.Policy.ApprovalKey == "" || s.Config.Paths.Database.Postgres() {
		return keys, nil
	}
	key, err := readKey(s.Folder.keyFile())
	if errors.Is(err, fs.ErrNotExist) {
		return keys, nil
	}
	return append(keys, key), err
}

const keyBytes = 32

func readKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) < keyBytes {
		return nil, fmt.Errorf("%s is no key of at least %d bytes in hexadecimal; remove it to have one made", path, keyBytes)
	}
	return key, nil
}

// makeKey writes a whole file at once. If several processes create one, the first stays.
func makeKey(path string) error {
	key := make([]byte, keyBytes)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = file.WriteString(hex.EncodeToString(key) + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		if err = os.Link(file.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, os.Remove(file.Name()))
}
