import { unlessAborted } from '../interface/timers.ts';
import { type Connection, connectionFailure, type SentRequest } from './connection.ts';
import { isRecognized as isOfService, rejectsSlashes } from './recognize.ts';
import type { RefusalContext } from './refusal.ts';
import type { Request } from './request.ts';
import { type ClientResponse, parseResponse } from './response.ts';
import { type AttemptResult, classifyResponse } from './retry.ts';
import { type StartTimer, startTimeLimit, type TimeLimit } from './time-limit.ts';

interface AttemptContext extends Pick<RefusalContext, 'baseUrl' | 'texts'> {
  /** Called after the response, which may adjust it. */
  readonly serverNow: () => number;
  readonly send: Connection['send'];
  readonly timeoutMs: number;
  readonly limit: TimeLimit;
  readonly startTimer?: StartTimer | undefined;
  readonly server?: string | undefined;
  readonly keyMayHaveArrived: boolean;
  /** Called before `onResponse`, whatever the result. */
  readonly onEnd: () => void;
  readonly onResponse: (response: ClientResponse) => void;
}

/**
 * Sends a request once, and classifies the response. If a gateway rejects encoded slashes, it sends the request again
 * with raw ones. Returns the request as it was last sent, and no result if the complete call was interrupted first.
 */
export async function attemptOnce(
  request: Request,
  sent: SentRequest,
  context: AttemptContext,
): Promise<{ readonly sent: SentRequest; readonly result: AttemptResult | undefined }> {
  const { limit, startTimer, texts, server, keyMayHaveArrived, onEnd, onResponse } = context;
  const { target, otherTarget, responseDelayMs = 0, expect } = request;
  const timeoutMs = context.timeoutMs + responseDelayMs;
  const attemptLimit = startTimeLimit(timeoutMs, [limit.signal], startTimer);
  let response: ClientResponse;
  try {
    response = parseResponse(await unlessAborted(context.send(sent, attemptLimit.signal), attemptLimit.signal), texts);
  } catch (error) {
    if (!attemptLimit.isOver() && limit.signal.aborted) return { sent, result: undefined };
    const failure = attemptLimit.isOver()
      ? ({ kind: 'timeout', limitMs: timeoutMs } as const)
      : connectionFailure(error, texts);
    if (failure === undefined) throw error;
    const mayBeDone = failure.kind === 'timeout' || failure.mayHaveArrived;
    const retry = failure.kind === 'connection' && failure.untrusted ? undefined : 'failed';
    return { sent, result: { kind: 'failed', failure, mayBeDone, retry, retryAfterMs: undefined } };
  } finally {
    attemptLimit.stop();
    onEnd();
  }
  onResponse(response);
  if (sent.target === target && otherTarget !== undefined && rejectsSlashes(response)) {
    return attemptOnce(request, { ...sent, target: otherTarget }, { ...context, onEnd: () => undefined });
  }
  // Other servers have no marks of the service: all their responses count as their own.
  const isRecognized = server === undefined ? isOfService : () => true;
  const judged = { ...context, serverNow: context.serverNow(), keyMayHaveArrived, expect, isRecognized };
  return { sent, result: classifyResponse(response, judged) };
}
