import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type { BranchName } from '../../interface/branch-name.ts';
import { bearerOf } from '../access/caller.ts';
import { Refusal, unavailable } from '../contract/response.ts';
import { mainBranch } from '../git/bare-repository.ts';
import { GitError } from '../git/git-error.ts';
import { errorPacket } from '../git/serve-mirror.ts';
import { type Environment, responseHeaders } from '../http/context.ts';
import { type OutputResponse, sendOutput } from '../http/send-output.ts';
import type { Instance } from '../instance/instance.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { repeat } from '../runtime/repeat.ts';
import { isRevoked } from '../tokens/tokens.ts';
import { formerHeads, publishedBranches } from '../workspaces/synced-branches.ts';
import type { FoundWorkspace } from '../workspaces/workspaces.ts';
import { type PullThrough, retryPullAfterSeconds } from './pull-through.ts';

export interface ServeParts extends Pick<Instance, 'storage' | 'log'> {
  readonly git: Pick<Instance['git'], 'serve'>;
  readonly pullThrough: Pick<PullThrough, 'commits'>;
  readonly mirrorLimits?: Partial<MirrorLimits>;
}

/**
 * Sends the output of git as the response: to `info-refs`, or to a fetch, which has a body. If git fails before its
 * first output, the client must display the reason. For `info-refs`, git displays the text of an error response. For a
 * fetch, it ignores that text, but displays an error packet.
 */
export function createServe({ storage, git, pullThrough, log, mirrorLimits }: ServeParts) {
  const limits = { ...defaultLimits, ...mirrorLimits };
  const slots = createSlots(limits);

  return async (
    c: Context<Environment>,
    workspace: FoundWorkspace,
    readBody?: () => Promise<Buffer>,
  ): Promise<Response> => {
    const [kind, content] = readBody ? (['fetch', 'result'] as const) : (['info-refs', 'advertisement'] as const);
    const bearer = bearerOf(c);
    const requestId = c.get('requestId');
    const headers = responseHeaders(c, { 'content-type': `application/x-git-upload-pack-${content}` });
    const response = sendOutput(c.env.outgoing, headers, limits.maxMsPerChunk, aborted);
    const startedAt = performance.now();
    /** Logs the result. */
    function report(outcome: Outcome, error?: string): void {
      const about = { request_id: requestId, workspace: workspace.id, token: bearer.id, bytes: response.sentBytes() };
      const fields = { ...about, duration_ms: Math.round(performance.now() - startedAt), outcome, error };
      if (!ordinary.has(outcome)) log.warn(fields, 'mirror request failed');
      else if (kind === 'fetch') log.info(fields, 'mirror fetch ended');
    }
    /** Resolves when the response has started, or has ended without output. */
    const { promise, resolve, reject } = Promise.withResolvers<void>();

    async function run(): Promise<void> {
      if (readBody === undefined) await serveBranches();
      else {
        // The body is read before the request takes a slot, so that a slow client does not occupy one.
        await inSlot('body', async () => serveBranches(await readBody()));
      }
      response.end();
      report('served');
    }

    /** A client that disconnects gives up its place. */
    const inSlot = (name: keyof typeof slots, work: () => Promise<void>): Promise<void> =>
      slots[name](bearer.owner, work, response.gone);

    async function serveBranches(bytes?: Buffer): Promise<void> {
      const branches = await publishedBranches(storage, workspace.id);
      const [first, ...others] = branches.keys();
      // Otherwise, git would clone an empty repository, and a job would build nothing.
      if (first === undefined) {
        throw new GitError('not-published', `No branch of ${workspace.id} is synced. Sync one first.`);
      }
      const lacking = await pullThrough.commits(workspace, branches);
      if (lacking !== undefined) throw new GitError('incomplete', lacking);
      await inSlot(kind, async () => {
        // A token that merely expires does not end a clone: it was valid at the start, and may last only for minutes.
        const refuseRevoked = async (): Promise<void> => {
          if (await isRevoked(storage.read, bearer)) response.cut(aborted.revoked);
        };
        // If the database does not respond, the next check retries.
        const stopChecks = repeat(limits.checkTokenEveryMs, refuseRevoked, () => undefined);
        try {
          await git.serve(workspace.id, {
            request: bytes && { bytes, formerHeads: await formerHeads(storage, workspace.id, branches) },
            branches,
            // Only noteDefaultBranch() writes the column.
            defaultBranch: others.length === 0 ? first : ((workspace.default_branch ?? mainBranch) as BranchName),
            limits: { timeoutMs: limits.cloneTimeoutMs, signal: response.gone },
            onOutput(chunk) {
              resolve();
              return response.write(chunk);
            },
          });
        } finally {
          void stopChecks();
        }
      });
    }

    run()
      .catch((error) => endFailed(error, kind, response, requestId, report))
      .then(resolve, reject);
    await promise;
    return RESPONSE_ALREADY_SENT;
  };
}

