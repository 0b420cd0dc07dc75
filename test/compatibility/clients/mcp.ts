import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { versioned, type Client } from './client.js'

export const mcpClients: readonly Client[] = [
  {
    name: `${versioned('@modelcontextprotocol/sdk')} callTool`,
    ask: async (url) => {
      const client = new McpClient({ name: 'client', version: '1.0.0' })
      try {
        await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
        const { content } = await client.callTool({ name: 'greet' })
        return (content as { text: string }[])[0]!.text
      } finally {
        await client.close()
      }
    },
  },
]
