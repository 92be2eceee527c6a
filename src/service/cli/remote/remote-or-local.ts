import { refused } from '../../../interface/parsed.ts';
import { argumentNames, type Command } from '../definition/command.ts';
import { baseUrlVariable } from './remote-command.ts';

/**
 * A command in two forms: over HTTP if the environment names a service, and otherwise on the data of this machine. A
 * flag of the other form is an error, because ignoring it could affect the locks of another service.
 */
export const remoteOrLocal = (remote: Command, local: Command): Command => ({
  ...remote,
  details: [
    ...(remote.details ?? []),
    `Without ${baseUrlVariable}, it works on the data of this machine: ${local.name} ${argumentNames(local.arguments)}.`,
    ...(local.details ?? []),
  ],
  example: local.example,
  variables: [...(remote.variables ?? []), ...(local.variables ?? [])],
  flags: { ...remote.flags, ...local.flags },
  prepare(typed, context) {
    const isRemote = (context.environment[baseUrlVariable] ?? '') !== '';
    const form = isRemote ? remote : local;
    const others = [...typed.flags.keys()].filter((name) => !Object.hasOwn(form.flags, name));
    const reason = isRemote
      ? `works only on the data of this machine, and ${baseUrlVariable} names a service. Unset it`
      : `works only over HTTP. Set ${baseUrlVariable} to the service`;
    const problems = others.map((name) => `--${name} ${reason}, or leave the flag out.`);
    const prepared = form.prepare(typed, context);
    if (!prepared.ok) problems.push(prepared.reason);
    if (isRemote && problems.length > 0)
      problems.push(`${baseUrlVariable} is set, so this is about the workspace WORKSPACE_ID of that service.`);
    return problems.length === 0 ? prepared : refused(problems.join('\n'));
  },
});
