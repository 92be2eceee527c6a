import { formatDuration } from '../../interface/duration.ts';
import type { Grant } from '../../locks/ledger/entry.ts';
import type { TaskOf } from '../inputs/task.ts';
import type { Context } from '../step/context.ts';
import type { RunToCancel } from './cancel-run.ts';
import { identifyProcess } from './processes.ts';

/** The task of the renewing process. */
export type RenewalTask = ReturnType<typeof createRenewalTask>;

export interface StepToRenew {
  readonly step: string;
  readonly grants: readonly Grant[];
  /** Time since the locks were granted. */
  readonly ageMs: number;
}

/** Sent through a pipe, because later steps can read the environment of a process. */
export const createRenewalTask = (
  { client, clock, connection, ledger, runner }: Context,
  { workspace, ttl }: TaskOf<'lock'>,
  { step, grants, ageMs }: StepToRenew,
  cancels: RunToCancel | undefined,
) => ({
  connection,
  origin: runner.origin,
  ledgerFile: ledger.file,
  step,
  workspace,
  ttl: formatDuration(ttl),
  /** The ledger may be gone while the locks are still held. */
  grants,
  ageMs,
  /** The run to cancel if a lock is lost. */
  cancels,
  /** The clock of the service minus that of this machine. */
  clockOffsetMs: client.serverNow() - clock(),
  /** The worker process of the runner; undefined if unknown. */
  worker: identifyProcess(runner.worker),
  /** Their URLs may contain passwords. */
  proxies: proxiesIn(process.env),
});

/** Undefined if the text was truncated because the step was killed while writing it. */
export function parseRenewalTask(text: string): RenewalTask | undefined {
  try {
    // Written by the same version of the action, through a pipe that no other process has.
    return JSON.parse(text) as RenewalTask;
  } catch {
    return undefined;
  }
}

/** The proxy variables that the HTTP client of the toolkit reads. */
const proxyVariables = /^(https?_proxy|no_proxy)$/i;

export const proxiesIn = (environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  variablesLike(proxyVariables, environment);

/**
 * Variables that Node and the system need, and the one by which the runner finds leftover processes of a job. None is
 * secret.
 */
const plainVariables =
  /^(RUNNER_TRACKING_ID|NODE_(OPTIONS|EXTRA_CA_CERTS|USE_SYSTEM_CA|TLS_REJECT_UNAUTHORIZED)|OPENSSL_CONF|SSL_CERT_(FILE|DIR)|PATH|SystemRoot|windir|TEMP|TMP|TMPDIR)$/i;

/** The environment of the renewing process, which other processes can read. */
export const environmentOfRenewal = (environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  variablesLike(plainVariables, environment);

const variablesLike = (pattern: RegExp, environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      pattern.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
