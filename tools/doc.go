// Package tools tests the project's own tooling: that the linter holds the house rules it is there for.
package tools
