import { type Command, defineCommand } from '../command.ts';
import { flagName } from '../flags.ts';
import { serveFlags } from '../serve/settings.ts';
import { storageVariables } from '../storage-command.ts';
import { unknownVariables } from '../unknown-variables.ts';

/** `others` define known variables too: all commands may run in the same environment. */
export const serveNextTo = (others: readonly Command[]): Command =>
  defineCommand({
    name: 'serve',
    summary: 'run the service',
    details: [
      'It speaks plain HTTP: put a proxy with TLS in front of it before other machines use it.',
      'SIGTERM or SIGINT stops it gracefully; a second signal, at least a second later, stops it at once.',
    ],
    variables: storageVariables,
    flags: serveFlags,
    example: '--dev',
    async run({ flags, environment, io }) {
      const known = [...Object.keys(serveFlags).map(flagName), ...others.flatMap(({ flags }) => Object.keys(flags))];
      // Imported here because the other commands do not need the service.
      const { serve } = await import('../serve/serve.ts');
      await serve(flags, environment, io, unknownVariables(environment, known));
    },
  });
