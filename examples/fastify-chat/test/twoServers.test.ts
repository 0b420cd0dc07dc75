import { chatServers } from '../../chat/test/chatServer.js'
import { twoServerTests } from '../../chat/test/twoServers.js'

twoServerTests(chatServers('fastify-chat'))
