package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A store holds the objects of a cloud that a test has made.
type store struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func newStore() *store { return &store{objects: map[string][]byte{}} }

// put reports whether the object was stored; absent: only where none is.
func (s *store) put(key string, data []byte, absent bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.objects[key]; there && absent {
		return false
	}
	s.objects[key] = data
	return true
}

func (s *store) get(key string) (data []byte, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, found = s.objects[key]
	return data, found
}

func (s *store) remove(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, found := s.objects[key]
	delete(s.objects, key)
	return found
}

// A page is a part of a listing: objects, and the beginnings of names up to a delimiter, in the order of names.
type page struct {
	keys, prefixes []string
	next           string // the last name, if there are more
}

func (s *store) list(prefix, delimiter, after string) (p page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, n := after, 0
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		name, isPrefix := key, false
		if delimiter != "" {
			if i := strings.Index(key[len(prefix):], delimiter); i >= 0 {
				name, isPrefix = key[:len(prefix)+i+1], true
			}
		}
		if name <= last {
			continue
		}
		if n == pageSize {
			p.next = last
			return p
		}
		if last, n = name, n+1; isPrefix {
			p.prefixes = append(p.prefixes, name)
		} else {
			p.keys = append(p.keys, name)
		}
	}
	return p
}

const (
	bucketName = "mail"
	pageSize   = 3 // so that listing needs several
)

// newS3 serves a bucket as S3 does, as far as this program needs it.
func newS3(t *testing.T) (address string, objects *store) {
	t.Helper()
	s := newStore()
	server := httptest.NewServer(http.HandlerFunc(s.serveS3))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "me")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	return "s3://" + bucketName + "?" + url.Values{"region": {"eu-central-1"}, "endpoint": {server.URL},
		"use_path_style": {"true"}, "response_checksum_validation": {"when_required"}}.Encode(), s
}

type s3Error struct {
	XMLName xml.Name `xml:"Error"`
	Code    string
}

type s3List struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	Name                  string
	IsTruncated           bool
	NextContinuationToken string `xml:",omitempty"`
	Contents              []s3Object
	CommonPrefixes        []s3Prefix
}

type s3Prefix struct{ Prefix string }

type s3Object struct {
	Key, LastModified, ETag string
	Size                    int
}

func (s *store) serveS3(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/"+bucketName), "/")
	fail := func(status int, code string) {
		w.WriteHeader(status)
		_ = xml.NewEncoder(w).Encode(s3Error{Code: code})
	}
	switch {
	case r.Method == http.MethodPut:
		data, err := s3Body(r)
		if err != nil {
			fail(http.StatusBadRequest, "IncompleteBody")
		} else if !s.put(key, data, r.Header.Get("If-None-Match") == "*") {
			fail(http.StatusPreconditionFailed, "PreconditionFailed")
		}
	case r.Method == http.MethodDelete:
		s.remove(key)
		w.WriteHeader(http.StatusNoContent)
	case key == "":
		query := r.URL.Query()
		p := s.list(query.Get("prefix"), query.Get("delimiter"), query.Get("continuation-token"))
		list := s3List{Name: bucketName, IsTruncated: p.next != "", NextContinuationToken: p.next}
		for _, prefix := range p.prefixes {
			list.CommonPrefixes = append(list.CommonPrefixes, s3Prefix{prefix})
		}
		for _, key := range p.keys {
			data, _ := s.get(key)
			list.Contents = append(list.Contents, s3Object{key, time.Now().UTC().Format(time.RFC3339), `"x"`, len(data)})
		}
		_ = xml.NewEncoder(w).Encode(list)
	default:
		data, found := s.get(key)
		if !found {
			fail(http.StatusNotFound, "NoSuchKey")
			return
		}
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data)
	}
}

// s3Body reads a body, which may be in chunks of S3's own, each with its length before it.
func s3Body(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var data bytes.Buffer
	for in := bufio.NewReader(r.Body); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		length, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(length, 16, 32)
		if err != nil || n == 0 {
			return data.Bytes(), err
		}
		if _, err := io.CopyN(&data, in, n); err != nil {
			return nil, err
		}
		if _, err := in.Discard(len("\r\n")); err != nil {
			return nil, err
		}
	}
}

// newGCS serves a bucket as Google Cloud Storage does, as far as this program needs it.
func newGCS(t *testing.T) (address string, objects *store) {
	t.Helper()
	s := newStore()
	server := httptest.NewServer(http.HandlerFunc(s.serveGCS))
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
	return "gs://" + bucketName + "?anonymous=true", s
}

type gcsObject struct {
	Name       string `json:"name"`
	Bucket     string `json:"bucket"`
	Size       string `json:"size"`
	Generation string `json:"generation"`
	Updated    string `json:"updated"`
}

func (s *store) gcsObject(key string) gcsObject {
	data, _ := s.get(key)
	return gcsObject{key, bucketName, strconv.Itoa(len(data)), "1", time.Now().UTC().Format(time.RFC3339)}
}

func (s *store) serveGCS(w http.ResponseWriter, r *http.Request) {
	answer := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // the test sees what was not written
	}
	fail := func(status int) {
		answer(status, map[string]any{"error": map[string]any{"code": status, "message": http.StatusText(status)}})
	}
	const one = "/storage/v1/b/" + bucketName + "/o"
	query := r.URL.Query()
	switch key, isObject := strings.CutPrefix(r.URL.Path, one+"/"); {
	case r.Method == http.MethodPost:
		name, data, err := gcsUpload(r)
		switch {
		case err != nil:
			fail(http.StatusBadRequest)
		case !s.put(name, data, query.Get("ifGenerationMatch") == "0"):
			fail(http.StatusPreconditionFailed)
		default:
			answer(http.StatusOK, s.gcsObject(name))
		}
	case r.Method == http.MethodDelete:
		if !s.remove(key) {
			fail(http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Path == one:
		p := s.list(query.Get("prefix"), query.Get("delimiter"), query.Get("pageToken"))
		var items []gcsObject
		for _, key := range p.keys {
			items = append(items, s.gcsObject(key))
		}
		answer(http.StatusOK, map[string]any{"items": items, "prefixes": p.prefixes, "nextPageToken": p.next})
	case isObject && query.Get("alt") != "media":
		if _, found := s.get(key); !found {
			fail(http.StatusNotFound)
			return
		}
		answer(http.StatusOK, s.gcsObject(key))
	default:
		if !isObject {
			key = strings.TrimPrefix(r.URL.Path, "/"+bucketName+"/")
		}
		data, found := s.get(key)
		if !found {
			fail(http.StatusNotFound)
			return
		}
		w.Header().Set("X-Goog-Generation", "1")
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data)
	}
}

// gcsUpload reads an object and its name from a body of two parts.
func gcsUpload(r *http.Request) (name string, data []byte, err error) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return "", nil, err
	}
	parts := multipart.NewReader(r.Body, params["boundary"])
	about, err := parts.NextPart()
	if err != nil {
		return "", nil, err
	}
	var object gcsObject
	if err := json.NewDecoder(about).Decode(&object); err != nil {
		return "", nil, fmt.Errorf("about the object: %w", err)
	}
	content, err := parts.NextPart()
	if err != nil {
		return "", nil, err
	}
	data, err = io.ReadAll(content)
	return object.Name, data, err
}
