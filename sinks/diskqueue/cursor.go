package diskqueue

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// cursor is where the oldest record that is not done begins. It is written in place, in one small write: one that a crash has torn is found
// out by its CRC, and then everything that is there counts as not done.
type cursor struct {
	mu   sync.Mutex // held while it is written
	file *os.File
	buf  [cursorSize]byte // what the file holds, or zeros
}

const (
	cursorName = "cursor"
	cursorSize = 8 + 8 + 4
)

// openCursor opens or makes the file and returns what it says; zeros when it says nothing.
func openCursor(dir string) (c *cursor, segment uint64, offset int64, err error) {
	f, err := os.OpenFile(filepath.Join(dir, cursorName), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, 0, 0, err
	}
	c = &cursor{file: f}
	n, err := f.ReadAt(c.buf[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, 0, errors.Join(err, f.Close())
	}
	if n < cursorSize || binary.LittleEndian.Uint32(c.buf[16:]) != crc32.Checksum(c.buf[:16], castagnoli) {
		return c, 0, 0, nil
	}
	return c, binary.LittleEndian.Uint64(c.buf[:]), int64(binary.LittleEndian.Uint64(c.buf[8:])), nil
}

// set writes the place. It fails only as the disk fails; then more is sent again than need be.
func (c *cursor) set(segment uint64, offset int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	binary.LittleEndian.PutUint64(c.buf[:], segment)
	binary.LittleEndian.PutUint64(c.buf[8:], uint64(offset))
	binary.LittleEndian.PutUint32(c.buf[16:], crc32.Checksum(c.buf[:16], castagnoli))
	_, err := c.file.WriteAt(c.buf[:], 0)
	return err
}

// move has the cursor in the directory, which is another than it was.
func (c *cursor) move(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, cursorName), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := f.WriteAt(c.buf[:], 0); err != nil {
		return errors.Join(err, f.Close())
	}
	_ = c.file.Close() // of a file that nobody will read
	c.file = f
	return nil
}

func (c *cursor) close() error { return c.file.Close() }

// removed says that a file is gone, or was never there.
func removed(err error) bool { return err == nil || errors.Is(err, fs.ErrNotExist) }
