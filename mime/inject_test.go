package mime_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

// textFields calls visit with every text of a value that has a header to break out of, also those that nobody has set.
func textFields(v reflect.Value, path string, visit func(path string, text reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		visit(path, v)
	case reflect.Pointer:
		if !v.IsNil() {
			textFields(v.Elem(), path, visit)
		}
	case reflect.Slice:
		if v.Len() == 0 && v.CanSet() && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			defer v.SetZero()
			switch first := v.Index(0).Addr().Interface().(type) {
			case *mime.Address:
				first.Email = "carol@example.org"
			case *mime.Field:
				first.Name = "X-Ours"
			}
		}
		for i := range v.Len() {
			textFields(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				textFields(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
			}
		}
	default:
	}
}

// No text of a message that is built takes a line break or a NUL, except for what is content.
func TestNoFieldTakesALineBreak(t *testing.T) {
	content := []string{".Text", ".HTML", ".Calendar.Text"}
	refused := 0
	for name, build := range map[string]func() *mime.Outgoing{
		"letter": func() *mime.Outgoing {
			o := kinds["invitation"]
			return &o
		},
		"bounce": func() *mime.Outgoing {
			return &mime.Outgoing{From: []mime.Address{bob}, To: []mime.Address{bob}, Bounce: testBounce()}
		},
		"receipt": func() *mime.Outgoing {
			return &mime.Outgoing{From: []mime.Address{bob}, To: []mime.Address{bob}, Receipt: receipt()}
		},
	} {
		o := build()
		_, err := o.Build()
		require.NoError(t, err, name)
		textFields(reflect.ValueOf(o), "", func(path string, text reflect.Value) {
			if slices.Contains(content, path) {
				return
			}
			before := text.String()
			for _, injected := range []string{"a@b.example\r\nX-Injected: 1", "a@b.example\nX-Injected: 1", "a\rb", "a\x00b"} {
				text.SetString(injected)
				raw, err := o.Build()
				if err == nil { // it may be left out, as what a reader concludes is
					require.NotContains(t, string(raw), injected, "%s%s", name, path)
					require.NotContains(t, string(raw), "X-Injected", "%s%s", name, path)
					continue
				}
				refused++
			}
			text.SetString(before)
		})
	}
	require.Greater(t, refused, 150)
}
