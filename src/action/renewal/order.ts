import type { ConnectionInputs } from '../inputs/connection.ts';
import type { KnownProcess } from './processes.ts';

/** All variables that the HTTP client of the toolkit looks at. */
const proxyVariables = /^(https?_proxy|no_proxy)$/i;

export const proxiesIn = (environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  variablesLike(proxyVariables, environment);

/** What Node and the system need, and the name by which the runner finds what a job has left: none of it is secret. */
const plainVariables =
  /^(RUNNER_TRACKING_ID|NODE_(OPTIONS|EXTRA_CA_CERTS|USE_SYSTEM_CA|TLS_REJECT_UNAUTHORIZED)|OPENSSL_CONF|SSL_CERT_(FILE|DIR)|PATH|SystemRoot|windir|TEMP|TMP|TMPDIR)$/i;

/** All that another process may see of the one that renews. */
export const environmentOfRenewal = (environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  variablesLike(plainVariables, environment);

/** The task of the renewing process. It comes through a pipe, because later steps can read the environment of a process. */
export interface RenewalOrder {
  readonly connection: ConnectionInputs;
  readonly origin: string | undefined;
  readonly ledgerFile: string;
  /** Names the step in the ledger. */
  readonly step: string;
  readonly workspace: string;
  readonly ttl: string;
  /** The clock of the service, less that of this machine. */
  readonly serverAheadMs: number;
  /** The worker of the runner; undefined if unknown. */
  readonly worker: KnownProcess | undefined;
  /** The variables that name a proxy: their addresses may have passwords. */
  readonly proxies: Readonly<Record<string, string>>;
}

export const formatRenewalOrder = (order: RenewalOrder): string => JSON.stringify(order);

/** Undefined if it was cut off, because the step was killed while it wrote. */
export function parseRenewalOrder(text: string): RenewalOrder | undefined {
  try {
    // The same bundle wrote it, through a pipe that no other process has.
    return JSON.parse(text) as RenewalOrder;
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
