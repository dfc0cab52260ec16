// Package bench measures our libraries beside others that do the same work, in one run, so that the machine is the same for all of them:
//
//	make bench-rivals
//
// It holds nothing but benchmarks, a file for each topic, in which the sub-benchmarks are named after the library. Each says what is the same
// work, and where it is not quite. Read ratios: times depend on the machine.
package bench
