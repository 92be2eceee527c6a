import { packageVersion } from '../built/version.ts';
import { parseBaseUrl, parseToken, parseWorkspaceId, type WorkspaceId } from '../client/access.ts';
import type { Client, ClientOptions } from '../client/client.ts';
import type { CallLimits } from '../client/request.ts';
import { ServiceError } from '../client/service-error.ts';
import { steadyClock } from '../client/time.ts';
import { CommandError, commandKind, jsonFlag, type ProgramContext, withExitCode } from '../command/command.ts';
import { type FlagOptions, readText, toggle } from '../command/flags.ts';
import { awaitStop } from '../command/io.ts';
import { printLines } from '../command/print.ts';
import { mirrorAgeText, outdatedText } from '../interface/outdated.ts';
import { type Parsed, refused } from '../interface/parsed.ts';

export interface RemoteService {
  readonly client: Client;
  readonly service: string;
  readonly workspace: WorkspaceId;
  readonly interrupted: AbortSignal;
  /** Limits of a request that the user waits for. */
  within(): CallLimits;
  report(line: string): void;
}

/**
 * The same variables as for the action, so that people and jobs share a setup. The token is not a flag, because other
 * users can read the arguments of a process.
 */
export const variables = [
  ['WORKSPACE_BASE_URL', 'the service, such as https://assets.example.com/v1'],
  ['WORKSPACE_TOKEN', 'an API token: "workspace-service token create" creates one'],
  ['WORKSPACE_ID', 'the id of the workspace'],
] as const;

export const allowHttp = toggle('send the token to other machines over plain http, unencrypted');

/** Short, because a person is waiting in a terminal or for a commit. */
const requestMs = 60_000;
const attemptMs = 15_000;

/** Connects, with this branch for lock requests. A command that never calls it needs no variables. */
export type Connect = (branch?: string) => Promise<RemoteService>;

/** Defines commands that access a service over HTTP, from any machine. */
export const defineRemoteCommand = commandKind(
  { allowHttp, json: jsonFlag },
  variables,
  async (context, work: (connect: Connect) => Promise<number>) => {
    const stop = awaitStop(context.io);
    let remote: RemoteService | undefined;
    const connect: Connect = async (branch) => {
      remote ??= await connectTo(context, stop.interrupted, { requestTimeoutMs: attemptMs, branch });
      return remote;
    };
    try {
      return await work(connect);
    } catch (error) {
      throw withExitCode(error instanceof ServiceError ? new CommandError(error.message) : error, stop.exitCode());
    } finally {
      stop.forget();
      remote?.client.dispose();
    }
  },
);

export interface ConnectionContext extends Pick<ProgramContext, 'environment' | 'io'> {
  readonly flags: { readonly allowHttp: boolean };
}

export async function connectTo(
  { environment, io, flags }: ConnectionContext,
  interrupted: AbortSignal,
  options: Pick<ClientOptions, 'requestTimeoutMs' | 'retries' | 'branch' | 'onRetry'>,
): Promise<RemoteService> {
  const connection = await readVariables(environment, flags.allowHttp);
  const report = (line: string): void => printLines(io.stderr, [line]);
  const { createClient } = await import('../client/client.ts');
  const client = createClient({
    ...connection,
    userAgent: `workspace-service/${packageVersion}`,
    ...options,
    onWarning: report,
    onCompared({ outdated, as_of }) {
      for (const each of outdated) report(outdatedText(each, options.branch));
      if (as_of !== undefined) report(mirrorAgeText(as_of));
    },
  });
  const within = (): CallLimits => ({ deadline: steadyClock() + requestMs, signal: interrupted });
  const { baseUrl: service, workspace } = connection;
  return { client, service, workspace, interrupted, within, report };
}

async function readVariables(environment: NodeJS.ProcessEnv, allowHttp: boolean) {
  const problems: string[] = [];
  function read<T>(
    [name, description]: (typeof variables)[number],
    parse: (text: string) => Parsed<T>,
    options?: FlagOptions,
  ) {
    const text = environment[name];
    const parsed = text ? readText(text, name, parse, options) : refused(`${name} is not set: ${description}.`);
    return parsed.ok ? parsed.value : void problems.push(parsed.reason);
  }
  const [url, secret, id] = variables;
  const baseUrl = read(url, (text) => parseBaseUrl(text, allowHttp, '--allow-http'));
  const { identityOf } = await import('./identity.ts');
  const identity = baseUrl === undefined || environment[secret[0]] ? undefined : identityOf(environment, baseUrl);
  const parseSecret = parseToken('It must not contain spaces or line breaks.');
  const token = identity === undefined ? read(secret, parseSecret, { secret: true }) : undefined;
  const workspace = read(id, parseWorkspaceId);
  const credentials = token === undefined ? identity : { kind: 'static' as const, token };
  if (baseUrl === undefined || credentials === undefined || workspace === undefined)
    throw new CommandError(problems.join(' '), 2);
  return { baseUrl, credentials, workspace };
}
