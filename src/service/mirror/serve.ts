import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { unavailable } from '../contract/problem.ts';
import { GitError } from '../git/git-error.ts';
import type { ServeTask } from '../git/serve-mirror.ts';
import { errorPacket } from '../git/upload-pack-request.ts';
import { answerHeaders, bearerOf, type Environment } from '../http/context.ts';
import { type OutputResponse, sendOutput } from '../http/send-output.ts';
import type { GitOutcomeLabel, GitRequestLabel, Metrics } from '../runtime/metrics.ts';
import { repeat } from '../runtime/repeat.ts';
import type { Storage } from '../storage/storage.ts';
import { isRevoked as isTokenRevoked } from '../tokens/tokens.ts';
import type { MirrorLimits, MirrorPlaces } from './limits.ts';

export interface MirrorRequest {
  readonly kind: GitRequestLabel;
  readonly workspace: string;
  readonly contentType: string;
  /** Runs git, which ends when nobody reads its output any more. */
  readonly work: (task: Pick<ServeTask, 'limits' | 'onOutput'>) => Promise<void>;
}

export interface ServeParts {
  readonly storage: Pick<Storage, 'read'>;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly limits: MirrorLimits;
  readonly places: MirrorPlaces;
}

export type ServeRequest = (c: Context<Environment>, request: MirrorRequest) => Promise<Response>;

/**
 * Answers with the output of git. Where that fails before it has begun, git shows why: in the first request of a client as
 * the text of an error, and later in a packet, because it shows no text any more.
 */
export function createServe({ storage, metrics, log, limits, places }: ServeParts): ServeRequest {
  return async (c, { kind, workspace, contentType, work }) => {
    const bearer = bearerOf(c);
    const { id: token, owner } = bearer;
    const requestId = c.get('requestId');
    const response = sendOutput(
      c.env.outgoing,
      answerHeaders(c, { 'content-type': contentType }),
      limits.maxMsPerPiece,
    );
    const began = performance.now();
    let isRevoked = false;

    function note(outcome: GitOutcomeLabel, error?: string): void {
      metrics.gitRequests.inc({ request: kind, outcome });
      metrics.gitSentBytes.inc(response.sentBytes());
      const duration_ms = Math.round(performance.now() - began);
      const about = { request_id: requestId, workspace, token, bytes: response.sentBytes(), duration_ms, outcome };
      if (outcome === 'failed' || outcome === 'timeout') log.warn({ ...about, error }, 'the mirror was not served');
      else if (kind === 'fetch') log.info(about, 'a fetch from the mirror has ended');
    }

    /** Kept when the answer has begun, or has ended without. */
    const { promise, resolve, reject } = Promise.withResolvers<void>();

    /** A token that ends meanwhile does not: it was valid when the clone began, and may be meant to live for minutes. */
    async function endIfRevoked(): Promise<void> {
      isRevoked = await isTokenRevoked(storage.read, bearer);
      if (isRevoked) response.cut();
    }

    const isSlow = watchPace(response, limits.minPaceIfWaitedFor);

    /** A client that takes little keeps its place only if no other owner waits for one. */
    async function endIfOthersAreFaster(): Promise<void> {
      if (isSlow() && places.clones.isWaitedFor(owner) && kind === 'fetch') response.cutAsTooSlow();
    }

    async function run(): Promise<void> {
      if (response.gone.aborted) throw new GitError('aborted', 'The client has left.');
      metrics.gitServing.inc();
      // Retried if the database does not respond.
      const stopChecking = repeat(limits.checkTokenEveryMs, endIfRevoked, () => undefined);
      const stopWatching = repeat(limits.minPaceIfWaitedFor.forMs, endIfOthersAreFaster, () => undefined);
      try {
        await work({
          limits: { timeoutMs: limits.cloneTimeoutMs, signal: response.gone },
          onOutput(chunk) {
            resolve();
            return response.write(chunk);
          },
        });
      } finally {
        void stopChecking();
        void stopWatching();
        metrics.gitServing.dec();
      }
    }

    async function fail(error: unknown): Promise<void> {
      const hasStarted = response.sentBytes() > 0;
      if (!(error instanceof GitError)) {
        if (hasStarted) response.cut();
        note('failed', String(error));
        return reject(error);
      }
      const outcome = isRevoked ? 'refused' : outcomeOf(error, response);
      if (!hasStarted && outcome !== 'gone') {
        const message = messageOf(error, requestId);
        if (kind === 'info-refs') reject(unavailable(message));
        else await response.write(errorPacket(message));
      }
      // git itself has sent the reason to the client. A truncated response must not look complete.
      if (hasStarted && outcome !== 'failed') response.cut();
      else if (kind !== 'info-refs') response.end();
      note(outcome, error.message);
    }

    const place = kind === 'fetch' ? places.clones : places.quick;
    place(owner, run)
      .then(() => {
        response.end();
        note('served');
      }, fail)
      .then(resolve, reject);
    await promise;
    return RESPONSE_ALREADY_SENT;
  };
}

function outcomeOf({ kind }: GitError, response: OutputResponse): GitOutcomeLabel {
  if (response.isTooSlow()) return 'too-slow';
  if (response.gone.aborted) return 'gone';
  switch (kind) {
    case 'not-published':
      return 'refused';
    case 'busy':
    case 'timeout':
      return kind;
    default:
      return 'failed';
  }
}

/** Response to the client: messages of git about this machine go only to the log. */
function messageOf({ kind, message }: GitError, requestId: string): string {
  switch (kind) {
    case 'not-published':
    case 'incomplete':
    case 'busy':
      return message;
    default:
      return `The mirror could not be read. The log of the service has the cause under this request id: ${requestId}`;
  }
}

/** Whether the client has taken too little since the last call, although most of the time there was more for it. */
function watchPace(
  { sentBytes, waitedMs }: OutputResponse,
  { bytes, forMs }: MirrorLimits['minPaceIfWaitedFor'],
): () => boolean {
  let before = { bytes: 0, waitedMs: 0 };
  return () => {
    const now = { bytes: sentBytes(), waitedMs: waitedMs() };
    const isSlow = now.bytes - before.bytes < bytes && now.waitedMs - before.waitedMs > forMs / 2;
    before = now;
    return isSlow;
  };
}
