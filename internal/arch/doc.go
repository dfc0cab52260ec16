// Package arch holds the tests that keep the architecture true: which package may import which, and what no source file may contain. They judge
// every file of the module, those of other operating systems and those added later included, and what they find is printed as
// "file:line: what is wrong and what to do". A rule that must change is changed here, in the same commit, where a reviewer sees it.
package arch
