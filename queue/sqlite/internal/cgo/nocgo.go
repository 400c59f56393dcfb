//go:build !cgo

package cgo

// The name is the message: the compiler prints it.
const _ = queue_sqlite_needs_cgo__install_a_C_compiler_such_as_gcc_and_build_with_CGO_ENABLED_1__or_use_queue_postgres
