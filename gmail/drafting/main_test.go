package drafting_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

func TestMain(m *testing.M) {
	text := os.Getenv(lifeEnv)
	if text == "" {
		dbtest.Main(m, queue.Migrate, mailstore.Migrate, safety.Migrate, replies.Migrate, drafting.Migrate)
		return
	}
	var o orders
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = o.follow(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
