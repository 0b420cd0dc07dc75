import { BadRequestException, Injectable, type PipeTransform } from '@nestjs/common'

@Injectable()
export class QuestionPipe implements PipeTransform<unknown, string> {
  transform(value: unknown): string {
    if (typeof value !== 'string' || value.trim() === '') throw new BadRequestException('There is no "question".')
    return value
  }
}
