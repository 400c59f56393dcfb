package cli

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/mcp"
)

func mcpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let an assistant on this machine read the mail and what was done with it",
		Long: "Let an assistant on this machine read the stored mail and what was done with it, by the Model Context Protocol on standard\n" +
			"input and output. A program such as a desktop assistant starts it by itself:\n\n" +
			"    {\"mcpServers\": {\"mail\": {\"command\": \"postroomd\", \"args\": [\"mcp\"]}}}\n\n" +
			"The assistant can send, delete and approve nothing. With --propose it proposes labels, archiving and the like: the safety gate\n" +
			"judges them as those of a model, and 'postroomd run' carries out what passes. Each call is on record.",
		Args: cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	caller := mcp.Caller{}
	cmd.Flags().StringVar(&caller.Name, "name", "stdio", "the name of the assistant on record")
	cmd.Flags().BoolVar(&caller.Propose, "propose", false, "also let it propose actions")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			return mcp.NewServer(h, caller).Run(ctx, &sdk.StdioTransport{})
		})
	}
	return cmd
}
