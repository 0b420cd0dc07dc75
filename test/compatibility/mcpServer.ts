import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { RequestHandler } from 'express'
import { ANSWER } from './answers.js'

/** An MCP server without sessions, as its documentation has it: all of it lives for one request. */
export const answerMcp: RequestHandler = async (req, res) => {
  if (req.method !== 'POST') {
    res.sendStatus(405)
    return
  }
  const server = new McpServer({ name: 'server', version: '1.0.0' })
  server.registerTool('greet', {}, () => ({ content: [{ type: 'text', text: ANSWER }] }))
  const transport = new StreamableHTTPServerTransport({})
  res.on('close', () => void server.close())
  await server.connect(transport)
  await transport.handleRequest(req, res, req.body)
}
