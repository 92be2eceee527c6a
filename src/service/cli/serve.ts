import { defineCommand } from '../../command/command.ts';
import { variableOf } from '../../command/flags.ts';
import { closestNames } from '../../interface/closest-name.ts';
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
    const known = commands.flatMap((command) => Object.keys(command.flags));
    // Imported here because the other commands do not need the service.
    const { runService } = await import('./run-service.ts');
    const { data = flags.dev ? devDataFolder : dataFolder } = flags;
    await runService({ ...flags, data }, environment, io, unknownVariables(environment, known));
  },
});

/**
 * Variables with the prefix of the service that belong to no flag, without their values, which may be secret. `flags`
 * are names as typed, without the dashes.
 */
function unknownVariables(environment: NodeJS.ProcessEnv, flags: readonly string[]) {
  const prefix = variableOf('');
  const known = new Set(flags.map((flag) => variableOf(flag).slice(prefix.length)));
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !known.has(name.slice(prefix.length)))
    .toSorted()
    .map((variable) => {
      // Compared without the common prefix.
      const [meant] = closestNames(variable.slice(prefix.length), known);
      return { variable, did_you_mean: meant && `${prefix}${meant}` };
    });
}
