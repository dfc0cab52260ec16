package delivery

import "time"

// fromDisk takes the oldest record that waits on disk. What cannot be read back is given up.
func (w *worker) fromDisk() *parcel {
	d := w.disk
	if d == nil {
		return nil
	}
	for {
		r, lost, ok := d.queue.Next()
		w.damaged(lost.Items)
		if !ok {
			return nil
		}
		c, err := d.decode(r.Payload)
		if err == nil && c.len() == r.Items {
			p := &parcel{items: r.Items, born: r.Born, cargo: c, stored: true}
			if !w.queue.takeStored(p) {
				return nil
			}
			return p
		}
		d.queue.Damaged()
		w.damaged(r.Items)
	}
}

func (w *worker) damaged(items int) {
	if items > 0 {
		w.disk.dropped[dropDamaged].Add(uint64(items))
		w.queue.lose(items, expired)
	}
}

// lifetime is the age at which p is given up.
func (w *worker) lifetime(p *parcel) time.Duration {
	if p.stored {
		return w.cfg.DiskQueue.MaxAge
	}
	return w.cfg.ExpireAfter
}

// tooOld notes that n items of p are given up for their age.
func (w *worker) tooOld(p *parcel, n int) {
	if p.stored {
		w.disk.dropped[dropAge].Add(uint64(n))
	}
}
