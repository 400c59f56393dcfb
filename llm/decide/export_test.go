package decide

// Newsletter is a mail of a template, see template_test.go.
var Newsletter = newsletter
