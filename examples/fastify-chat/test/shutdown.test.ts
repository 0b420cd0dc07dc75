import { chatServers } from '../../chat/test/chatServer.js'
import { shutdownTests } from '../../chat/test/shutdown.js'

shutdownTests(chatServers('fastify-chat'))
