import { createAdmission } from './admission.ts';
import type { Answer } from './answer.ts';
import { type Attempt, type AttemptContext, endedBy, type SendOnce } from './attempt.ts';
import { backoff } from './backoff.ts';
import type { SentRequest } from './connection.ts';
import type { Failure, Refused } from './failure.ts';
import type { Leave } from './gate.ts';
import type { JsonObject } from './json.ts';
import { judge, type RetryReason } from './judgement.ts';
import { rateLimitIn } from './rate-limit.ts';
import { type RefusalContext, refusalOf, retryAfterOf } from './refusal.ts';
import type { Clock, ServerClock } from './server-clock.ts';
import { ServiceError } from './service-error.ts';
import { createServiceText, type ServiceText } from './service-text.ts';
import { createThrottle } from './throttle.ts';
import { abortedBy, type StartTimer, startTimeLimit, type TimeLimit } from './time-limit.ts';

/** The limits of one operation: of its calls, its retries and its sleeps together. */
export interface Within {
  /** By the clock of the client, in milliseconds since 1970. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path and query on the origin of the service, encoded. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** The same key may have been sent before this call. */
  readonly keySentBefore?: boolean;
  /** It is not sent again where an attempt before may have done what was asked. */
  readonly attempts?: 'once' | undefined;
  /** False for what has to be sent at once, whatever the service has said of its limit: a release, unless it is said. */
  readonly paced?: boolean | undefined;
  /** The service is asked to take so much longer for its answer. */
  readonly answerDelayMs?: number;
  /** What is secret in the request itself. */
  readonly secrets?: readonly string[];
}

interface Course {
  readonly texts: ServiceText;
  /** An attempt of which no answer was seen, in this call or before it, can have done what was asked. */
  readonly mayBeDone: boolean;
  /** By the clock of the client, when it was first sent. */
  readonly sentAt: number;
  fail(failure: Failure): ServiceError;
  /** Of an answer that is none of success. */
  refuse(answer: Answer): ServiceError;
}

export type Outcome =
  /** The last answer, whatever its status; what is worth a retry has had it. */
  | (Course & { readonly kind: 'answered'; readonly answer: Answer })
  | (Course & { readonly kind: 'given-up'; readonly error: ServiceError });

export type Call = (request: Request, within: Within) => Promise<Outcome>;

export interface Retry {
  readonly method: string;
  readonly path: string;
  /** How often it was sent so far. */
  readonly attempts: number;
  readonly delayMs: number;
  readonly reason: RetryReason;
  /** Why, as a sentence. */
  readonly why: string;
}

