import { Controller, Get, Inject, Query } from '@nestjs/common'
import type { FairQueueContext } from '@fairqueue/core/http'
import { AnswersService } from './answers.service.js'
import { Turn } from './lines/inTurn.js'
import { QuestionPipe } from './question.pipe.js'

/** The other way: a middleware in front of all its routes (see `AppModule`). */
@Controller('search')
export class SearchController {
  readonly #answers: AnswersService

  constructor(@Inject(AnswersService) answers: AnswersService) {
    this.#answers = answers
  }

  @Get()
  async search(
    @Query('question', QuestionPipe) question: string,
    @Turn() { signal }: FairQueueContext,
  ): Promise<object> {
    const found: string[] = []
    for await (const word of this.#answers.words(question, signal)) found.push(word)
    return { found }
  }
}
