import { defineCommand } from '../definition/command.ts';
import { serveFlags } from '../serve/settings.ts';
import { unknownVariables } from '../serve/unknown-variables.ts';
import { storageVariables } from '../storage/storage-command.ts';

export const serve = defineCommand({
  name: 'serve',
  summary: 'run the service',
  details: [
    'It speaks plain HTTP: put a proxy with TLS in front of it before other machines use it.',
    'SIGTERM or SIGINT stops it gracefully; a second signal, at least a second later, stops it at once.',
  ],
  variables: storageVariables,
  flags: serveFlags,
  example: '--dev',
  async run({ flags, environment, io, commands }) {
    // All commands may run in the same environment.
    const known = commands.flatMap((command) => Object.keys(command.flags));
    // Imported here because the other commands do not need the service.
    const { runService } = await import('../serve/serve.ts');
    await runService(flags, environment, io, unknownVariables(environment, known));
  },
});
