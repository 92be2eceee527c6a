import { packageVersion } from '../built/version.ts';
import { parseBaseUrl, parseToken, parseWorkspaceId, type WorkspaceId } from '../client/access.ts';
import type { CallLimits, Client, ClientOptions } from '../client/client.ts';
import { parsePriority } from '../client/queue.ts';
import { ServiceError } from '../client/service-error.ts';
import { steadyClock } from '../client/time.ts';
import {
  type Command,
  type CommandContext,
  CommandError,
  type Definition,
  defineCommand,
  jsonFlag,
  type None,
  type ProgramContext,
  withExitCode,
} from '../command/command.ts';
import { type Flags, type FlagValues, optional, toggle, withDefault } from '../command/flags.ts';
import { awaitStop, exitCodeOf } from '../command/io.ts';
import { type CommandOutput, printLines, printOutput, quoted } from '../command/print.ts';
import { parseBranchName } from '../interface/branch-name.ts';
import { parseDurationBetween } from '../interface/duration.ts';
import { mirrorAgeText, outdatedText } from '../interface/outdated.ts';
import type { Parsed } from '../interface/parsed.ts';

export const allowHttpFlag = toggle('send the token to other machines over plain http, unencrypted');

const remoteFlags = {
  allowHttp: allowHttpFlag,
  json: jsonFlag,
} as const;

export interface RemoteService {
  readonly client: Client;
  readonly service: string;
  readonly workspace: WorkspaceId;
  readonly interrupted: AbortSignal;
  /** Limits of a request that the user waits for. */
  within(): CallLimits;
  report(line: string): void;
}

interface RemoteOutput extends CommandOutput {
  readonly failure?: string | undefined;
  readonly exitCode?: number;
}

interface RemoteDefinition<F extends Flags, A extends Flags>
  extends Omit<Definition<F & typeof remoteFlags, A>, 'flags' | 'run'> {
  readonly flags?: F;
  /** Sends no request before it calls `connect()`. */
  run(
    context: CommandContext<F & typeof remoteFlags, A>,
    connect: (branch?: string) => Promise<RemoteService>,
  ): Promise<RemoteOutput>;
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

/** Defines a command that accesses a service over HTTP, from any machine. */
export function defineRemoteCommand<F extends Flags = None, A extends Flags = None>({
  flags,
  ...definition
}: RemoteDefinition<F, A>): Command {
  return defineCommand<F & typeof remoteFlags, A>({
    variables,
    ...definition,
    // Without flags of its own, F is empty.
    flags: { ...flags, ...remoteFlags } as F & typeof remoteFlags,
    async run(context) {
      const { io } = context;
      // The remote flags are always among the flags. TypeScript cannot infer this.
      const { allowHttp, json } = context.flags as FlagValues<typeof remoteFlags>;
      const interruption = new AbortController();
      const stop = awaitStop(io);
      let exitCode: number | undefined;
      void stop.received.then((signal) => {
        exitCode = exitCodeOf(signal);
        interruption.abort();
      });
      let remote: RemoteService | undefined;
      const connect = async (branch?: string): Promise<RemoteService> => {
        remote ??= await connectTo(context, allowHttp, interruption.signal, { requestTimeoutMs: attemptMs, branch });
        return remote;
      };
      try {
        const { failure, exitCode: code, ...output } = await definition.run(context, connect);
        printOutput(io.stdout, json, output);
        if (failure !== undefined) throw new CommandError(failure);
        return code;
      } catch (error) {
        throw withExitCode(error instanceof ServiceError ? new CommandError(error.message) : error, exitCode);
      } finally {
        stop.forget();
        remote?.client.dispose();
      }
    },
  });
}

export const branchFlag = optional(
  'NAME',
  'the branch that the locks are for: newer versions on other branches are reported',
  parseBranchName,
  'default that of the checkout',
);

export const waitFlags = {
  wait: optional(
    'DURATION',
    'how long to wait for paths that others hold',
    parseDurationBetween({ seconds: 1 }, { seconds: 30 * 86_400 }),
    'default no wait',
  ),
  priority: withDefault('PRIORITY', 'the place in line while waiting: low, normal or high', parsePriority, 'normal'),
} as const;

/** Short, because a person is waiting at a terminal or for a commit. */
const requestMs = 60_000;
const attemptMs = 15_000;

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
