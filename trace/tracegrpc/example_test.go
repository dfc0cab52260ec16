package tracegrpc_test

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/veneurd/veneur/trace/tracegrpc"
)

// Spans go to a daemon's gRPC address.
func ExampleNewClient() {
	client, err := tracegrpc.NewClient("grpc://127.0.0.1:8128")
	if err != nil {
		panic(err)
	}
	defer client.Close(context.Background())
	client.StartTrace("work").Finish()
}

// Every call that a service gets or makes is a span.
func ExampleUnaryServer() {
	client, err := tracegrpc.NewClient("grpc://127.0.0.1:8128")
	if err != nil {
		panic(err)
	}
	defer client.Close(context.Background())
	server := grpc.NewServer(
		grpc.UnaryInterceptor(tracegrpc.UnaryServer(client)),
		grpc.StreamInterceptor(tracegrpc.StreamServer(client)))
	defer server.Stop()

	conn, err := grpc.NewClient("127.0.0.1:50051",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(tracegrpc.UnaryClient()),
		grpc.WithStreamInterceptor(tracegrpc.StreamClient()))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
}