export interface CallParts {
  readonly baseUrl: URL;
  readonly clock: Clock;
  readonly sendOnce: SendOnce;
  /** What is more waits until one of them is free. */
  readonly maxConnections: number;
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Attempts after the first. */
  readonly retries: number;
  readonly serverClock: ServerClock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly closed: AbortSignal;
  readonly onAnswer: (answer: Answer, texts: ServiceText) => void;
  readonly onRetry: (retry: Retry) => void;
  /** Little remains of a rate limit, so that the next request waits for so long. */
  readonly onPaced: (delayMs: number) => void;
  readonly startTimer?: StartTimer | undefined;
}

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** RFC 9110 section 5.5. */
const unsendableHeader = (headers: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(headers).find((name) => !fieldValue.test(headers[name] ?? ''));

const pathOf = (target: string): string => target.replace(/\?.*$/s, '');

export function createCall(parts: CallParts): Call {
  const { baseUrl, clock, serverClock, random, sleep } = parts;
  const throttle = createThrottle(random);
  const admit = createAdmission({ ...parts, throttle });
  // All spellings of a secret take a while to make, and most requests have none of their own.
  const usualTexts = createServiceText(parts.secrets);
  /** The last answer that refused a request for the rate limit. */
  let limitedBy: Refused | undefined;

  const wireOf = ({ method, target, headers, body }: Request): SentRequest => ({
    method,
    target,
    headers: { ...parts.headers, ...(body && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });

  function heed(tried: Attempt, texts: ServiceText, paced: boolean): void {
    if (tried.kind !== 'answered') return;
    const { answer, sentAt } = tried;
    serverClock.saw(answer.headers);
    parts.onAnswer(answer, texts);
    const status = rateLimitIn(answer.headers, serverClock.now());
    if (status !== undefined) throttle.saw(status, clock());
    if (!paced) return;
    if (answer.status === 429) throttle.refused(sentAt, retryAfterOf(answer, serverClock.now()), clock());
    else throttle.served();
  }

  /** What an answer says of the limit counts before the next request gets the connection. */
  async function tryOnce(wire: SentRequest, context: AttemptContext, paced: boolean, leave: Leave): Promise<Attempt> {
    try {
      const tried = await parts.sendOnce(wire, context).finally(() => paced && throttle.ended());
      heed(tried, context.texts, paced);
      return tried;
    } finally {
      leave();
    }
  }

  async function run(request: Request, { deadline }: Within, limit: TimeLimit): Promise<Outcome> {
    const { attempts: most, answerDelayMs = 0 } = request;
    const wire = wireOf(request);
    const path = pathOf(request.target);
    const { secrets: ownSecrets = [] } = request;
    const texts = ownSecrets.length === 0 ? usualTexts : createServiceText([...parts.secrets, ...ownSecrets]);
    const retries = most === 'once' ? 0 : parts.retries;
    // To give back is never held up by what is still to be asked for.
    const paced = request.paced ?? request.method !== 'DELETE';
    let sentAt: number | undefined;
    let attempts = 0;
    let failed = 0;
    let counted = 0;
    let mayBeDone = request.keySentBefore === true;
    let last: Failure | undefined;

    const fail = (failure: Failure): ServiceError =>
      new ServiceError({ method: request.method, path, attempts }, failure);
    const context = (): RefusalContext => ({ baseUrl, texts, serverNow: serverClock.now() });
    const refuse = (answer: Answer): ServiceError => fail(refusalOf(answer, context()));
    const course = (): Course => ({ texts, sentAt: sentAt ?? clock(), mayBeDone, fail, refuse });
    const giveUp = (failure: Failure): Outcome => ({ kind: 'given-up', error: fail(failure), ...course() });

    const unsendable = unsendableHeader(wire.headers);
    if (unsendable !== undefined) {
      return giveUp({
        kind: 'unsendable',
        why: `the header ${unsendable} would have characters that no header can have`,
      });
    }

    for (;;) {
      if (limit.ending() === 'aborted') return giveUp({ kind: 'aborted' });
      if (clock() >= deadline || limit.signal.aborted)
        return giveUp({ kind: 'deadline', last, retryAfterMs: undefined });

      const admission = await admit({ paced, deadline, signal: limit.signal });
      if (admission.kind === 'too-late') {
        const retryAfterMs = limitedBy?.retryAfterMs === undefined ? undefined : admission.delayMs;
        return giveUp({ kind: 'deadline', last: limitedBy, retryAfterMs });
      }
      const limited = (admission.kind === 'ended' && admission.limited) || undefined;
      if (limited) last ??= limitedBy;
      const tried =
        admission.kind === 'admitted'
          ? await tryOnce(wire, { texts, operation: limit, answerDelayMs }, paced, admission.leave)
          : endedBy(limit, undefined);
      sentAt ??= tried.sentAt;
      if (tried.sentAt !== undefined) attempts += 1;
      const judgement = judge(tried, context(), mayBeDone);
      if (judgement.kind === 'end') return { kind: 'answered', answer: judgement.answer, ...course() };

      const { failure } = judgement;
      mayBeDone ||= judgement.mayBeDone;
      if (judgement.kind === 'stop')
        return giveUp(failure.kind === 'deadline' ? { ...failure, last, limited } : failure);

      const { reason, retryAfterMs } = judgement;
      last = failure;
      failed += 1;
      if (reason === 'failed') counted += 1;
      if (counted > retries || (most === 'once' && mayBeDone)) return giveUp(failure);
      // All that are paced wait for the limit together, where they are admitted.
      const waitsTogether = paced && reason === 'limited';
      if (waitsTogether && failure.kind === 'refused') limitedBy = failure;
      const delayMs = waitsTogether ? throttle.refusedUntil() - clock() : backoff(failed, retryAfterMs, random);
      const timeLeft = deadline - clock();
      if (delayMs >= timeLeft) {
        const asked = retryAfterMs !== undefined && retryAfterMs >= timeLeft ? retryAfterMs : undefined;
        return giveUp({ kind: 'deadline', last: failure, retryAfterMs: asked });
      }
      parts.onRetry({ method: request.method, path, attempts, delayMs, reason, why: fail(failure).message });
      if (!waitsTogether) await sleep(delayMs, limit.signal);
    }
  }

  return async (request, within) => {
    const outers = [parts.closed, ...(within.signal ? [within.signal] : [])].map(abortedBy);
    const limit = startTimeLimit(within.deadline - clock(), 'deadline', outers, parts.startTimer);
    try {
      return await run(request, within, limit);
    } finally {
      limit.lift();
    }
  };
}
