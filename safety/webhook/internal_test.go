package webhook

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The example of the specification of Standard Webhooks.
func TestTheSignatureIsThatOfTheSpecification(t *testing.T) {
	key, err := decodeSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	require.NoError(t, err)
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)))
}
