import { defineCommand } from '../../command/command.ts';
import { variableOf } from '../../command/flags.ts';
import { devDataFolder, serveFlags } from './settings.ts';
import { dataFolder, storageVariables } from './storage-command.ts';

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
    const known = new Set(commands.flatMap((command) => Object.keys(command.flags).map(variableOf)));
    const ours = Object.keys(environment).filter((name) => name.startsWith(variableOf('')));
    const unknownVariables = ours.filter((name) => !known.has(name)).toSorted();
    // Imported here because the other commands do not need the service.
    const { runService } = await import('./run-service.ts');
    const { data = flags.dev ? devDataFolder : dataFolder } = flags;
    await runService({ ...flags, data }, environment, io, unknownVariables);
  },
});
