import { parseWorkspaceId } from '../../client/access.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { parseTtl } from '../../interface/ttl.ts';
import type { ConnectionInputs } from '../inputs/load.ts';
import type { KnownProcess } from './processes.ts';

/** What the process that renews the locks of a step is told, through a pipe: later steps can read its environment. */
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
  /** What runs the steps of the job; undefined where that cannot be seen. */
  readonly worker: KnownProcess | undefined;
  /** The variables that name a proxy: their addresses may have passwords. */
  readonly proxies: Readonly<Record<string, string>>;
}

/** All variables that the HTTP client of the toolkit looks at. */
const proxyVariables = /^(https?_proxy|no_proxy)$/i;

/** What Node and the system need, and the name by which the runner finds what a job has left: none of it is secret. */
const plainVariables =
  /^(RUNNER_TRACKING_ID|NODE_(OPTIONS|EXTRA_CA_CERTS|USE_SYSTEM_CA|TLS_REJECT_UNAUTHORIZED)|OPENSSL_CONF|SSL_CERT_(FILE|DIR)|PATH|SystemRoot|windir|TEMP|TMP|TMPDIR)$/i;

const variablesLike = (pattern: RegExp, environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      pattern.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );

export const proxiesIn = (environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  variablesLike(proxyVariables, environment);

/** All that another process may see of the one that renews. */
export const environmentOfRenewal = (environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  variablesLike(plainVariables, environment);

export const formatRenewalOrder = (order: RenewalOrder): string => JSON.stringify(order);

/** A token, addresses and a few numbers are far shorter. */
const maxLength = 100_000;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isOptionalText = (value: unknown): boolean => value === undefined || typeof value === 'string';

const isWorker = (worker: RenewalOrder['worker']): boolean =>
  worker === undefined ||
  (isObject(worker) && Number.isSafeInteger(worker.pid) && worker.pid > 0 && isOptionalText(worker.startedAt));

const isCredentials = (credentials: RenewalOrder['connection']['credentials']): boolean => {
  switch (credentials?.kind) {
    case 'given':
      return typeof credentials.token === 'string';
    case 'identity':
      return (
        typeof credentials.audience === 'string' &&
        URL.canParse(credentials.requestUrl) &&
        typeof credentials.requestToken === 'string'
      );
    default:
      return false;
  }
};

const isProxies = (proxies: RenewalOrder['proxies']): boolean =>
  isObject(proxies) &&
  Object.entries(proxies).every(([name, value]) => proxyVariables.test(name) && typeof value === 'string');

/** It comes from the same bundle; what else may write into the pipe is refused. */
export function parseRenewalOrder(text: string): Parsed<RenewalOrder> {
  if (text.length > maxLength) return refused('It is too long.');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused('It is not JSON.');
  }
  if (!isObject(value)) return refused('It is not an object.');
  // Each member that is used is checked here.
  const order = value as RenewalOrder;
  const isWhole =
    isObject(order.connection) &&
    URL.canParse(order.connection.baseUrl) &&
    isCredentials(order.connection.credentials) &&
    Number.isFinite(order.connection.requestTimeout?.seconds) &&
    isOptionalText(order.origin) &&
    typeof order.ledgerFile === 'string' &&
    typeof order.step === 'string' &&
    typeof order.workspace === 'string' &&
    parseWorkspaceId(order.workspace).ok &&
    typeof order.ttl === 'string' &&
    parseTtl(order.ttl).ok &&
    Number.isFinite(order.serverAheadMs) &&
    isWorker(order.worker) &&
    isProxies(order.proxies);
  return isWhole ? accepted(order) : refused('It does not say what to renew.');
}
