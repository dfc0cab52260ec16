package ingest

import (
	"errors"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// message is a message of our services as it came: the lane's own decoder reads it, under the lane's lock, so that a call costs no
// copy of it in memory of another kind.
type message struct{ buffer mem.Buffer }

func (m *message) bytes() []byte {
	if m.buffer == nil {
		return nil
	}
	return m.buffer.ReadOnlyData()
}

func (m *message) free() {
	if m.buffer != nil {
		m.buffer.Free()
	}
}

// grpcCodec passes messages of our services through and leaves those of others, of the health service, to the codec for protobuf. It belongs
// to one server and is not registered, as registered names belong to the whole process.
type grpcCodec struct{ other encoding.CodecV2 }

func newGRPCCodec() grpcCodec { return grpcCodec{other: encoding.GetCodecV2(proto.Name)} }

// Name returns the content subtype of protobuf, which clients ask for.
func (grpcCodec) Name() string { return proto.Name }

// Marshal returns nothing for our own answers, which are empty messages.
func (c grpcCodec) Marshal(v any) (mem.BufferSlice, error) {
	if _, ours := v.(*message); ours {
		return nil, nil
	}
	return c.other.Marshal(v)
}

// Unmarshal takes a reference to data, or a copy where it is in several pieces.
func (c grpcCodec) Unmarshal(data mem.BufferSlice, v any) error {
	if m, ours := v.(*message); ours {
		m.buffer = data.MaterializeToBuffer(mem.DefaultBufferPool())
		return nil
	}
	return c.other.Unmarshal(data, v)
}

var errPacketMessage = errors.New("dogstatsd: not a DogstatsdPacket")

// packetBytes returns the field packetBytes, number 1, of a DogstatsdPacket; of several the last counts.
func packetBytes(data []byte) ([]byte, error) {
	var packet []byte
	for len(data) > 0 {
		number, wireType, n := protowire.ConsumeTag(data)
		if n < 0 || wireType == protowire.StartGroupType {
			return nil, errPacketMessage // nobody ever sent groups, and they nest
		}
		data = data[n:]
		if number == 1 && wireType == protowire.BytesType {
			packet, n = protowire.ConsumeBytes(data)
		} else {
			n = protowire.ConsumeFieldValue(number, wireType, data)
		}
		if n < 0 {
			return nil, errPacketMessage
		}
		data = data[n:]
	}
	return packet, nil
}
