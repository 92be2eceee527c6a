import { ServiceError } from '../client/service-error.ts';
import {
  type Command,
  type CommandContext,
  CommandError,
  type Definition,
  defineCommand,
  jsonFlag,
  type None,
  withExitCode,
} from '../command/command.ts';
import { type Flags, type FlagValues, toggle } from '../command/flags.ts';
import { awaitStop, exitCodeOf } from '../command/io.ts';
import { type CommandOutput, printOutput } from '../command/print.ts';
import { attemptMs, connectTo, type RemoteService, variables } from './connect.ts';

export const allowHttpFlag = toggle('send the token to other machines over plain http, unencrypted');

const remoteFlags = {
  allowHttp: allowHttpFlag,
  json: jsonFlag,
} as const;

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
