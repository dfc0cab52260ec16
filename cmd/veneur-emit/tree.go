package main

import (
	"context"
	"time"

	"github.com/veneurd/veneur/internal/spantree"
	"github.com/veneurd/veneur/ssf"
)

// defaultTreeRate is how many traces are sent a second.
const defaultTreeRate = 20

// emitTrees sends as many traces as the command line asks for, at its pace, over one connection, and stops early when ctx is done.
func (o *options) emitTrees(ctx context.Context, s streams) error {
	timeout, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	to, err := o.to.dial(timeout)
	if err != nil {
		return err
	}
	t := spantree.Traces{Tags: spanTags(o.tag), NewID: newSpanID}
	ticker := time.NewTicker(time.Duration(float64(time.Second) / float64(o.treeRate)))
	defer ticker.Stop()
	sent := 0
	for err == nil && t.Made() < o.trees {
		for _, span := range t.Next(time.Now()) {
			if err = sendWithin(ctx, to, span); err != nil {
				break
			}
			sent++
		}
		if t.Made() == o.trees {
			break
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-ticker.C:
		}
	}
	timeout, cancel = context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	if finished := to.finish(timeout); err == nil {
		err = finished
	}
	o.debugf(s, "%d spans of %d traces sent to %s", sent, t.Made(), o.to)
	return err
}

func sendWithin(ctx context.Context, to sender, span *ssf.SSFSpan) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return to.span(ctx, span)
}
