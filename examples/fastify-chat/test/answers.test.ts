import { chatServers } from '../../chat/test/chatServer.js'
import { answerTests } from '../../chat/test/answers.js'

answerTests(chatServers('fastify-chat'))
