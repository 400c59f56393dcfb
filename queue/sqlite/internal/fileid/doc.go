// Package fileid tells whether a path still leads to the file that it led to before.
package fileid
