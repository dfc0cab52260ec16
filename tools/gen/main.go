// Command gen writes the .pb.go file of each schema named in tools/protos, by gogofast and without protoc. Both the compiler and
// the generator are libraries pinned in tools/go.mod, so that any machine with Go gets the same bytes; protoc with
// protoc-gen-gogofast, run by tools/generate.sh where protoc is installed, gives them too.
//
// Usage, from the folder tools:
//
//	go run ./gen          write
//	go run ./gen -check   write nothing, exit 1 if a file is not what would be written
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	gogo "github.com/gogo/protobuf/proto"
	plugin "github.com/gogo/protobuf/protoc-gen-gogo/plugin"
	"github.com/gogo/protobuf/vanity"
	"github.com/gogo/protobuf/vanity/command"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	root := flag.String("root", "..", "the `folder` of the project")
	check := flag.Bool("check", false, "compare with the files that are there instead of writing them")
	flag.Parse()
	run := each
	if flag.NArg() == 1 {
		run = func(root string, check bool) error { return renew(root, flag.Arg(0), check) }
	}
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// each runs this program once for every schema: gogofast's plugins keep state from the first file they see, and give other code
// for a second one.
func each(root string, check bool) error {
	list, err := os.ReadFile(filepath.Join(root, "tools", "protos"))
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var errs []error
	for _, schema := range strings.Fields(string(list)) {
		out, err := exec.Command(self, "-root", root, fmt.Sprintf("-check=%t", check), schema).CombinedOutput()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w\n%s", schema, err, out))
		}
	}
	return errors.Join(errs...)
}

// gogoDir finds the folder that holds gogoproto/gogo.proto, in the version that the generator has.
func gogoDir() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gogo/protobuf").Output()
	if err != nil {
		return "", fmt.Errorf("find gogo/protobuf: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func renew(root, schema string, check bool) error {
	include, err := gogoDir()
	if err != nil {
		return err
	}
	req, err := compile([]string{root, include}, schema)
	if err != nil {
		return err
	}
	files, err := generate(req)
	if err != nil {
		return fmt.Errorf("generate %s: %w", schema, err)
	}
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.GetName()))
		if !check {
			if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
				return err
			}
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, []byte(f.GetContent())) {
			return fmt.Errorf("%s is not what %s gives: run make generate", f.GetName(), schema)
		}
	}
	return nil
}

// compile makes the request that protoc would hand to a plugin.
func compile(path []string, schema string) (*plugin.CodeGeneratorRequest, error) {
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: path}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	linked, err := c.Compile(context.Background(), schema)
	if err != nil {
		return nil, err
	}
	req := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{schema},
		Parameter:      proto.String("paths=source_relative"),
	}
	req.ProtoFile = withImports(req.ProtoFile, map[string]bool{}, linked[0])

	// The two protobuf libraries have types of their own for one request: its bytes are what they share.
	wire, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	out := new(plugin.CodeGeneratorRequest)
	if err := gogo.Unmarshal(wire, out); err != nil {
		return nil, err
	}
	return out, nil
}

// withImports appends f after everything it imports, each file once.
func withImports(list []*descriptorpb.FileDescriptorProto, seen map[string]bool, f protoreflect.FileDescriptor) []*descriptorpb.FileDescriptorProto {
	if seen[f.Path()] {
		return list
	}
	seen[f.Path()] = true
	for i := range f.Imports().Len() {
		list = withImports(list, seen, f.Imports().Get(i).FileDescriptor)
	}
	return append(list, protoutil.ProtoFromFileDescriptor(f))
}

// generate does what the program protoc-gen-gogofast does with a request.
func generate(req *plugin.CodeGeneratorRequest) ([]*plugin.CodeGeneratorResponse_File, error) {
	own := vanity.FilterFiles(req.GetProtoFile(), vanity.NotGoogleProtobufDescriptorProto)
	vanity.ForEachFile(own, vanity.TurnOnMarshalerAll)
	vanity.ForEachFile(own, vanity.TurnOnSizerAll)
	vanity.ForEachFile(own, vanity.TurnOnUnmarshalerAll)
	resp := command.Generate(req)
	if resp.Error != nil {
		return nil, errors.New(resp.GetError())
	}
	return resp.File, nil
}
