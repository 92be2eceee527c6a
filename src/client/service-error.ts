import { answerIn, type Failure } from './failure.ts';
import { type FailedCall, sentenceOf } from './sentence.ts';

/** Why an operation has no result. Its message is a sentence for a person, in one line. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly failure: Failure;
  readonly method: string;
  readonly path: string;
  readonly attempts: number;

  constructor(call: FailedCall, failure: Failure) {
    super(sentenceOf(call, failure));
    this.failure = failure;
    this.method = call.method;
    this.path = call.path;
    this.attempts = call.attempts;
  }

  /** Of the last answer, where there was one. */
  get status(): number | undefined {
    return answerIn(this.failure)?.status;
  }

  get requestId(): string | undefined {
    return answerIn(this.failure)?.requestId;
  }
}
