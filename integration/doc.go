// Package integration runs the daemon against the real programs of others: a node of OpenSearch, a VictoriaLogs and a Prometheus, all on the
// loopback interface and nowhere else.
//
// Its tests have the build tag integration, so that go test ./... neither sees nor waits for them:
//
//	make integration
//
// They install what they need: OpenSearch with its libraries from Maven Central, by mvn and the pom of testdata; VictoriaLogs from the Go
// module proxy, by go install; and Prometheus, where there is none, out of Debian's package. That takes some minutes once and is kept
// in a folder of the user's cache directory (os.UserCacheDir, veneur-integration). What is needed before is a Java Development Kit of
// version 11 to 21, Maven and Go, and apt-get or a Prometheus. What cannot be installed or does not start fails the tests, and says
// what to do; nothing is skipped.
//
// A node of OpenSearch is a Java process of half a gigabyte of heap, started by testdata/opensearch/SingleNode.java. Its data is in a
// directory of the test, and it ends with the test's process, whatever that dies of.
package integration
