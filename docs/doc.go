// Package docs holds the documents about the whole program, and the tests that keep them true.
package docs
