//go:build !unix || aix || solaris

package ingest

import (
	"io/fs"
	"os"
)

const noFollow = 0

// tryLock does nothing here: that somebody listens is then seen only by connecting.
func tryLock(*os.File) error { return nil }

func beforeBind(fs.FileMode) controlFunc { return nil }
