import { chatServers } from '../../chat/test/chatServer.js'
import { pageTests } from '../../chat/test/page.js'

pageTests(chatServers('fastify-chat'))
