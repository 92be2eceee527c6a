import { packageVersion } from '../built/version.ts';
import { parseBaseUrl, parseToken, parseWorkspaceId, type WorkspaceId } from '../client/access.ts';
import type { CallLimits, Client, ClientOptions } from '../client/client.ts';
import { steadyClock } from '../client/time.ts';
import { CommandError, type ProgramContext } from '../command/command.ts';
import { printLines, quoted } from '../command/print.ts';
import { mirrorAgeText, outdatedText } from '../interface/outdated.ts';
import type { Parsed } from '../interface/parsed.ts';

export interface RemoteService {
  readonly client: Client;
  readonly service: string;
  readonly workspace: WorkspaceId;
  readonly interrupted: AbortSignal;
  /** Limits of a request that the user waits for. */
  within(): CallLimits;
  report(line: string): void;
}

const baseUrlVariable = 'WORKSPACE_BASE_URL';

/**
 * The variables of the action, so that people and jobs have the same setup. The token is not a flag because other users
 * can read the arguments of a process.
 */
export const variables = [
  [baseUrlVariable, 'the service, such as https://assets.example.com/v1'],
  ['WORKSPACE_TOKEN', 'an API token: "workspace-service token create" creates one'],
  ['WORKSPACE_ID', 'the id of the workspace'],
] as const;

/** Short, because a person is waiting at a terminal or for a commit. */
const requestMs = 60_000;
export const attemptMs = 15_000;

/** The limits of each request, and the branch of requests for locks. */
export interface RequestTerms extends Pick<ClientOptions, 'retries' | 'branch' | 'onRetry'> {
  readonly requestTimeoutMs: number;
}

export async function connectTo(
  { environment, io }: Pick<ProgramContext, 'environment' | 'io'>,
  allowHttp: boolean,
  interrupted: AbortSignal,
  terms: RequestTerms,
): Promise<RemoteService> {
  const connection = await readVariables(environment, allowHttp);
  const report = (line: string): void => printLines(io.stderr, [line]);
  const { createClient } = await import('../client/client.ts');
  const client = createClient({
    ...connection,
    userAgent: `workspace-service/${packageVersion}`,
    ...terms,
    onWarning: report,
    onCompared({ outdated, as_of }) {
      if (outdated !== undefined) report(outdatedText(outdated, terms.branch));
      if (as_of !== undefined) report(mirrorAgeText(as_of));
    },
  });
  const within = (): CallLimits => ({ deadline: steadyClock() + requestMs, signal: interrupted });
  return { client, service: connection.baseUrl, workspace: connection.workspace, interrupted, within, report };
}

async function readVariables(environment: NodeJS.ProcessEnv, allowHttp: boolean) {
  const problems: string[] = [];
  function read<T>([name, description]: readonly [string, string], parse: (text: string) => Parsed<T>, secret = false) {
    const text = environment[name] ?? '';
    const parsed = text === '' ? undefined : parse(text);
    if (parsed?.ok) return parsed.value;
    if (parsed === undefined) problems.push(`${name} is not set: ${description}.`);
    else problems.push(`${name} ${secret ? 'cannot be used' : `is ${quoted(text)}`}. ${parsed.reason}`);
    return undefined;
  }
  const [address, secret, id] = variables;
  const baseUrl = read(address, (text) => parseBaseUrl(text, allowHttp, '--allow-http'));
  const { identityOf } = await import('./identity.ts');
  const identity = baseUrl === undefined || environment[secret[0]] ? undefined : identityOf(environment, baseUrl);
  const token =
    identity === undefined ? read(secret, parseToken('It must not contain spaces or line breaks.'), true) : undefined;
  const workspace = read(id, parseWorkspaceId);
  const credentials = token === undefined ? identity : { kind: 'static' as const, token };
  if (baseUrl === undefined || credentials === undefined || workspace === undefined)
    throw new CommandError(problems.join(' '), 2);
  return { baseUrl, credentials, workspace };
}
