import type { ConnectionInputs } from '../inputs/connection.ts';
import type { KnownProcess } from './processes.ts';

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

/**
 * The task of the renewing process. It is sent through a pipe, because later steps can read the environment of a
 * process.
 */
export interface RenewalTask {
  readonly connection: ConnectionInputs;
  readonly origin: string | undefined;
  readonly ledgerFile: string;
  readonly step: string;
  readonly workspace: string;
  readonly ttl: string;
  /** The clock of the service minus that of this machine. */
  readonly serverAheadMs: number;
  /** The worker process of the runner; undefined if unknown. */
  readonly worker: KnownProcess | undefined;
  /** The proxy variables. Their URLs may contain passwords. */
  readonly proxies: Readonly<Record<string, string>>;
}

/** Undefined if the text was truncated because the step was killed while writing it. */
export function parseRenewalTask(text: string): RenewalTask | undefined {
  try {
    // Written by the same version of the action, through a pipe that no other process has.
    return JSON.parse(text) as RenewalTask;
  } catch {
    return undefined;
  }
}

const variablesLike = (pattern: RegExp, environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      pattern.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