type RequestKind = 'info-refs' | 'fetch';

/** Reasons to end a response early. */
const aborted = {
  disconnected: new GitError('aborted', 'The client has disconnected.'),
  tooSlow: new GitError('aborted', 'The client is too slow.'),
  revoked: new GitError('aborted', 'The token of the client was revoked.'),
};

type Outcome = 'served' | GitError['kind'];

/** Outcomes that are no fault of the service or the remote. */
const ordinary = new Set<Outcome>(['served', 'aborted', 'busy', 'not-published']);

/** Ends the response. If it has not started and the client displays error responses, throws the error instead. */
async function endFailed(
  error: unknown,
  kind: RequestKind,
  response: OutputResponse,
  requestId: string,
  report: (outcome: Outcome, error: string) => void,
): Promise<void> {
  if (error instanceof Refusal) throw error;
  const hasStarted = response.sentBytes() > 0;
  if (!(error instanceof GitError)) {
    if (hasStarted) response.cut();
    report('failed', String(error));
    throw error;
  }
  const message = messageOf(error, requestId);
  const needsReason = !hasStarted && !response.gone.aborted;
  if (needsReason && kind !== 'info-refs') await response.write(errorPacket(message));
  // A truncated response must not look complete. In a fetch, git itself has sent the reason of a failure.
  if (hasStarted && (error.kind !== 'failed' || kind === 'info-refs')) response.cut();
  else if (kind !== 'info-refs') response.end();
  report(error.kind, error.message);
  if (!needsReason || kind !== 'info-refs') return;
  // A 5xx would alert the operator.
  throw error.kind === 'not-published'
    ? new Refusal('invalid-request', message)
    : unavailable(message, retryPullAfterSeconds);
}

/** The error for the client. Messages of git may contain details of this machine, so only the log has them. */
function messageOf({ kind, message }: GitError, requestId: string): string {
  return ['not-published', 'incomplete', 'busy'].includes(kind)
    ? message
    : `The mirror could not be read. The log of the service has the cause, under this request id: ${requestId}`;
}

export type MirrorLimits = Readonly<typeof defaultLimits>;

const defaultLimits = {
  /** Each is a git process with one thread. Further clones wait for a slot. */
  parallelClones: 16,
  cloneTimeoutMs: 45 * 60_000,
  /** How often to check whether the token of the client was revoked. */
  checkTokenEveryMs: 5_000,
  /** Time limit for a client to receive a chunk of 64 KB. */
  maxMsPerChunk: 30_000,
  /** The longest wait for a slot. */
  maxWaitMs: 25_000,
};

/** The longest wait before a body is read. Less than a client has to send it, and short compared with other waits. */
const maxBodyWaitMs = 10_000;

/** Bodies in memory per parallel clone: for clones that run or wait, and for slow clients. */
const bodiesPerClone = 2;

/** Slots for lists of branches. They take milliseconds, and must not wait for clones that take minutes. */
const quickSlots = 8;

/** Maximum share of one owner, regardless of the number of tokens. The rest is for others. */
const shareOfOwner = 3 / 4;

const busyText = 'The maximum number of clones is running. Try again in a minute.';

function createSlots({ parallelClones, maxWaitMs }: MirrorLimits) {
  const slotsOf = (max: number, ms = maxWaitMs) =>
    limitParallel({
      max,
      maxPerKey: Math.max(1, Math.floor(max * shareOfOwner)),
      timeout: { ms, error: () => new GitError('busy', busyText) },
    });
  return {
    'info-refs': slotsOf(quickSlots),
    fetch: slotsOf(parallelClones),
    body: slotsOf(parallelClones * bodiesPerClone, maxBodyWaitMs),
  };
}
