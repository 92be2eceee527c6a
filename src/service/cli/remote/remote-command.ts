import type { CallLimits, Client, KnownLock, WorkspaceId } from '../../../client/client.ts';
import type { Parsed } from '../../../interface/parsed.ts';
import {
  type Command,
  type CommandContext,
  CommandError,
  type Definition,
  defineCommand,
  type None,
} from '../command.ts';
import { type Flags, type FlagValues, toggle } from '../flags.ts';
import type { ShownLock } from '../output/locks.ts';
import { printJson, quoted } from '../output/print.ts';
import { type OutputBlock, printLines } from '../output/table.ts';
import { type ProcessIo, packageVersion } from '../process-io.ts';
import { awaitStop } from '../serve/stop-request.ts';
import { commonFlags } from '../storage-command.ts';

const remoteFlags = {
  allowHttp: toggle('send the token to other machines over plain http, unencrypted'),
  json: commonFlags.json,
} as const;

/** A service that is accessed over HTTP, and the workspace in it. */
export interface RemoteService {
  readonly client: Client;
  readonly workspace: WorkspaceId;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** Limits of a request that the user waits for. */
  within(): CallLimits;
  /** Prints a message while the command continues. */
  tell(line: string): void;
}

/** Output of a command, and the reason if it failed. */
interface RemoteResponse {
  readonly document: unknown;
  readonly lines: readonly OutputBlock[];
  readonly failure?: string | undefined;
}

interface RemoteDefinition<F extends Flags, A extends Flags>
  extends Omit<Definition<F & typeof remoteFlags, A>, 'flags' | 'run'> {
  readonly flags?: F;
  /** Sends no request before it calls `connect()`. */
  run(
    call: Omit<CommandContext<F & typeof remoteFlags, A>, 'io'>,
    connect: () => Promise<RemoteService>,
  ): Promise<RemoteResponse>;
}

const addressVariable = 'WORKSPACE_BASE_URL';

/**
 * The variables of the action, so that people and jobs have the same setup. The token is not a flag because other users
 * can read the arguments of a process.
 */
const variables = [
  [addressVariable, 'the service, such as https://assets.example.com/v1'],
  ['WORKSPACE_TOKEN', 'an API token of the service'],
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
    async run({ io, ...call }) {
      // The remote flags are always among the flags. TypeScript cannot infer this.
      const { allowHttp, json } = call.flags as FlagValues<typeof remoteFlags>;
      const { ServiceError } = await import('../../../client/service-error.ts');
      const interruption = new AbortController();
      const stop = awaitStop(io);
      void stop.received.then(() => interruption.abort());
      let remote: RemoteService | undefined;
      const connect = async (): Promise<RemoteService> => {
        remote ??= await connectTo(call.environment, allowHttp, io, interruption.signal);
        return remote;
      };
      try {
        const { document, lines, failure } = await definition.run(call, connect);
        if (json) printJson(io.stdout, document);
        else printLines(io.stdout, lines);
        if (failure !== undefined) throw new CommandError(failure);
      } catch (error) {
        throw error instanceof ServiceError ? new CommandError(error.message) : error;
      } finally {
        stop.forget();
        remote?.client.dispose();
      }
    },
  });
}

/**
 * A command in two forms: over HTTP if the environment names a service, and otherwise on the data of this machine. A
 * flag of the other form is an error, because ignoring it could affect the locks of another service.
 */
export const eitherWay = (remote: Command, local: Command): Command => ({
  ...remote,
  details: [
    ...(remote.details ?? []),
    `Without ${addressVariable}, it works on the data of this machine: ${local.name} ${Object.values(local.arguments)
      .map(({ placeholder }) => placeholder)
      .join(' ')}.`,
    ...(local.details ?? []),
  ],
  example: local.example,
  variables: [...(remote.variables ?? []), ...(local.variables ?? [])],
  flags: { ...remote.flags, ...local.flags },
  prepare(line, environment) {
    const isRemote = (environment[addressVariable] ?? '') !== '';
    const form = isRemote ? remote : local;
    const others = [...line.flags.keys()].filter((name) => !Object.hasOwn(form.flags, name));
    const reason = isRemote
      ? `works only on the data of this machine, and ${addressVariable} names a service. Unset it`
      : `works only over HTTP, where ${addressVariable} names the service. Set it`;
    const problems = others.map((name) => `--${name} ${reason}, or leave the flag out.`);
    const reading = form.prepare({ ...line, problems: [...line.problems, ...problems] }, environment);
    if (reading.ok || !isRemote) return reading;
    const hint = `${addressVariable} is set, so this is about the workspace WORKSPACE_ID of that service.`;
    return { ok: false, problems: [...reading.problems, hint] };
  },
});

export const shown = ({ raw, ...lock }: KnownLock): ShownLock => lock;

/** Short, because a person is waiting at a terminal or for a commit. */
const requestMs = 60_000;
const attemptMs = 15_000;

async function connectTo(environment: NodeJS.ProcessEnv, allowHttp: boolean, io: ProcessIo, interrupted: AbortSignal) {
  const [{ parseBaseUrl, parseToken }, { createClient, parseWorkspaceId, steadyClock }] = await Promise.all([
    import('../../../client/access.ts'),
    import('../../../client/client.ts'),
  ]);
  const problems: string[] = [];
  function read<T>(
    [name, what]: readonly [string, string],
    parse: (text: string) => Parsed<T>,
    secret = false,
  ): T | undefined {
    const text = environment[name] ?? '';
    const parsed = text === '' ? undefined : parse(text);
    if (parsed?.ok) return parsed.value;
    if (parsed === undefined) problems.push(`${name} is not set: ${what}.`);
    else problems.push(`${name} ${secret ? 'cannot be used' : `is ${quoted(text)}`}. ${parsed.reason}`);
    return undefined;
  }
  const [address, secret, id] = variables;
  const baseUrl = read(address, (text) => parseBaseUrl(text, allowHttp, '--allow-http'));
  const token = read(secret, parseToken('It must be in one piece.'), true);
  const workspace = read(id, parseWorkspaceId);
  if (baseUrl === undefined || token === undefined || workspace === undefined)
    throw new CommandError(problems.join(' '), 2);
  const tell = (line: string): void => printLines(io.stderr, [line]);
  const client = createClient({
    baseUrl,
    credentials: { kind: 'given', token },
    userAgent: `workspace-service/${packageVersion()}`,
    requestTimeoutMs: attemptMs,
    onWarning: tell,
  });
  const within = (): CallLimits => ({ deadline: steadyClock() + requestMs, signal: interrupted });
  return { client, workspace, interrupted, within, tell };
}
