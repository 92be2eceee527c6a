//go:build tools

// Package linters makes go.mod and go.sum lock the version of actionlint, the newest that Go 1.19 of Debian 12 can compile.
package linters

import _ "github.com/rhysd/actionlint/cmd/actionlint"
